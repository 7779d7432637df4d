// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/model/distribution.hpp>
#include <granary/detail/core/model/submitter.hpp>
#include <granary/detail/distributed/common_order.hpp>
#include <granary/detail/distributed/local_tasks.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace granary::detail {

/// One process's part of the submission that all processes make alike: its own tasks reach the submitter of this
/// process, other processes' tasks only as the stubs that concern it. As a Submitter it returns and takes keys in the
/// place of ids (`submitted_id`, `key_of`); its other functions take keys. Ids of other processes' tasks are invalid.
///
/// A task of another process costs a few nanoseconds for each of its accesses, if no value of this one goes there.
class GRANARY_EXPORT DistributedSubmitter : public Submitter {
 public:
  /// The owner of a datum, which is registered as the `number`-th; the same in all processes. CommonOrder::nobody: the
  /// first task that accesses it decides. That is the owner of what the task writes besides, or else of what it reads;
  /// if there is none, such data are dealt to the processes in turns.
  using OwnerOf = std::function<ProcessId(DataDescription const&, std::uint64_t number)>;
  /// Registers a datum with the submitter of its owner, and returns its id there.
  using Registration = std::function<DataId(DataDescription)>;

  /// `local`: the submitter of this process, whose machine has the node `peers` of the others, and whose commands that
  /// concern them go to the exchange.
  DistributedSubmitter(ProcessId self, OwnerOf owner, Submitter& local, NodeId peers, Exchange& exchange,
                       std::uint32_t processes = 1)
      : m_self(self),
        m_processes(processes),
        m_owner(std::move(owner)),
        m_local(local),
        m_tasks(local, peers, exchange) {}

  CodeletId add_codelet(Codelet codelet) final { return m_local.add_codelet(std::move(codelet)); }
  DataId add_data(DataDescription description) final;
  /// `registration` is called in the owner, once that is known. `keep` lives in others while their tasks use a value.
  DataKey add_data(DataDescription description, Registration registration, std::shared_ptr<void const> keep = nullptr);
  /// Makes that process the owner of a datum that has none yet. Throws InvalidArgument if it has another one.
  void assign(DataKey key, ProcessId owner);
  /// Registers the datum once more, for one more release.
  void retain_data(DataKey key);
  void release_data(DataId data) override;
  /// Throws what Submitter documents in the process that runs the task, and InvalidArgument in all if it writes data of
  /// several owners.
  TaskId submit(TaskSubmission const& submission, Parameters parameters) final;
  void last_use(DataId data) final;
  /// Lets go of all values of other processes: all processes do so, before they wait for their last tasks.
  void let_go_of_all();

  /// CommonOrder::nobody if it has none yet.
  [[nodiscard]] ProcessId owner(DataKey key) const { return m_order.owner(key); }
  /// The id of a datum in the engine of this process if that is its owner; otherwise an invalid one.
  [[nodiscard]] DataId local(DataKey key) const { return m_tasks.local(key); }
  /// True if the datum is registered.
  [[nodiscard]] bool known(DataKey key) const { return m_order.known(key); }
  /// The description of a datum of another process, or of one without owner.
  [[nodiscard]] DataDescription const* description(DataKey key) const {
    auto const& remote = m_remote[key.index()];
    return remote ? &remote->description : nullptr;
  }

  /// The number of tasks that all processes have submitted.
  [[nodiscard]] std::uint64_t position() const { return m_position; }
  /// A hash of what was submitted so far, the same in all processes that submit alike.
  [[nodiscard]] std::uint64_t order() const { return m_hash; }

 protected:
  /// A datum of nobody gets this owner; what it throws prevents that.
  virtual void placing(DataKey, ProcessId) {}
  /// Registers a datum for a value of another process, with which `keep` is kept.
  virtual DataId add_incoming(DataDescription description, std::shared_ptr<void const> const& /*keep*/) {
    return m_local.add_data(std::move(description));
  }

 private:
  struct Remote {
    DataDescription description;
    std::shared_ptr<void const> keep;
  };
  struct Incoming {
    ValueId value;
    ProcessId owner;
  };
  void let_go(DataKey key, ProcessId reader) {
    if (reader == m_self) m_tasks.let_go(key);
  }
  void count(std::uint64_t what) { m_hash = (m_hash ^ what) * 0x9e3779b97f4a7c15U; }
  void place(std::span<Access const> accesses);
  void place(DataKey key, ProcessId owner);
  TaskId run(TaskSubmission submission, std::uint64_t position, Parameters parameters);

  ProcessId m_self;
  std::uint32_t m_processes;
  OwnerOf m_owner;
  Submitter& m_local;
  LocalTasks m_tasks;
  CommonOrder m_order;
  std::vector<std::unique_ptr<Remote>> m_remote;          // by key: data of others, and of nobody
  std::unordered_map<DataKey, Registration> m_unplaced;   // of nobody
  std::unordered_map<DataKey, std::uint32_t> m_retained;  // registrations beside the first
  std::vector<Incoming> m_incoming;                       // scratch
  std::uint64_t m_data = 0;
  std::uint64_t m_position = 0;
  std::uint64_t m_hash = 0;
};

}  // namespace granary::detail
