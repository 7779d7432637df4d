// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/backends/kokkos_compat.hpp>
#include <granary/core/model/codelet.hpp>
#include <granary/runtime/data.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// A task's name and the information for schedulers; the name alone is enough.
struct TaskInfo {
  std::string_view name;
  std::int64_t priority = 0;  ///< larger is more urgent
  double flops = 0;           ///< floating-point operations; 0 when unknown

  TaskInfo(char const* n) : name(n) {}  // NOLINT(google-explicit-constructor)
  TaskInfo(std::string_view n, std::int64_t p = 0, double f = 0) : name(n), priority(p), flops(f) {}  // NOLINT
};

namespace detail {

// What was compiled for a task.
struct TaskCode {
  std::array<Kernel, worker_kinds> kernels;  // by kind of worker
  std::string const& variant;                // see Codelet
  bool launches_kokkos_kernels;
};

template <class Body>
constexpr bool launches_kokkos_kernels() {
  if constexpr (requires { Body::launches_kokkos_kernels; }) return Body::launches_kokkos_kernels;
  return true;
}

// A body that launches no Kokkos kernels accesses the elements from the host, unless it says otherwise.
template <class Body>
constexpr bool runs_on_host() {
  if constexpr (requires { Body::device_only; }) return !Body::device_only;
  return true;
}
template <class Body>
constexpr bool runs_on_devices() {
  if constexpr (requires { Body::host_only; }) return !Body::host_only;
  if constexpr (requires { Body::device_only; }) {
    if (Body::device_only) return true;
  }
  return launches_kokkos_kernels<Body>();
}

// The sizes of the Views' elements, "8" or "4,8": they distinguish the float version of a task from the double one.
template <class... Views>
std::string const& element_sizes() {
  static std::string const sizes = [] {
    std::vector<std::size_t> const all{sizeof(typename Views::value_type)...};
    bool const alike = std::adjacent_find(all.begin(), all.end(), std::not_equal_to<>()) == all.end();
    std::string text;
    for (auto const size : all) {
      if (!text.empty() && alike) break;
      text += (text.empty() ? "" : ",") + std::to_string(size);
    }
    return text;
  }();
  return sizes;
}

// A task of the façade: the body and the shapes of its Views; the engine keeps the Views of Data as long as the data.
template <class Body, class... Accesses>
struct HostTask {
  Body body;
  std::tuple<decltype(Accesses::shape)...> shapes;

  static_assert(runs_on_host<Body>() || runs_on_devices<Body>(), "a body cannot be both host_only and device_only");

  // By kind of worker. The body is compiled for devices only if Kokkos has a device backend and the body may run there.
  static constexpr std::array<Kernel, worker_kinds> kernels() {
    std::array<Kernel, worker_kinds> of{};
    if constexpr (runs_on_host<Body>()) of[static_cast<std::size_t>(WorkerKind::Cpu)] = &run_on_host;
    if constexpr (has_device_space && runs_on_devices<Body>())
      of[static_cast<std::size_t>(WorkerKind::Device)] = &run_on_device;
    return of;
  }

 private:
  template <class Access>
  using HostView = BodyView<typename Access::ViewType, Access::mode>;
  template <class Access>
  using DeviceView = DeviceBodyView<typename Access::ViewType, Access::mode>;

  static void run_on_host(KernelCall const& call) {
    run<HostExecutionSpace, HostView>(call, std::index_sequence_for<Accesses...>{});
  }
  static void run_on_device(KernelCall const& call) {
    run<DeviceExecutionSpace, DeviceView>(call, std::index_sequence_for<Accesses...>{});
  }
  template <class Space, template <class> class ViewOf, std::size_t... I>
  static void run(KernelCall const& call, std::index_sequence<I...>) {
    auto const& task = *static_cast<HostTask const*>(call.parameters);
    task.body(*static_cast<Space const*>(call.instance),
              view_at<ViewOf<Accesses>>(std::get<I>(task.shapes), call.data[I])...);
  }
};

}  // namespace detail
}  // namespace granary

#pragma GCC visibility pop
