// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/backends/kokkos_compat.hpp>
#include <granary/detail/core/model/bottom_levels.hpp>
#include <granary/detail/core/model/inner_graph.hpp>
#include <granary/detail/core/model/lane_storage.hpp>
#include <granary/detail/core/model/submitter.hpp>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace granary::testing {

/// Runs device kernels on the host's execution space, for which they are compiled if Kokkos has no device backend:
/// except for vendor libraries they do the same as on devices.
class HostLane {
 public:
  explicit HostLane(Bytes workspace) : m_workspace(workspace / sizeof(Aligned)) {}

  void run(detail::Codelet const& codelet, detail::KernelCall call) {
    detail::HostKernelLock const lock;
    detail::KernelReport report;
    call.instance = &m_space;
    call.report = &report;
    call.storage = &m_storage;
    call.workspace = std::as_writable_bytes(std::span(m_workspace));
    codelet.kernels.at(static_cast<std::size_t>(detail::WorkerKind::Device))(call);
    m_space.fence();
    if (codelet.check != nullptr) codelet.check(call.parameters, report);
  }

 private:
  struct alignas(64) Aligned {
    std::byte bytes[64];
  };
  detail::HostExecutionSpace m_space = detail::make_host_instance();
  detail::LaneStorage m_storage;
  std::vector<Aligned> m_workspace;
};

/// Records submissions, and runs each task immediately unless told not to: the slow reference of an engine. Every datum
/// is a separate block of memory, or the memory to which it was bound, and must be written before it is read.
class ImmediateSubmitter final : public Submitter {
 public:
  struct Recorded {
    std::string codelet;
    std::vector<detail::Access> accesses;
    std::int64_t priority;
    double flops;
  };

  explicit ImmediateSubmitter(bool runs = true) : m_runs(runs) {
    if (lane_workspace > 0) m_lane.emplace(lane_workspace);
  }

  /// For submitters created from now on: with 0 tasks run as on hosts, otherwise as on a device whose lanes have a
  /// workspace of this size, if their codelets have kernels for that.
  static inline Bytes lane_workspace = std::getenv("GRANARY_TEST_DEVICE_KERNELS") != nullptr ? Bytes{1} << 20 : 0;
  /// Number of tasks that ran as on a device.
  static inline std::uint64_t device_tasks = 0;

  detail::CodeletId add_codelet(detail::Codelet codelet) override {
    codelets.push_back(std::move(codelet));
    return detail::CodeletId(static_cast<std::uint32_t>(codelets.size() - 1));
  }
  DataId add_data(detail::DataDescription description) override {
    data.push_back(std::move(description));
    m_memory.push_back(std::vector<std::byte>(m_runs ? data.back().bytes : 0, std::byte{0xff}));
    m_address.push_back(m_memory.back().data());
    m_has_value.push_back(data.back().origin.valid());
    return DataId(static_cast<std::uint32_t>(data.size() - 1));
  }
  /// A datum that lies at `address` and has a value.
  DataId bind(std::string name, Bytes bytes, void* address) {
    auto const id = add_data({.name = std::move(name), .bytes = bytes, .origin = NodeId(0), .home = {}});
    m_address[id.index()] = static_cast<std::byte*>(address);
    return id;
  }
  void release_data(DataId id) override { released.push_back(id); }
  TaskId submit(TaskSubmission const& submission, detail::Parameters parameters) override {
    tasks.push_back({codelets.at(submission.codelet.index()).name,
                     {submission.accesses.begin(), submission.accesses.end()},
                     submission.priority,
                     submission.flops});
    if (m_runs) run(submission, parameters);
    return TaskId(tasks.size() - 1);
  }
  template <class T>
  T* address(DataId id) {
    return reinterpret_cast<T*>(m_address[id.index()]);
  }

  std::vector<detail::Codelet> codelets;
  std::vector<detail::DataDescription> data;
  std::vector<DataId> released;
  std::vector<Recorded> tasks;
  bool expands = false;           ///< tasks run as inner graphs if possible
  std::uint64_t inner_tasks = 0;  ///< that ran

 private:
  void run(TaskSubmission const& submission, detail::Parameters const& parameters) {
    std::vector<std::byte*> addresses;
    for (auto const& access : submission.accesses) {
      if (reads(access.mode) && !m_has_value[access.data.index()])
        throw std::logic_error(data[access.data.index()].name + " is read before it has a value");
      addresses.push_back(m_address[access.data.index()]);
    }
    auto const& codelet = codelets[submission.codelet.index()];
    if (m_lane && codelet.runs_on(detail::WorkerKind::Device)) {
      m_lane->run(codelet, {.data = addresses, .parameters = parameters.get(), .worker = detail::WorkerId(0)});
      ++device_tasks;
    } else if (!run_as_graph(codelet, submission, addresses, parameters)) {
      codelet.kernels[0](
          {.data = addresses, .parameters = parameters.get(), .instance = nullptr, .worker = detail::WorkerId(0)});
    }
    for (auto const& access : submission.accesses) {
      if (writes(access.mode)) m_has_value[access.data.index()] = true;
    }
  }

  bool run_as_graph(detail::Codelet const& codelet, TaskSubmission const& submission,
                    std::span<std::byte* const> addresses, detail::Parameters const& parameters) {
    if (!expands || codelet.expand == nullptr) return false;
    detail::AccessList const accesses(submission.accesses);
    detail::InnerGraph graph(accesses, addresses);
    codelet.expand(parameters.get(), graph);
    while (auto const* task = graph.take()) {
      std::vector<std::byte*> inner;
      for (auto const& access : task->accesses) inner.push_back(graph.address(access.data));
      graph.codelet(*task).kernels[0]({.data = inner,
                                       .parameters = graph.parameters(task->id).get(),
                                       .instance = nullptr,
                                       .worker = detail::WorkerId(0)});
      graph.done(task->id);
      ++inner_tasks;
    }
    return graph.submitted() > 0;
  }

  bool m_runs;
  std::optional<HostLane> m_lane;
  std::vector<std::vector<std::byte>> m_memory;
  std::vector<std::byte*> m_address;
  std::vector<bool> m_has_value;
};

/// The bottom levels of the recorded tasks; `time(codelet's name)` is a task's in nanoseconds.
template <class Time>
[[nodiscard]] std::vector<std::int64_t> bottom_levels(ImmediateSubmitter const& submitter, Time&& time) {
  auto const& tasks = submitter.tasks;
  return detail::bottom_levels(
      tasks.size(), [&](std::size_t i) { return detail::AccessList(tasks[i].accesses); },
      [&](std::size_t i) { return Duration(time(tasks[i].codelet)); });
}

}  // namespace granary::testing
