// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/backends/kokkos_compat.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/model/access.hpp>
#include <granary/detail/runtime/api/data.hpp>
#include <granary/detail/runtime/session/task_info.hpp>

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

// The errors of the compiler for a task or its body: one each, which says what to change.
namespace granary::detail {

// The result of a function after the compiler's error for its arguments.
struct GRANARY_EXPORT Refused {};

// Any View. Where it is a parameter, every other function that takes the View is a better match.
struct GRANARY_EXPORT AnyView {
  template <class DataType, class... Properties>
  AnyView(Kokkos::View<DataType, Properties...> const&) {}  // NOLINT(google-explicit-constructor)
};

// The one error for a View that is no datum yet.
template <class Never>
Refused refuse_view() {
  static_assert(std::is_void_v<Never>, "pass runtime.data(view) to read, write or read_write, not the View");
  return {};
}

// Parameters of functions that are never called. For braces with a misspelt name a compiler does not say which name
// that is; it lists the functions that it has tried, and so the remedy.
struct MisspeltOption_WriteRuntimeOptionsBeforeTheBraces;
struct MisspeltMember_WriteTaskInfoBeforeTheBraces;

template <class T>
concept NoName = !std::convertible_to<T, TaskName> && !std::same_as<T, TaskInfo>;

template <class Body>
constexpr bool launches_kokkos_kernels() {
  if constexpr (requires { Body::launches_kokkos_kernels; }) return Body::launches_kokkos_kernels;
  return true;
}

template <class Body>
constexpr bool restartable() {
  if constexpr (requires { Body::restartable; }) return Body::restartable;
  return false;
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

// The Views that a body gets, on the host and on a device.
template <class Access>
using ArgumentOnHost = typename ArgumentOf<Access>::OnHost;
template <class Access>
using ArgumentOnDevice = typename ArgumentOf<Access>::OnDevice;

// The number of parameters of a call operator, or -1 if it is a template.
template <class Body, class Result, class... P>
constexpr int count_parameters(Result (Body::*)(P...) const) {
  return static_cast<int>(sizeof...(P));
}
template <class Body>
constexpr int parameters_of() {
  if constexpr (requires { count_parameters(&Body::operator()); }) return count_parameters(&Body::operator());
  return -1;
}

// True if the body takes Number Views, whose types repeat the list.
template <class Body, std::size_t Number, class... Views>
constexpr bool takes_views() {
  using List = std::tuple<Views...>;
  return []<std::size_t... I>(std::index_sequence<I...>) {
    return std::is_invocable_v<Body const&, HostExecutionSpace const&,
                               std::tuple_element_t<I % sizeof...(Views), List>...>;
  }
  (std::make_index_sequence<Number>{});
}
template <class Body, class... Views>
constexpr bool takes_another_number_than() {
  if constexpr (parameters_of<Body>() >= 0) {
    return parameters_of<Body>() != 1 + static_cast<int>(sizeof...(Views));
  } else if constexpr (sizeof...(Views) == 0) {
    return true;
  } else {
    return []<std::size_t... Number>(std::index_sequence<Number...>) {
      return ((Number != sizeof...(Views) && takes_views<Body, Number, Views...>()) || ...);
    }
    (std::make_index_sequence<9>{});
  }
}

// Converts to the execution space that a body asks for, whichever it is.
struct GRANARY_EXPORT AnySpace {
  template <class Space>
  operator Space const&() const;  // NOLINT(google-explicit-constructor)
};

enum class BodyFault { None, NotConst, Number, Elements, Layout, MemorySpace, Space, Views };

// The parameter types of a body's call operator, if it is no template or a template of the execution space only;
// otherwise an empty list. Generic lambdas always have an empty list: to deduce their return type, the compiler would
// instantiate them with parameters that they do not support.
template <class... P>
struct GRANARY_EXPORT ParameterList {};
template <class Body, class Result, class... P>
ParameterList<std::remove_cvref_t<P>...> list_parameters(Result (Body::*)(P...) const);
template <class Body>
constexpr auto parameter_list() {
  if constexpr (requires { list_parameters(&Body::operator()); }) {
    return decltype(list_parameters(&Body::operator()))();
  } else if constexpr (std::is_aggregate_v<Body>) {
    if constexpr (requires { list_parameters(&Body::template operator()<HostExecutionSpace>); })
      return decltype(list_parameters(&Body::template operator()<HostExecutionSpace>))();
    else
      return ParameterList<>();
  } else {
    return ParameterList<>();
  }
}

// Views that Kokkos cannot assign to a parameter of the body, which it says only where the call is compiled.
template <class Parameter, class View>
constexpr BodyFault find_view_fault() {
  if constexpr (Kokkos::is_view<Parameter>::value && Kokkos::is_view<View>::value) {
    using To = typename Parameter::array_layout;
    using From = typename View::array_layout;
    using Left = Kokkos::LayoutLeft;
    using Right = Kokkos::LayoutRight;
    constexpr bool turned = (std::is_same_v<To, Left> && std::is_same_v<From, Right>) ||
                            (std::is_same_v<To, Right> && std::is_same_v<From, Left>);
    constexpr int rank = View::rank;
    if (turned && static_cast<int>(Parameter::rank) == rank && rank > 1) return BodyFault::Layout;
    if (!Kokkos::SpaceAccessibility<typename Parameter::memory_space, typename View::memory_space>::assignable)
      return BodyFault::MemorySpace;
  }
  return BodyFault::None;
}
template <class Space, class... Parameters, class... Views>
constexpr BodyFault find_view_fault(ParameterList<Space, Parameters...>, ParameterList<Views...>) {
  auto fault = BodyFault::None;
  if constexpr (sizeof...(Parameters) == sizeof...(Views))
    static_cast<void>(((fault = find_view_fault<Parameters, Views>(), fault != BodyFault::None) || ...));
  return fault;
}
template <class Views>
constexpr BodyFault find_view_fault(ParameterList<>, Views) {
  return BodyFault::None;
}

// True if workers of several cores call the body with an instance that uses them all. A body that names another space
// runs on one core, as elsewhere.
template <class Body, class... Accesses>
constexpr bool runs_on_teams() {
  if constexpr (std::is_same_v<TeamExecutionSpace, HostExecutionSpace>) return has_team_space;
  if constexpr (has_team_space && launches_kokkos_kernels<Body>())
    return std::is_invocable_v<Body const&, TeamExecutionSpace const&, ArgumentOnHost<Accesses>...>;
  return false;
}

// Why a host worker cannot call the body; the first reason in this order.
template <class Body, class... Accesses>
constexpr BodyFault find_fault() {
  using Space = HostExecutionSpace const&;
  constexpr auto view_fault = find_view_fault(parameter_list<Body>(), ParameterList<ArgumentOnHost<Accesses>...>());
  if constexpr (view_fault != BodyFault::None) {
    return view_fault;
  } else if constexpr (std::is_invocable_v<Body const&, Space, ArgumentOnHost<Accesses>...>) {
    return BodyFault::None;
  } else if constexpr (std::is_invocable_v<Body&, Space, ArgumentOnHost<Accesses>...>) {
    return BodyFault::NotConst;
  } else if constexpr (takes_another_number_than<Body, ArgumentOnHost<Accesses>...>()) {
    return BodyFault::Number;
  } else if constexpr (std::is_invocable_v<Body const&, Space,
                                           BodyView<typename Accesses::ViewType, AccessMode::ReadWrite>...>) {
    return BodyFault::Elements;
  } else if constexpr (std::is_invocable_v<Body const&, AnySpace, ArgumentOnHost<Accesses>...>) {
    return BodyFault::Space;
  } else {
    return BodyFault::Views;
  }
}

// True if workers can call the body; if not, one error says what to change.
template <class Body, class... Accesses>
constexpr bool check_body() {
  constexpr auto fault = [] {
    if constexpr (runs_on_host<Body>()) return find_fault<Body, Accesses...>();
    return BodyFault::None;
  }();
  static_assert(fault != BodyFault::NotConst,
                "the call operator of a task's body must be const: a functor's ends with 'const', and a lambda is not "
                "mutable");
  static_assert(fault != BodyFault::Number,
                "the body must take an execution space and one View for each access: submit(name, body, read(x), "
                "write(y)) calls body(space, x, y)");
  static_assert(fault != BodyFault::Elements,
                "read(x) gives the body a View of const elements: take Kokkos::View<T const*, ...>, or declare the "
                "access as read_write(x)");
  static_assert(fault != BodyFault::Layout,
                "a View of the body has another layout than its datum: take it in the layout of the View that is "
                "registered (a temporary's is Kokkos::LayoutRight), or with a template's type");
  static_assert(fault != BodyFault::MemorySpace,
                "a View of the body is in a memory space that the host's Views cannot be assigned to: make its type a "
                "template's, or declare 'static constexpr bool device_only = true'");
  static_assert(fault != BodyFault::Space,
                "the body must take the execution space of the host first: make the type of that parameter a "
                "template's, or declare 'static constexpr bool device_only = true'");
  static_assert(fault != BodyFault::Views,
                "the body does not take the Views of its accesses: take each by value, with the elements and the "
                "layout of its datum or with a template's type");
  if constexpr (has_device_space && runs_on_devices<Body>() && fault == BodyFault::None) {
    constexpr bool on_devices =
        std::is_invocable_v<Body const&, DeviceExecutionSpace const&, ArgumentOnDevice<Accesses>...>;
    static_assert(on_devices,
                  "the body must also take the execution space and the Views of devices: make their types a "
                  "template's, or declare 'static constexpr bool host_only = true'");
    return on_devices;
  }
  return fault == BodyFault::None;
}

// True if a task of this body and these accesses can be submitted; if not, one error says what to change.
template <class Body, class... Accesses>
constexpr bool check_task() {
  constexpr bool views = (Kokkos::is_view<Accesses>::value || ...);
  constexpr bool numbers = (std::is_arithmetic_v<Accesses> || ...);
  constexpr bool refused = views || numbers || (std::is_same_v<Accesses, Refused> || ...);
  constexpr bool accesses = (TaskAccess<Accesses> && ...);
  constexpr bool somewhere = runs_on_host<Body>() || runs_on_devices<Body>();
  constexpr bool destructible = std::is_nothrow_destructible_v<Body>;
  static_assert(!views, "pass runtime.data(view) to read, write or read_write, not the View");
  static_assert(views || !numbers,
                "submit takes no numbers after the body: make them members of the body, submit(name, Axpy{2.0}, "
                "read(x), read_write(y))");
  static_assert(refused || accesses, "say how the task uses each datum x: read(x), write(x) or read_write(x)");
  static_assert(somewhere, "a body cannot be both host_only and device_only: remove one of the two");
  static_assert(
      destructible,
      "the destructor of a task's body must not throw: a worker runs it, where nobody can catch what it throws");
  if constexpr (accesses && somewhere && destructible) return check_body<Body, Accesses...>();
  return false;
}

// True if a function can tell the end of work outside; if not, one error says what to change.
template <class Ended>
constexpr bool check_ended() {
  constexpr bool tells = std::is_same_v<Ended, std::nullptr_t> || std::is_invocable_r_v<bool, Ended&>;
  static_assert(tells,
                "pass a function that tells the end of the work: submit_outside(name, ended, write(x)) calls "
                "ended() until it returns true");
  return tells;
}

// The one error for what is wrong with the accesses of work outside.
template <class... Accesses>
constexpr bool check_outside() {
  constexpr bool any = sizeof...(Accesses) > 0;
  constexpr bool views = (Kokkos::is_view<Accesses>::value || ...);
  constexpr bool refused = views || (std::is_same_v<Accesses, Refused> || ...);
  constexpr bool accesses = ([] {
    if constexpr (TaskAccess<Accesses>) return Accesses::mode != AccessMode::Commute;
    return false;
  }() && ...);
  static_assert(any, "name the data that the work uses: read(x), write(x) or read_write(x)");
  static_assert(!views, "pass runtime.data(view) to read, write or read_write, not the View");
  static_assert(!any || refused || accesses, "say how the work uses each datum x: read(x), write(x) or read_write(x)");
  return any && !refused && accesses;
}

}  // namespace granary::detail
