// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/backends/kokkos_compat.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/codelet.hpp>
#include <granary/detail/core/model/machine.hpp>
#include <granary/detail/runtime/api/body_checks.hpp>
#include <granary/detail/runtime/api/data.hpp>
#include <granary/detail/runtime/api/stop_token.hpp>
#include <granary/detail/runtime/session/task_code.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace granary {
namespace detail {

template <class T>
constexpr Numbers numbers_of() {
  if constexpr (requires { typename T::value_type; }) {
    using Part = typename T::value_type;
    return std::is_floating_point_v<Part> && sizeof(T) == 2 * sizeof(Part) ? numbers_of<Part>() : Numbers::Other;
  } else if constexpr (std::is_integral_v<T>) {
    return Numbers::Integers;
  } else {
    return std::is_same_v<T, float> ? Numbers::Singles : std::is_same_v<T, double> ? Numbers::Doubles : Numbers::Other;
  }
}
template <class Access>
constexpr ComparedElement compared_element() {
  using View = typename Access::ViewType;
  if constexpr (requires { Access::is_scratch; }) return {};
  if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(std::declval<Access>().shape)>, View const*>) return {};
  if constexpr (!std::is_trivially_copyable_v<typename View::value_type>) return {};
  return {sizeof(typename View::value_type), numbers_of<typename View::non_const_value_type>()};
}
template <class... Accesses>
inline constexpr std::array<ComparedElement, sizeof...(Accesses)> compared_elements{compared_element<Accesses>()...};

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

// The function, which may be one that cannot be copied.
template <class Ended>
std::function<bool()> as_function(Ended ended) {
  constexpr bool may_be_null = std::is_convertible_v<std::nullptr_t, Ended>;
  if constexpr (may_be_null && requires { static_cast<bool>(ended == nullptr); }) {
    if (ended == nullptr) return nullptr;
  }
  if constexpr (std::is_same_v<Ended, std::nullptr_t>) {
    return nullptr;
  } else {
    return [kept = std::make_shared<Ended>(std::move(ended))]() -> bool { return (*kept)(); };
  }
}

// A task of the façade: the body and the shapes of its Views; the engine keeps the Views of Data as long as the data.
template <class Body, class... Accesses>
struct GRANARY_EXPORT HostTask {
  Body body;
  std::tuple<decltype(Accesses::shape)...> shapes;

  // By kind of worker. The body is compiled for devices only if Kokkos has a device backend and the body may run there.
  static constexpr std::array<Kernel, worker_kinds> kernels() {
    std::array<Kernel, worker_kinds> of{};
    if constexpr (runs_on_host<Body>()) of[static_cast<std::size_t>(WorkerKind::Cpu)] = &run_on_host;
    if constexpr (has_device_space && runs_on_devices<Body>())
      of[static_cast<std::size_t>(WorkerKind::Device)] = &run_on_device;
    return of;
  }

 private:
  static void run_on_host(KernelCall const& call) {
    using Scope = std::conditional_t<restartable<Body>(), StopScope, StopToken>;
    [[maybe_unused]] Scope const scope(call.stop);
    constexpr std::index_sequence_for<Accesses...> all;
    if constexpr (runs_on_teams<Body, Accesses...>()) {
      if (call.team != nullptr) return run<TeamExecutionSpace, ArgumentOnHost>(call, call.team, all);
    }
    run<HostExecutionSpace, ArgumentOnHost>(call, call.instance, all);
  }
  static void run_on_device(KernelCall const& call) {
    run<DeviceExecutionSpace, ArgumentOnDevice>(call, call.instance, std::index_sequence_for<Accesses...>{});
  }
  template <class Space, template <class> class ViewOf, std::size_t... I>
  static void run(KernelCall const& call, void const* instance, std::index_sequence<I...>) {
    auto const& task = *static_cast<HostTask const*>(call.parameters);
    task.body(*static_cast<Space const*>(instance),
              argument_at<ViewOf<Accesses>>(std::get<I>(task.shapes), call, I)...);
  }
};

// True if the body bounds what it leaves in varying data: see Runtime::varying.
template <class Body>
concept BoundsResults = requires(Body const& body, std::span<std::size_t const> elements) {
  { body.most_elements(elements, std::size_t{}) } -> std::convertible_to<std::size_t>;
};

template <class Body, class... Accesses>
constexpr ResultBytes result_bytes_of() {
  if constexpr (BoundsResults<Body>) {
    return [](void const* parameters, std::span<Bytes const> bytes, std::size_t result) -> Bytes {
      constexpr std::array<Bytes, sizeof...(Accesses)> sizes{sizeof(typename Accesses::ViewType::value_type)...};
      std::array<std::size_t, sizeof...(Accesses)> elements{};
      for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = bytes[i] / sizes[i];
      auto const& body = static_cast<HostTask<Body, Accesses...> const*>(parameters)->body;
      auto const most = static_cast<Bytes>(body.most_elements(elements, result));
      return most > unbounded / sizes[result] ? unbounded : most * sizes[result];
    };
  } else {
    return nullptr;
  }
}

template <class Body, class... Accesses>
TaskCode code_of() {
  return {.kernels = HostTask<Body, Accesses...>::kernels(),
          .variant = element_sizes<typename Accesses::ViewType...>(),
          .launches_kokkos_kernels = launches_kokkos_kernels<Body>(),
          .restartable = restartable<Body>(),
          .result_bytes = result_bytes_of<Body, Accesses...>(),
          .size = std::is_empty_v<Body> ? 0 : sizeof(Body),  // it is the first of the parameters
          .elements = compared_elements<Accesses...>};
}

}  // namespace detail

/// These do not compile: a View is not a datum. `read(runtime.data(view))` is what was meant.
template <class Never = int>
detail::Refused read(detail::AnyView const&) {
  return detail::refuse_view<Never>();
}
template <class Never = int>
detail::Refused write(detail::AnyView const&) {
  return detail::refuse_view<Never>();
}
template <class Never = int>
detail::Refused read_write(detail::AnyView const&) {
  return detail::refuse_view<Never>();
}
template <class Never = int>
detail::Refused commute(detail::AnyView const&) {
  return detail::refuse_view<Never>();
}
template <class Never = int, class... Op>
detail::Refused reduce(detail::AnyView const&, Op const&...) {
  return detail::refuse_view<Never>();
}

}  // namespace granary
