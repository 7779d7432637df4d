// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/backends/kokkos_compat.hpp>
#include <granary/detail/core/backends/kokkos_core.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/model/access.hpp>
#include <granary/detail/runtime/api/data.hpp>
#include <granary/detail/runtime/session/reduction_kind.hpp>

#include <cstddef>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

namespace granary {

/// Operations for `reduce`. One of your own has the same two functions: it is associative and commutative, and
/// `identity<T>()` changes nothing. It is copied to devices.
///
/// ```cpp
/// struct Squares {
///   static constexpr bool launches_kokkos_kernels = false;
///   template <class Exec, class X, class S>
///   void operator()(Exec const&, X x, S sum) const {
///     for (std::size_t i = 0; i < x.extent(0); ++i) sum() += x(i) * x(i);
///   }
/// };
/// Kokkos::View<double*, Kokkos::HostSpace> x("x", 1000);
/// Kokkos::deep_copy(x, 2.0);
/// granary::Runtime runtime;
/// auto const sum = runtime.scalar("sum", 0.0);
/// auto const parts = runtime.partition(runtime.data(x), 100);
/// for (auto const& part : parts) runtime.submit("squares", Squares{}, read(part), reduce(sum, granary::Sum{}));
/// assert(sum.get() == 4000.0);
/// ```
struct GRANARY_EXPORT Sum {
  template <class T>
  [[nodiscard]] static T identity() {
    return T{};
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& a, T const& b) const {
    return a + b;
  }
};
struct GRANARY_EXPORT Product {
  template <class T>
  [[nodiscard]] static T identity() {
    return T(1);
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& a, T const& b) const {
    return a * b;
  }
};
struct GRANARY_EXPORT Minimum {
  template <class T>
  [[nodiscard]] static T identity() {
    using Limits = std::numeric_limits<T>;
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& a, T const& b) const {
    return b < a ? b : a;
  }
};
struct GRANARY_EXPORT Maximum {
  template <class T>
  [[nodiscard]] static T identity() {
    using Limits = std::numeric_limits<T>;
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& a, T const& b) const {
    return a < b ? b : a;
  }
};

namespace detail {

/// Asks `reduce` for the same result in every run: terms are combined in an order that depends on the order of
/// submission alone.
struct GRANARY_EXPORT InOrder {};

}  // namespace detail

inline constexpr detail::InOrder in_order{};

namespace detail {

/// How a task contributes to a datum; `reduce` makes it.
template <class View, class Op, bool Ordered>
struct GRANARY_EXPORT ReduceAccess {
  Data<View> data;
  Op op;
};

template <class A>
inline constexpr bool is_reduction = false;
template <class View, class Op, bool Ordered>
inline constexpr bool is_reduction<ReduceAccess<View, Op, Ordered>> = true;

// The datum of an access; invalid for scratch.
template <class A>
DataId data_of(A const& access) {
  if constexpr (is_reduction<A>) {
    return access.data.id();
  } else if constexpr (requires { DataId(access.data); }) {
    return access.data;
  } else {
    return {};
  }
}

// The Runtime of that datum; `here` for scratch, which every submission makes anew.
template <class A>
RuntimeId runtime_of(A const& access, RuntimeId here) {
  if constexpr (is_reduction<A>) {
    return access.data.runtime_id();
  } else if constexpr (requires { RuntimeId(access.runtime); }) {
    return access.runtime;
  } else {
    return here;
  }
}

}  // namespace detail

/// The task adds a contribution to `x` with `op`, such as `s() += term` for a Sum. Tasks that reduce `x` with the same
/// operation run in any order. The body gets a View of the shape of `x` that holds the identity or earlier
/// contributions, and accumulates in it; it must not overwrite it, as `Kokkos::parallel_reduce` into the View would.
///
/// Several tasks may run at a time, each on a partial copy. There are at most as many copies as workers and as fit in a
/// quarter of each memory, at least one; with `in_order` at most 8, whatever the memory. Before the next other access
/// to `x` or to data that share bytes with it, and before each wait, granary submits one task per copy that combines it
/// with `x`. Copies are temporaries, under the memory limits.
///
/// A task accesses the bytes that it reduces in no other way. `x` must have a value, from its View or from a task;
/// otherwise the submission throws InvalidArgument. Floating-point results depend on the order of the terms, and so on
/// the run, unless `in_order` is given.
template <class View, class Op>
[[nodiscard]] detail::ReduceAccess<View, Op, false> reduce(Data<View> const& x, Op op) {
  return {x, std::move(op)};
}
template <class View, class Op>
[[nodiscard]] detail::ReduceAccess<View, Op, true> reduce(Data<View> const& x, Op op, detail::InOrder) {
  return {x, std::move(op)};
}

namespace detail {

// The element with that number, counted along the first dimension first, of a View of any rank and layout.
template <class View>
KOKKOS_INLINE_FUNCTION typename View::reference_type element(View const& view, std::size_t number) {
  std::size_t offset = 0;
  for (std::size_t d = 0; d < static_cast<std::size_t>(View::rank); ++d) {
    auto const extent = static_cast<std::size_t>(view.extent(d));
    offset += number % extent * static_cast<std::size_t>(view.stride(d));
    number /= extent;
  }
  return view.data()[offset];
}

// Sets an element to the identity, or combines it with a copy's element.
template <class X, class T>
struct GRANARY_EXPORT FillElement {
  X x;
  T value;
  KOKKOS_INLINE_FUNCTION void operator()(std::size_t i) const { element(x, i) = value; }
};
template <class X, class P, class Op>
struct GRANARY_EXPORT CombineElement {
  X x;
  P part;
  Op op;
  KOKKOS_INLINE_FUNCTION void operator()(std::size_t i) const { element(x, i) = op(element(x, i), element(part, i)); }
};

// Loops on the host, where the workers of a Kokkos before 4.0 would wait for each other's kernels.
template <class Exec, class Function>
void for_each_element(Exec const& exec, char const* name, std::size_t count, Function const& function) {
  if constexpr (std::is_same_v<Exec, HostExecutionSpace>) {
    for (std::size_t i = 0; i < count; ++i) function(i);
  } else {
    Kokkos::parallel_for(name, Kokkos::RangePolicy<Exec>(exec, 0, count), function);
  }
}

struct GRANARY_EXPORT OnAnyWorker {
  static constexpr bool launches_kokkos_kernels = false;
  static constexpr bool host_only = false;
};

template <class Op>
struct GRANARY_EXPORT FillWithIdentity : OnAnyWorker {
  template <class Exec, class X>
  void operator()(Exec const& exec, X const& x) const {
    using T = typename X::non_const_value_type;
    for_each_element(exec, "fill", x.size(), FillElement<X, T>{x, Op::template identity<T>()});
  }
};
template <class Op>
struct GRANARY_EXPORT Combine : OnAnyWorker {
  Op op;
  template <class Exec, class P, class X>
  void operator()(Exec const& exec, P const& part, X const& x) const {
    for_each_element(exec, "combine", x.size(), CombineElement<X, P, Op>{x, part, op});
  }
};

template <class View, class Op, bool Ordered>
class GRANARY_EXPORT ReductionOf final : public ReductionKind {
 public:
  ReductionOf(Data<View> data, Op op, Bytes bytes, std::shared_ptr<View const> shape)
      : ReductionKind(data.id(), bytes, std::move(shape), Ordered, typeid(ReductionOf)),
        m_data(std::move(data)),
        m_op(std::move(op)) {}
  void fill(Session& session, DataId copy) const override;
  void combine(Session& session, DataId copy) const override;
  void check_combine(Session& session, DataId copy) const override;

 private:
  Data<View> m_data;
  Op m_op;
};

/// A contribution as the task accesses it: `copy` in the shape of the datum, which it keeps until the submission ends.
template <class View, bool Ordered>
struct GRANARY_EXPORT MadeReduction : TypedAccess<View, Ordered ? AccessMode::ReadWrite : AccessMode::Commute> {
  Data<View> kept;
  MadeReduction(Data<View> const& of, DataId copy)
      : TypedAccess < View,
  Ordered ? AccessMode::ReadWrite : AccessMode::Commute > (of), kept(of) {
    this->data = copy;
  }
};

}  // namespace detail
}  // namespace granary
