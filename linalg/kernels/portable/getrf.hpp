// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/kernels/portable/potrf.hpp>

#include <cmath>
#include <string>

namespace granary::kernels::portable {
namespace detail {

/// pivots(j) := the row of [j, m) with the largest |re| + |im| in column j, as LAPACK measures it; the first of
/// several. For one team.
template <class Space, class Matrix, class Pivots>
struct FindPivot {
  using T = typename Matrix::non_const_value_type;
  using R = RealOf<T>;
  Matrix a;
  Pivots pivots;
  int j, rows;

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    R largest = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, j, rows),
        [&](int i, R& most) {
          R const here = size(i);
          if (here > most) most = here;
        },
        Kokkos::Max<R>(largest));
    int pivot = rows;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, j, rows),
        [&](int i, int& least) {
          if (size(i) >= largest && i < least) least = i;
        },
        Kokkos::Min<int>(pivot));
    if (team.team_rank() == 0) pivots(j) = pivot < rows ? pivot : j;  // a column of NaN has no pivot
  }

 private:
  [[nodiscard]] KOKKOS_INLINE_FUNCTION R size(int row) const {
    auto const& value = a(row, j);
    if constexpr (is_complex<T>) {
      return std::abs(value.real()) + std::abs(value.imag());
    } else {
      return std::abs(value);
    }
  }
};

template <class Matrix, class Pivots>
struct ExchangeWithPivot {
  using T = typename Matrix::non_const_value_type;
  Matrix a;
  Pivots pivots;
  int j;

  KOKKOS_FUNCTION void operator()(std::int64_t column) const {
    int const c = static_cast<int>(column);
    T const value = a(j, c);
    a(j, c) = a(pivots(j), c);
    a(pivots(j), c) = value;
  }
};

/// L(i,j) := A(i,j) / U(j,j), and A(i,c) := A(i,c) - L(i,j) U(j,c) in the panel, which ends at column `last`.
template <class Matrix, class Info>
struct LuColumn {
  using T = typename Matrix::non_const_value_type;
  Matrix a;
  Info info;
  int j, last;

  KOKKOS_FUNCTION void operator()(std::int64_t below) const {
    int const i = j + static_cast<int>(below);
    T const pivot = a(j, j);
    if (pivot == T(0)) {
      if (i == j && info() == 0) info() = j + 1;
    } else if (i > j) {
      T const factor = a(i, j) / pivot;
      a(i, j) = factor;
      for (int c = j + 1; c < last; ++c) a(i, c) -= factor * a(j, c);
    }
  }
};

/// U(i,c) := A(i,c) - Σ L(i,p) U(p,c) right of the panel of columns [first, last).
template <class Matrix>
struct LuRow {
  using T = typename Matrix::non_const_value_type;
  Matrix a;
  int first, last;

  KOKKOS_FUNCTION void operator()(std::int64_t right) const {
    int const c = last + static_cast<int>(right);
    for (int p = first; p < last; ++p) {
      T const factor = a(p, c);
      for (int i = p + 1; i < last; ++i) a(i, c) -= a(i, p) * factor;
    }
  }
};

template <class Pivots>
struct CountFromOne {
  Pivots pivots;

  KOKKOS_FUNCTION void operator()(std::int64_t j) const { pivots(j) += 1; }
};

/// A := L U; choose_pivot(j) enqueues the exchange of row j with the pivot row.
template <class ExecutionSpace, class Matrix, class Info, class ChoosePivot>
void factor_lu(ExecutionSpace const& instance, Matrix const& a, Info const& info, ChoosePivot const& choose_pivot) {
  int const m = to_int32(a.extent(0), "a number of rows"), n = to_int32(a.extent(1), "a number of columns"),
            order = std::min(m, n);
  for_each("granary::portable::getrf::begin", instance, 1, ClearInfo<Info>{info});
  for (int first = 0; first < order; first += panel_width) {
    int const last = std::min(first + panel_width, order);
    for (int j = first; j < last; ++j) {
      choose_pivot(j);
      for_each("granary::portable::getrf::column", instance, m - j, LuColumn<Matrix, Info>{a, info, j, last});
    }
    if (last == n) return;
    for_each("granary::portable::getrf::row", instance, n - last, LuRow<Matrix>{a, first, last});
    SubtractProduct<false, Matrix>(a, {last, m, last, n, first, last}).launch(instance);
  }
}

}  // namespace detail

/// LU factorization in place without pivoting, for backends without a vendor library: A = L U with L unit lower
/// trapezoidal. m n² - n³/3 fused multiply-adds for m >= n.
///
/// A is an m x n View of rank 2 of one of the four scalars in any layout, or a Strided. `info` is a View of rank 0 of
/// int. The instance can access both. Everything is enqueued on the instance; it does not wait or allocate. Afterwards
/// info() is 0, or k > 0 if U(k, k) is the first exact zero. Entries below a zero are not divided by it, and the
/// factorization continues. Panels of 32 columns, one kernel per column and two per panel.
template <class ExecutionSpace, class Matrix, class Info>
void getrf_nopiv(ExecutionSpace const& instance, Matrix const& a, Info const& info) {
  detail::factor_lu(instance, a, info, [](int) {});
}

/// The same with partial pivoting, A = P L U: LAPACK's xGETRF. pivots(k), counted from 1, is the row that row k was
/// exchanged with. `pivots` is a contiguous View of rank 1 of int with at least min(m, n) entries, otherwise
/// InvalidArgument is thrown. Three kernels per column, one of them with a team: before Kokkos 4.0 only one thread at a
/// time may run it.
template <class ExecutionSpace, class Matrix, class Info, class Pivots>
void getrf(ExecutionSpace const& instance, Matrix const& a, Info const& info, Pivots const& pivots) {
  int const m = to_int32(a.extent(0), "a number of rows"), n = to_int32(a.extent(1), "a number of columns"),
            order = std::min(m, n);
  if (pivots.extent(0) < static_cast<std::size_t>(order)) {
    throw InvalidArgument("getrf: " + std::to_string(pivots.extent(0)) + " pivots are too few for a matrix of " +
                          std::to_string(m) + "x" + std::to_string(n));
  }
  detail::factor_lu(instance, a, info, [&](int j) {
    for_each_team("granary::portable::getrf::pivot", instance, 1, 0,
                  detail::FindPivot<ExecutionSpace, Matrix, Pivots>{a, pivots, j, m});
    for_each("granary::portable::getrf::exchange", instance, n,
             detail::ExchangeWithPivot<Matrix, Pivots>{a, pivots, j});
  });
  for_each("granary::portable::getrf::end", instance, order, detail::CountFromOne<Pivots>{pivots});
}

}  // namespace granary::kernels::portable
