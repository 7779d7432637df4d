// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/backends/kokkos_compat.hpp>
#include <granary/core/model/codelet.hpp>
#include <granary/core/runtime/data.hpp>

#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>

namespace granary {

/// A task's name and what schedulers may know of it; a name alone will do.
struct TaskInfo {
  std::string_view name;
  std::int64_t priority = 0;  ///< larger is more urgent
  double flops = 0;           ///< floating-point operations; 0 when unknown

  TaskInfo(char const* n) : name(n) {}  // NOLINT(google-explicit-constructor)
  TaskInfo(std::string_view n, std::int64_t p = 0, double f = 0) : name(n), priority(p), flops(f) {}  // NOLINT
};

namespace detail {

template <class Body>
constexpr bool launches_kokkos_kernels() {
  if constexpr (requires { Body::launches_kokkos_kernels; }) return Body::launches_kokkos_kernels;
  return true;
}

// A task of the façade: the body, and the shapes of its Views, which the engine keeps as long as the data.
template <class Body, class... Accesses>
struct HostTask {
  Body body;
  std::tuple<typename Accesses::ViewType const*...> views;

  static void run(KernelCall const& call) { run(call, std::index_sequence_for<Accesses...>{}); }

 private:
  template <std::size_t... I>
  static void run(KernelCall const& call, std::index_sequence<I...>) {
    auto const& task = *static_cast<HostTask const*>(call.parameters);
    auto const& instance = *static_cast<HostExecutionSpace const*>(call.instance);
    task.body(instance, view_at<BodyView<typename Accesses::ViewType, Accesses::mode>>(*std::get<I>(task.views),
                                                                                       call.data[I])...);
  }
};

}  // namespace detail
}  // namespace granary
