// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/byte_set.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/engine/data_bytes.hpp>
#include <granary/detail/core/engine/engine.hpp>
#include <granary/detail/core/model/distribution.hpp>
#include <granary/detail/distributed/distributed_submitter.hpp>
#include <granary/detail/distributed/exchange.hpp>
#include <granary/detail/distributed/transports/processes.hpp>

#include <exception>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace granary::detail {

/// The data and tasks of a Runtime that is one of several processes. Keys of data are alike in all of them; the engine
/// of each process knows its own data by ids.
///
/// The grid determines the owner of a datum with a position in a matrix; the first task determines any other.
class CommonData final : public DistributedSubmitter {
 public:
  /// `peers`: the node of the other processes. Connects the transport.
  CommonData(Processes& processes, Distribution const& grid, Engine& engine, NodeId peers, Exchange& exchange);

  /// Registers a View. Each process passes its own; tasks use the owner's. Returns the key of an earlier registration
  /// of the same bytes, which then needs one more release, or a new key. `registration` as in
  /// DistributedSubmitter::add_data. Throws InvalidArgument if a View of another owner shares bytes with it.
  DataKey add_view(DataDescription description, ByteSet const& bytes, Registration registration,
                   std::shared_ptr<void const> keep);
  void release_data(DataId submitted) override;
  [[nodiscard]] std::string name_of(DataKey key) const;

  /// Collective. Returns when all tasks of all processes have ended; throws the first failure of all.
  void wait();
  /// Collective. The same for tasks that use these data, and those `also`.
  void wait(std::span<DataKey const> keys, std::span<DataKey const> also);
  /// Ends the run because of an exception in this process. Cancels the tasks of all processes; the others throw it from
  /// their next collective call: returns the first failure of all. Otherwise, if others do not follow within a few
  /// seconds, ends all processes with this status.
  std::shared_ptr<FailureOrigin const> give_up(std::exception_ptr const& why, int status);
  [[nodiscard]] bool gave_up() const { return m_gave_up; }

 private:
  void placing(DataKey key, ProcessId owner) override;
  DataId add_incoming(DataDescription description, std::shared_ptr<void const> const& keep) override {
    return m_engine.add_data(std::move(description), {nullptr, nullptr, keep}, nullptr);
  }
  template <class Wait>
  void settle(Wait&& wait);

  Processes& m_processes;
  Engine& m_engine;
  bool m_gave_up = false;
  DataBytes m_views;  // by submitted_id
  std::unordered_map<DataKey, ByteSet> m_view_of;
  std::vector<std::shared_ptr<void const>> m_kept;  // of Views that were registered again; tasks use them until a wait
};

}  // namespace granary::detail
