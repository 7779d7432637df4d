// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/backends/kokkos_compat.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/codelet.hpp>
#include <granary/detail/core/model/machine.hpp>
#include <granary/detail/runtime/data.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace granary {

/// A task's name: a string literal, std::string or std::string_view, which it does not copy. It keeps the line where it
/// was converted, which what `submit` throws names.
struct GRANARY_EXPORT TaskName {
  std::string_view text;
  SourceLine source_line;

  template <std::convertible_to<std::string_view> Text>
  TaskName(Text const& name, SourceLine line = SourceLine::current())  // NOLINT(google-explicit-constructor)
      : text(name), source_line(line) {}
};

namespace detail {

// A task that granary submits for another one, which it names if the submission fails.
inline TaskName own_task(char const* name) { return {name, SourceLine{}}; }

// Throws the error that is handled, and says where the task was submitted.
[[noreturn]] GRANARY_EXPORT void rethrow_with(SourceLine const& source_line);

// Calls it; what it throws names the line.
template <class Function>
decltype(auto) naming_line(SourceLine const& source_line, Function&& function) {
  try {
    return function();
  } catch (InvalidArgument const&) {
    rethrow_with(source_line);
  }
}

}  // namespace detail

/// A task's name and the information for schedulers: `{.name = "axpy", .priority = 3, .flops = 2e6}`.
///
/// ```cpp
/// struct Increment {
///   static constexpr bool launches_kokkos_kernels = false;
///   template <class Exec, class X>
///   void operator()(Exec const&, X x) const {
///     x() += 1;
///   }
/// };
/// granary::Runtime runtime;
/// auto const x = runtime.scalar("x", 0);
/// runtime.submit({.name = "increment", .priority = 3, .flops = 1}, Increment{}, read_write(x));
/// assert(x.get() == 1);
/// ```
struct GRANARY_EXPORT TaskInfo {
  TaskName name;
  std::int64_t priority = 0;  ///< larger is more urgent
  double flops = 0;           ///< floating-point operations; 0 when unknown
};

/// The token of the restartable task whose body calls this on its own thread; other threads of the body get a copy. Of
/// other tasks, on devices and outside of tasks it is one that never asks to stop. A body is *restartable* if it
/// declares `static constexpr bool restartable = true`: then schedulers that abort tasks (heteroprio:spoliation=...)
/// may have it stopped on a core, and it runs again later, on the same data. It may not do what cannot be done twice.
///
/// ```cpp
/// struct Relax {
///   static constexpr bool launches_kokkos_kernels = false;
///   static constexpr bool restartable = true;
///   template <class Exec, class X>
///   void operator()(Exec const&, X x) const {
///     auto const stop = granary::stop_token();
///     for (int sweep = 0; sweep < 1000 && !stop.requested(); ++sweep) x() = (x() + 2 / x()) / 2;
///   }
/// };
/// granary::Runtime runtime;
/// auto const x = runtime.scalar("x", 1.0);
/// runtime.submit("relax", Relax{}, read_write(x));
/// assert(std::abs(x.get() * x.get() - 2) < 1e-12);
/// ```
[[nodiscard]] GRANARY_EXPORT StopToken stop_token();

namespace detail {

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

// The numbers of which an element consists.
enum class Numbers { Other, Integers, Singles, Doubles };

// How RuntimeOptions::check compares the elements of an access.
struct GRANARY_EXPORT ComparedElement {
  Bytes bytes = 0;  // 0: not, else equal bytes are equal elements, and a body that writes leaves none as it was
  Numbers numbers = Numbers::Other;
};

// The code that was compiled for a task.
struct GRANARY_EXPORT TaskCode {
  std::array<Kernel, worker_kinds> kernels;  // by kind of worker
  std::string const& variant;                // see Codelet
  bool launches_kokkos_kernels;
  bool external = false;  // no worker runs it
  bool restartable = false;
  ResultBytes result_bytes = nullptr;
  // For RuntimeOptions::check: the bytes of the body, with which the parameters begin, and by access its elements.
  std::size_t size = 0;
  std::span<ComparedElement const> elements = {};
  Kernel checked = nullptr;  // of the body, where `kernels` check it
};

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

// The token of the body that the thread runs, while this object exists.
class GRANARY_EXPORT StopScope {
 public:
  explicit StopScope(StopToken const& token);
  ~StopScope();
  StopScope(StopScope const&) = delete;

 private:
  StopToken m_outer;
};

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

// The parameters of a call operator that is no template, or a template of the execution space only; else none. None of
// generic lambdas: to deduce what they return, the compiler would compile them with parameters that they are not for.
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
