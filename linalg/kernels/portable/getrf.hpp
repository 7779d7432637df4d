// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/error.hpp>
#include <granary/linalg/kernels/portable/subtract_product.hpp>

#include <cmath>
#include <string>
#include <type_traits>

namespace granary::kernels::portable {
namespace detail {

/// The row of [j, m) with the largest |re| + |im| in column j, as LAPACK measures it; the first of several.
template <class Matrix>
struct LargestRow {
  using value_type = int;
  // What join takes: volatile before Kokkos 4.0.
  template <class V>
  using Joined = std::conditional_t<(KOKKOS_VERSION < 40000), V volatile, V>;

  Matrix a;
  int column;

  KOKKOS_FUNCTION void init(int& best) const { best = column; }
  KOKKOS_FUNCTION void operator()(int row, int& best) const { best = better(row, best); }
  KOKKOS_FUNCTION void join(Joined<int>& best, Joined<int> const& other) const {
    int const one = best, two = other;
    best = better(one, two);
  }

 private:
  [[nodiscard]] KOKKOS_INLINE_FUNCTION auto size(int row) const {
    using T = typename Matrix::non_const_value_type;
    auto const& value = a(row, column);
    if constexpr (is_complex<T>) {
      return std::abs(value.real()) + std::abs(value.imag());
    } else {
      return std::abs(value);
    }
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION int better(int one, int two) const {
    auto const size_one = size(one), size_two = size(two);
    return size_one > size_two || (size_one == size_two && one < two) ? one : two;
  }
};

/// A := L U; choose_pivot(j) enqueues the exchange of row j with the one that is to be divided by.
template <class ExecutionSpace, class Matrix, class Info, class ChoosePivot>
void factor_lu(ExecutionSpace const& instance, Matrix const& a, Info const& info, ChoosePivot const& choose_pivot) {
  using T = typename Matrix::non_const_value_type;
  using Range = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<int>>;
  int const m = static_cast<int>(a.extent(0)), n = static_cast<int>(a.extent(1)), order = std::min(m, n);
  Kokkos::parallel_for(
      "granary::portable::getrf::begin", Range(instance, 0, 1), KOKKOS_LAMBDA(int) { info() = 0; });
  for (int first = 0; first < order; first += panel_width) {
    int const last = std::min(first + panel_width, order);
    for (int j = first; j < last; ++j) {
      choose_pivot(j);
      // L(i,j) := A(i,j) / U(j,j), and A(i,c) := A(i,c) - L(i,j) U(j,c) in the panel
      Kokkos::parallel_for(
          "granary::portable::getrf::column", Range(instance, j, m), KOKKOS_LAMBDA(int i) {
            T const pivot = a(j, j);
            if (pivot == T(0)) {
              if (i == j && info() == 0) info() = j + 1;
            } else if (i > j) {
              T const factor = a(i, j) / pivot;
              a(i, j) = factor;
              for (int c = j + 1; c < last; ++c) a(i, c) -= factor * a(j, c);
            }
          });
    }
    if (last == n) return;
    // U(i,c) := A(i,c) - Σ L(i,p) U(p,c) right of the panel
    Kokkos::parallel_for(
        "granary::portable::getrf::row", Range(instance, last, n), KOKKOS_LAMBDA(int c) {
          for (int p = first; p < last; ++p) {
            T const factor = a(p, c);
            for (int i = p + 1; i < last; ++i) a(i, c) -= a(i, p) * factor;
          }
        });
    SubtractProduct<false, Matrix>(a, {last, m, last, n, first, last}).launch(instance);
  }
}

}  // namespace detail

/// LU factorization in place without pivoting, for backends without a vendor library: A = L U with L unit lower
/// trapezoidal. m n² - n³/3 fused operations for m >= n.
///
/// A is a View of rank 2 of one of the four scalars in any layout, m x n, `info` one of rank 0 of int; the instance can
/// access both. Everything is enqueued on the instance; nothing waits, and nothing is allocated. Then info() is 0, or
/// k > 0 when U(k, k) is the first that is exactly zero; what is below a zero is not divided by it, and the
/// factorization goes on. Panels of 32 columns, one kernel per column and two per panel.
template <class ExecutionSpace, class Matrix, class Info>
void getrf_nopiv(ExecutionSpace const& instance, Matrix const& a, Info const& info) {
  detail::factor_lu(instance, a, info, [](int) {});
}

/// The same with partial pivoting, A = P L U: LAPACK's xGETRF. pivots(k), counted from 1, is the row that row k was
/// exchanged with; `pivots` is a contiguous View of rank 1 of int with at least min(m, n) entries, else InvalidArgument
/// is thrown. Three kernels per column, one of them a reduction: before Kokkos 4.0 several threads may not run it at
/// once.
template <class ExecutionSpace, class Matrix, class Info, class Pivots>
void getrf(ExecutionSpace const& instance, Matrix const& a, Info const& info, Pivots const& pivots) {
  using T = typename Matrix::non_const_value_type;
  using Range = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<int>>;
  int const m = static_cast<int>(a.extent(0)), n = static_cast<int>(a.extent(1)), order = std::min(m, n);
  if (pivots.extent(0) < static_cast<std::size_t>(order)) {
    throw InvalidArgument("getrf: " + std::to_string(pivots.extent(0)) + " pivots are too few for a matrix of " +
                          std::to_string(m) + "x" + std::to_string(n));
  }
  detail::factor_lu(instance, a, info, [&](int j) {
    Kokkos::parallel_reduce("granary::portable::getrf::pivot", Range(instance, j, m), detail::LargestRow<Matrix>{a, j},
                            Kokkos::subview(pivots, j));
    Kokkos::parallel_for(
        "granary::portable::getrf::exchange", Range(instance, 0, n), KOKKOS_LAMBDA(int c) {
          T const value = a(j, c);
          a(j, c) = a(pivots(j), c);
          a(pivots(j), c) = value;
        });
  });
  Kokkos::parallel_for(
      "granary::portable::getrf::end", Range(instance, 0, order), KOKKOS_LAMBDA(int j) { pivots(j) += 1; });
}

}  // namespace granary::kernels::portable
