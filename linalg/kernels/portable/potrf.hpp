// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/data/narrow.hpp>
#include <granary/detail/linalg/kernels/portable/strided.hpp>
#include <granary/detail/linalg/kernels/portable/subtract_product.hpp>

#include <cmath>
#include <string>

namespace granary::kernels::portable {
namespace detail {

template <class Info>
struct ClearInfo {
  Info info;

  KOKKOS_FUNCTION void operator()(std::int64_t) const { info() = 0; }
};

/// The square of L(j,j): the sum that column j subtracts from its diagonal entry. Each work item computes it itself, in
/// the same order, so that nothing is written while others read.
template <class Matrix>
struct SquaredPivot {
  using T = typename Matrix::non_const_value_type;
  Matrix a;
  int first;

  [[nodiscard]] KOKKOS_FUNCTION RealOf<T> operator()(int j) const {
    RealOf<T> rest = real_part(a(j, j));
    for (int p = first; p < j; ++p) rest -= real_part(a(j, p) * conjugate(a(j, p)));
    return rest;
  }
};

/// L(i,j) := (A(i,j) - Σ L(i,p) conj(L(j,p))) / L(j,j) for i > j.
template <class Matrix, class Info>
struct CholeskyColumn {
  using T = typename Matrix::non_const_value_type;
  SquaredPivot<Matrix> squared;
  Info info;
  int j;

  KOKKOS_FUNCTION void operator()(std::int64_t below) const {
    auto const& a = squared.a;
    int const i = j + static_cast<int>(below);
    RealOf<T> const pivot = squared(j);
    if (i == j) {
      if (!(pivot > 0) && info() == 0) info() = j + 1;
      return;
    }
    T rest = a(i, j);
    for (int p = squared.first; p < j; ++p) rest -= a(i, p) * conjugate(a(j, p));
    a(i, j) = rest / std::sqrt(pivot);
  }
};

template <class Matrix>
struct CholeskyDiagonal {
  using T = typename Matrix::non_const_value_type;
  SquaredPivot<Matrix> squared;

  KOKKOS_FUNCTION void operator()(std::int64_t number) const {
    int const j = squared.first + static_cast<int>(number);
    squared.a(j, j) = T(std::sqrt(squared(j)));
  }
};

}  // namespace detail

/// Cholesky factorization in place, A = L L^H with L in the lower triangle, for backends without a vendor library. The
/// upper triangle and imaginary parts on the diagonal are not referenced. n³/3 flops.
///
/// A is a View of rank 2 of one of the four scalars in any layout, or a Strided; `info` a View of rank 0 of int. The
/// instance can access both. Everything is enqueued on the instance; it does not wait or allocate. Afterwards info() is
/// 0, or k > 0 if the leading minor of order k is not positive definite (A is then partly overwritten). Throws
/// InvalidArgument if A is not square.
///
/// Panels of 32 columns: column by column, each row independently (left-looking within the panel), then one update
/// right of the panel. n + 2 n/32 kernels.
template <class ExecutionSpace, class Matrix, class Info>
void potrf(ExecutionSpace const& instance, Matrix const& a, Info const& info) {
  int const n = to_int32(a.extent(0), "a number of rows");
  if (a.extent(1) != a.extent(0)) {
    throw InvalidArgument("potrf: A is " + std::to_string(n) + "x" + std::to_string(a.extent(1)) + ", not square");
  }
  for_each("granary::portable::potrf::begin", instance, 1, detail::ClearInfo<Info>{info});
  for (int first = 0; first < n; first += panel_width) {
    int const last = std::min(first + panel_width, n);
    detail::SquaredPivot<Matrix> const squared{a, first};
    for (int j = first; j < last; ++j) {
      for_each("granary::portable::potrf::column", instance, n - j,
               detail::CholeskyColumn<Matrix, Info>{squared, info, j});
    }
    // A column's kernel reads its pivot until it ends: pivots are stored together afterwards.
    for_each("granary::portable::potrf::diagonal", instance, last - first, detail::CholeskyDiagonal<Matrix>{squared});
    SubtractProduct<true, Matrix>(a, {last, n, last, n, first, last}).launch(instance);
  }
}

}  // namespace granary::kernels::portable
