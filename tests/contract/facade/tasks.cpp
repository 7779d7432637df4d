// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contract/facade/tasks.hpp"

#include <chrono>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace granary::facade_test {

using namespace detail;

namespace {

struct ExclusiveOr {
  template <class T>
  static T identity() {
    return 0;
  }
  KOKKOS_INLINE_FUNCTION double operator()(double a, double b) const { return exclusive_or(a, b); }
};

// Calls `function(element, n)` in the order of a Region.
template <class X, class Function>
void for_each(X const& x, Function&& function) {
  std::size_t n = 0;
  if constexpr (X::rank == 0) {
    function(x(), n);
  } else if constexpr (X::rank == 1) {
    for (std::size_t i = 0; i < x.extent(0); ++i) function(x(i), n++);
  } else {
    for (std::size_t i = 0; i < x.extent(0); ++i) {
      for (std::size_t j = 0; j < x.extent(1); ++j) function(x(i, j), n++);
    }
  }
}

// The parts of a task, for one access each.
template <class X>
void look(Use use, X const& x, std::uint64_t& sum) {
  if (looks(use)) for_each(x, [&](double element, std::size_t) { sum = mix(sum, element); });
}
// What must be as it is until the task changes it: old elements, and scratch.
template <class X>
void remember(Use use, std::uint64_t sum, X const& x, std::vector<double>& kept) {
  if constexpr (!std::is_const_v<typename X::value_type>) {
    if (use == Use::Scratch) for_each(x, [&](double& element, std::size_t n) { element = term(use, sum, 0, n); });
    if (combines(use) || use == Use::Scratch)
      for_each(x, [&](double element, std::size_t) { kept.push_back(element); });
  }
}
template <class X>
void change(Use use, std::uint64_t sum, std::size_t slot, X const& x, std::vector<double> const& kept) {
  if constexpr (!std::is_const_v<typename X::value_type>) {
    if (use == Use::Read || use == Use::Scratch) return;
    for_each(x, [&](double& element, std::size_t n) {
      auto const made = term(use, sum, slot, n);
      element = combines(use) ? combined(use, kept[n], made) : made;
    });
  }
}
// The new value of a varying datum is apart from the present one.
template <class T, class Memory>
void look(Use use, VaryingResult<T, Memory> const& x, std::uint64_t& sum) {
  look(use, x.before, sum);
}
template <class T, class Memory>
void remember(Use, std::uint64_t, VaryingResult<T, Memory> const&, std::vector<double>&) {}
template <class T, class Memory>
void change(Use, std::uint64_t sum, std::size_t slot, VaryingResult<T, Memory> const& x, std::vector<double> const&) {
  auto const count = left_elements(sum, slot, x.after.extent(0));
  for (std::size_t n = 0; n < count; ++n) x.after(n) = term(Use::Write, sum, slot, n);
  x.resize(count);
}
template <class T, class Memory>
bool as_kept(Use, VaryingResult<T, Memory> const&, std::vector<double> const&) {
  return true;
}
template <class X>
bool as_kept(Use use, X const& x, std::vector<double> const& kept) {
  bool same = true;
  if (use == Use::Scratch) for_each(x, [&](double element, std::size_t n) { same = same && element == kept[n]; });
  return same;
}

template <class... X>
void work_on(Form const& form, RealWork const& work, X const&... x) {
  auto const checksum = [&] {
    auto sum = work.salt;
    std::size_t s = 0;
    (look(form.slots[s++].use, x, sum), ...);
    return sum;
  };
  auto const sum = checksum();
  std::array<std::vector<double>, most_slots> kept;
  std::size_t r = 0;
  ((remember(form.slots[r].use, sum, x, kept[r]), ++r), ...);
  if (work.pause > 0) std::this_thread::sleep_for(std::chrono::microseconds(work.pause));
  bool whole = checksum() == sum;
  std::size_t a = 0;
  ((whole = whole && as_kept(form.slots[a].use, x, kept[a]), ++a), ...);
  *work.seen = whole ? sum : torn;
  std::size_t c = 0;
  ((change(form.slots[c].use, sum, c, x, kept[c]), ++c), ...);
}

template <std::size_t Number>
struct Body : RealWork {
  static constexpr bool launches_kokkos_kernels = Number % 8 == 0;
  static constexpr bool host_only = true;  // on emulated devices, too
  template <class Exec, class... X>
  void operator()(Exec const& exec, X... x) const {
    if constexpr (launches_kokkos_kernels) {
      auto const* const work = this;
      Kokkos::parallel_for("work", Kokkos::RangePolicy<Exec>(exec, 0, 1),
                           [=](int) { work_on(task_form(Number), *work, x...); });
    } else {
      work_on(task_form(Number), *this, x...);
    }
    if (fails) throw Failed(task);
  }
  [[nodiscard]] std::size_t most_elements(std::span<std::size_t const> elements, std::size_t access) const
      requires(task_form(Number).bounds_results) {
    return most_left(task_form(Number).slots[access].use, elements[access]);
  }
};

template <class View, class Op>
auto reduction(Data<View> const& data, Op op, std::bool_constant<true>) {
  return reduce(data, op, in_order);
}
template <class View, class Op>
auto reduction(Data<View> const& data, Op op, std::bool_constant<false>) {
  return reduce(data, op);
}

template <Slot slot>
auto access_to(Held const* handle, std::array<std::size_t, 2> const& extents) {
  constexpr std::bool_constant<slot.in_order> ordered;
  if constexpr (slot.use == Use::Scratch) {
    return scratch<double>(extents[0], extents[1]);
  } else {
    auto const& data = data_of<slot.kind>(*handle);
    if constexpr (slot.use == Use::Read) return read(data);
    if constexpr (slot.use == Use::Write) return write(data);
    if constexpr (slot.use == Use::ReadWrite) return read_write(data);
    if constexpr (slot.use == Use::Commute) return commute(data);
    if constexpr (slot.use == Use::Sum) return reduction(data, Sum{}, ordered);
    if constexpr (slot.use == Use::Product) return reduction(data, Product{}, ordered);
    if constexpr (slot.use == Use::Minimum) return reduction(data, Minimum{}, ordered);
    if constexpr (slot.use == Use::Maximum) return reduction(data, Maximum{}, ordered);
    if constexpr (slot.use == Use::Xor) return reduction(data, ExclusiveOr{}, ordered);
  }
}

struct Submission {
  Runtime& runtime;
  std::span<Held const* const> handles;
  std::array<std::size_t, 2> scratch;
  RealWork const& work;
};
template <std::size_t Number>
TaskHandle submit_one(Submission const& s) {
  constexpr Form form = task_form(Number);
  auto const name = "form " + std::to_string(Number);
  TaskInfo const info{name, static_cast<std::int64_t>(s.work.salt % 5), 1e3};
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return s.runtime.submit(info, Body<Number>{s.work}, access_to<form.slots[I]>(s.handles[I], s.scratch)...);
  }
  (std::make_index_sequence<form.count>{});
}

struct OutsideSubmission {
  Runtime& runtime;
  std::span<Held const* const> handles;
  std::function<bool()> const& ended;
  bool after;
  std::string name;
};
template <std::size_t Number>
TaskHandle submit_one_outside(OutsideSubmission const& s) {
  constexpr Form form = outside_form(Number);
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    if (s.after)
      return s.runtime.submit_after(s.name, HostExecutionSpace(), access_to<form.slots[I]>(s.handles[I], {})...);
    return s.runtime.submit_outside(s.name, s.ended, access_to<form.slots[I]>(s.handles[I], {})...);
  }
  (std::make_index_sequence<form.count>{});
}

template <std::size_t... N>
constexpr auto task_table(std::index_sequence<N...>) {
  return std::array{&submit_one<N>...};
}
template <std::size_t... N>
constexpr auto outside_table(std::index_sequence<N...>) {
  return std::array{&submit_one_outside<N>...};
}

struct Inner;
void submit_inner(Runtime& runtime, Scalar<double> const& data, Use use, unsigned depth, RealWork const& work);

// Changes the scalar, and submits the next one.
struct Inner : RealWork {
  static constexpr bool launches_kokkos_kernels = false;
  Runtime* runtime;
  Scalar<double> data;
  Use use;
  unsigned depth;
  template <class Exec, class X, class R>
  void operator()(Exec const&, X x, R room) const {
    Form const form{.slots = {Slot{use}, Slot{Use::Scratch}}, .count = 2};
    work_on(form, *this, x, room);
    submit_inner(*runtime, data, use, depth, *this);
  }
};
void submit_inner(Runtime& runtime, Scalar<double> const& data, Use use, unsigned depth, RealWork const& work) {
  if (depth == 0) return;
  Inner const inner{{{work.task + 1, *work.seen, 0, false}, work.seen + 1}, &runtime, data, use, depth - 1};
  auto const room = scratch<double>(3, 2);
  if (use == Use::Commute) runtime.submit("inner", inner, commute(data), room);
  if (use == Use::ReadWrite) runtime.submit("inner", inner, read_write(data), room);
  if (use == Use::Sum) runtime.submit("inner", inner, reduce(data, Sum{}), room);
  if (use == Use::Xor) runtime.submit("inner", inner, reduce(data, ExclusiveOr{}), room);
}

struct Outer : RealWork {
  static constexpr bool launches_kokkos_kernels = false;
  Runtime* runtime;
  Scalar<double> data;
  Use use;
  unsigned depth;
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    Form const form{.slots = {Slot{Use::Read}}, .count = 1};
    work_on(form, *this, x);
    submit_inner(*runtime, data, use, depth, *this);
  }
};

}  // namespace

TaskHandle submit_form(std::size_t form, Runtime& runtime, std::span<Held const* const> handles,
                       std::array<std::size_t, 2> scratch, RealWork const& work) {
  static constexpr auto table = task_table(std::make_index_sequence<task_forms>{});
  return table[form]({runtime, handles, scratch, work});
}

TaskHandle submit_outside_form(std::size_t form, Runtime& runtime, std::span<Held const* const> handles,
                               std::function<bool()> const& ended, bool after, Name task) {
  static constexpr auto table = outside_table(std::make_index_sequence<outside_forms>{});
  return table[form]({runtime, handles, ended, after, "outside " + std::to_string(task)});
}

TaskHandle submit_nest(Runtime& runtime, Held const& outer, Scalar<double> const& inner, Nest const& step,
                       RealWork const& work) {
  Outer const body{work, &runtime, inner, step.use, step.depth};
  if (auto const* const scalar = std::get_if<Scalar<double>>(&outer))
    return runtime.submit("outer", body, read(*scalar));
  return runtime.submit("outer", body, read(data_of<Kind::Vector>(outer)));
}

TaskHandle submit_larger(Runtime& runtime, Scalar<double> const& data) {
  return runtime.submit("larger", Body<1>{}, reduce(data, Sum{}), scratch<double>(1 << 20, 1 << 20));
}

void work_on_memory(Form const& form, std::span<std::pair<double*, Region> const> memory, RealWork const& work) {
  using Strided = PartView<Right>;
  auto const view = [&](std::size_t s) {
    auto const& [cells, region] = memory[s];
    Kokkos::LayoutStride const layout(region.extents[0], region.strides[0], region.extents[1], region.strides[1]);
    return Strided(cells + region.first, layout);
  };
  form.count == 1 ? work_on(form, work, view(0)) : work_on(form, work, view(0), view(1));
  if (work.fails) throw Failed(work.task);
}

}  // namespace granary::facade_test
