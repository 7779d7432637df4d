// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/error.hpp>
#include <granary/linalg/kernels/portable/subtract_product.hpp>

#include <cmath>
#include <string>

namespace granary::kernels::portable {
namespace detail {

/// L(j,j)², from columns [first, j) of L and A(j,j), which is overwritten only when its whole panel is known.
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

}  // namespace detail

/// Cholesky factorization in place, A = L L^H with L in the lower triangle, for backends without a vendor library. The
/// upper triangle is not referenced, nor are imaginary parts on the diagonal. n³/3 flops.
///
/// A is a View of rank 2 of one of the four scalars in any layout, `info` one of rank 0 of int; the instance can access
/// both. Everything is enqueued on the instance; nothing waits, and nothing is allocated. Then info() is 0, or k > 0
/// when the leading minor of order k is not positive definite (A is partly overwritten then). Throws InvalidArgument
/// when A is not square.
///
/// Panels of 32 columns: column by column, each row on its own (left-looking within the panel), then one update of all
/// that is right of the panel. n + 2 n/32 kernels.
template <class ExecutionSpace, class Matrix, class Info>
void potrf(ExecutionSpace const& instance, Matrix const& a, Info const& info) {
  using T = typename Matrix::non_const_value_type;
  using Range = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<int>>;
  int const n = static_cast<int>(a.extent(0));
  if (a.extent(1) != a.extent(0)) {
    throw InvalidArgument("potrf: A is " + std::to_string(n) + "x" + std::to_string(a.extent(1)) + ", not square");
  }
  Kokkos::parallel_for(
      "granary::portable::potrf::begin", Range(instance, 0, 1), KOKKOS_LAMBDA(int) { info() = 0; });
  for (int first = 0; first < n; first += panel_width) {
    int const last = std::min(first + panel_width, n);
    detail::SquaredPivot<Matrix> const squared{a, first};
    for (int j = first; j < last; ++j) {
      // L(i,j) := (A(i,j) - Σ L(i,p) conj(L(j,p))) / L(j,j)
      Kokkos::parallel_for(
          "granary::portable::potrf::column", Range(instance, j, n), KOKKOS_LAMBDA(int i) {
            RealOf<T> const pivot = squared(j);
            if (i == j) {
              if (!(pivot > 0) && info() == 0) info() = j + 1;
              return;
            }
            T rest = a(i, j);
            for (int p = first; p < j; ++p) rest -= a(i, p) * conjugate(a(j, p));
            a(i, j) = rest / std::sqrt(pivot);
          });
    }
    Kokkos::parallel_for(
        "granary::portable::potrf::diagonal", Range(instance, first, last),
        KOKKOS_LAMBDA(int j) { a(j, j) = T(std::sqrt(squared(j))); });
    SubtractProduct<true, Matrix>(a, {last, n, last, n, first, last}).launch(instance);
  }
}

}  // namespace granary::kernels::portable
