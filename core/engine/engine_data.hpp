// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/byte_set.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/paged_array.hpp>
#include <granary/detail/core/engine/addresses.hpp>
#include <granary/detail/core/engine/backend.hpp>
#include <granary/detail/core/engine/data_bytes.hpp>
#include <granary/detail/core/engine/worker_lane.hpp>
#include <granary/detail/core/model/machine.hpp>
#include <granary/detail/core/model/parameters.hpp>
#include <granary/detail/core/model/submitter.hpp>
#include <granary/detail/core/planner/command.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace granary::detail {

/// A datum that may have been registered before, and the object that is kept for it until it is forgotten.
struct SharedData {
  DataId data;
  std::shared_ptr<void const> keep;
};

/// Objects of users, kept until a thread of the application destroys them without the planner's lock: their destructors
/// may call the engine, and the reference counts of Views among them are not atomic in a Kokkos without threads.
struct DroppedObjects {
  std::vector<std::shared_ptr<void const>> bindings;  // of forgotten data
  std::vector<Parameters> parameters;                 // of cancelled tasks
  [[nodiscard]] bool empty() const { return bindings.empty() && parameters.empty(); }
};

/// The addresses of an engine's data, and the parameters of its tasks. Under the planner's lock.
class EngineData {
 public:
  /// Allocates the memories that are not given. Throws InvalidArgument when a host or device node has no stated
  /// capacity, or a device's memory has no backend.
  EngineData(Machine const& machine, std::vector<std::shared_ptr<NodeMemory>> memories);

  void bind(DataId data, HostBinding binding) { m_addresses.bind(data, std::move(binding)); }
  void bind_mirror(DataId data, std::byte* address) { m_addresses.bind_mirror(data, address); }
  /// The address of the datum's mirror; null if it has none.
  [[nodiscard]] std::byte* mirror(DataId data) const { return m_addresses.mirror(data); }
  /// The data that share bytes of the application's memory with `bytes`.
  [[nodiscard]] std::vector<SharedBytes> sharing(ByteSet const& bytes) const { return m_bytes.sharing(bytes); }
  /// Its bytes lie in the application's memory.
  void add_bytes(DataId data, ByteSet bytes) { m_bytes.add(data, std::move(bytes)); }
  /// The datum of these bytes and this form; invalid if there is none.
  [[nodiscard]] DataId find(ByteSet const& bytes, HostBinding const& binding) const;
  /// Returns the object that is kept for a further registration of the datum.
  std::shared_ptr<void const> share(DataId data, HostBinding binding) {
    return m_addresses.share(data, std::move(binding));
  }

  /// The task that is added next has these parameters, which stay in their place until `add_task`.
  void adding_task(Parameters const& parameters) { m_adding = parameters.get(); }
  void add_task(TaskId task, Parameters parameters) { m_parameters.create(task, std::move(parameters)); }
  /// Of a task that was added, or is to be added next.
  [[nodiscard]] void const* parameters(TaskId task) const {
    auto const* const added = m_parameters.find(task);
    return added != nullptr ? added->get() : m_adding;
  }
  /// Completes the worker's entry with the task's parameters and the addresses of its data.
  void fill(LaneEntry& entry, RunCommand const& run);
  [[nodiscard]] CopyRequest request(CopyCommand const& copy) const;
  [[nodiscard]] PlacedBytes bytes_at(DataId data, Place const& place) const {
    return m_addresses.bytes_at(data, place);
  }

  void retire(TaskId task);
  void forget(DataId data);
  [[nodiscard]] bool has_dropped() const { return !m_dropped.empty(); }
  [[nodiscard]] DroppedObjects take_dropped() { return std::exchange(m_dropped, DroppedObjects()); }

 private:
  void fill_varying(VaryingData& varying, RunCommand const& run) const;

  std::vector<std::shared_ptr<NodeMemory>> m_memories;  // by node
  Addresses m_addresses;
  DataBytes m_bytes;
  PagedArray<TaskId, Parameters> m_parameters;
  void const* m_adding = nullptr;
  DroppedObjects m_dropped;
};

}  // namespace granary::detail
