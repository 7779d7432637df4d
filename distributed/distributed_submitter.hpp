// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/export.hpp>
#include <granary/core/model/distribution.hpp>
#include <granary/core/model/submitter.hpp>
#include <granary/distributed/common_order.hpp>
#include <granary/distributed/local_tasks.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace granary {

/// What all processes submit alike, in one of them: its own tasks reach the submitter of this process, those of others
/// only as the stubs that concern it. Ids of data are keys, alike in all processes; those of other processes' tasks are
/// invalid.
///
/// A task of another process costs a few nanoseconds for each of its accesses, if no value of this one goes there.
class GRANARY_EXPORT DistributedSubmitter final : public Submitter {
 public:
  /// The owner of a datum, which is registered as the `number`-th; the same in all processes.
  using OwnerOf = std::function<ProcessId(DataDescription const&, std::uint64_t number)>;

  /// `local`: the submitter of this process, whose machine has the node `peers` of the others, and whose commands that
  /// concern them go to the exchange.
  DistributedSubmitter(ProcessId self, OwnerOf owner, Submitter& local, NodeId peers, Exchange& exchange)
      : m_self(self), m_owner(std::move(owner)), m_local(local), m_tasks(local, peers, exchange) {}

  CodeletId add_codelet(Codelet codelet) override { return m_local.add_codelet(std::move(codelet)); }
  DataId add_data(DataDescription description) override;
  void release_data(DataId key) override;
  /// Throws what Submitter documents in the process that runs the task, and InvalidArgument in all if it writes data of
  /// several owners.
  TaskId submit(TaskSubmission const& submission, Parameters parameters) override;
  void last_use(DataId key) override;
  /// Lets go of all values of other processes: all processes do so, before they wait for their last tasks.
  void let_go_of_all();

  /// The number of tasks that all processes have submitted.
  [[nodiscard]] std::uint64_t position() const { return m_position; }
  /// A hash of what was submitted so far, the same in all processes that submit alike.
  [[nodiscard]] std::uint64_t order() const { return m_hash; }

 private:
  struct Incoming {
    ValueId value;
    ProcessId owner;
  };
  void let_go(DataId key, ProcessId reader) {
    if (reader == m_self) m_tasks.let_go(key);
  }
  void count(std::uint64_t what) { m_hash = (m_hash ^ what) * 0x9e3779b97f4a7c15U; }
  TaskId run(TaskSubmission submission, std::uint64_t position, Parameters parameters);

  ProcessId m_self;
  OwnerOf m_owner;
  Submitter& m_local;
  LocalTasks m_tasks;
  CommonOrder m_order;
  std::vector<std::unique_ptr<DataDescription>> m_remote;  // by key: data of others
  std::vector<Incoming> m_incoming;                        // scratch
  std::uint64_t m_data = 0;
  std::uint64_t m_position = 0;
  std::uint64_t m_hash = 0;
};

}  // namespace granary
