// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/backends/kokkos_compat.hpp>
#include <granary/core/model/codelet.hpp>
#include <granary/core/runtime/data.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

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

// The sizes of the Views' elements, which tell the float version of a task from the double one: "8", or "4,8".
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
