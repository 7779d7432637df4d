// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/runtime/solve.hpp>

#include <granary/detail/core/backends/kokkos_core.hpp>
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/linalg/kernels/elementwise_kernels.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <sstream>
#include <vector>

/// Estimates of reciprocal condition numbers 1 / (‖A‖ ‖A⁻¹‖) from a factorization. Each makes two solves with three
/// right-hand sides, 12 n² flops: the factors are read, from their file too, no more often than these need. They wait
/// between the solves, and so have no form that only submits. One process only. Temporary memory: three columns, beside
/// the memory limit.
///
/// ```cpp
/// using Matrix = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
/// Matrix a("A", 300, 300);
/// granary::Runtime runtime;
/// granary::set(runtime, 0.0, 4.0, a);
/// a(299, 299) = 1.0;
/// double const norm = granary::lanhe(runtime, granary::Norm::One, granary::Uplo::Lower, a);
/// granary::potrf(runtime, granary::Uplo::Lower, a);
/// assert(granary::pocon(runtime, granary::Uplo::Lower, a, norm) == 0.25);
/// ```
namespace granary {
namespace detail {

/// Throws InvalidArgument if a norm is negative or NaN.
template <class R>
void require_norm(RuntimeCall runtime, char const* call, R norm) {
  runtime.checked([&] {
    if (norm >= 0) return;
    std::ostringstream text;
    text << call << ": the norm of A cannot be " << norm;
    throw InvalidArgument(text.str());
  });
}

/// The numbers of the `count` rows of x with the largest norms.
template <class View>
[[nodiscard]] std::vector<std::size_t> largest_rows(View const& x, std::size_t count) {
  std::vector<RealOf<typename View::non_const_value_type>> norms(x.extent(0));
  for (std::size_t j = 0; j < x.extent(1); ++j) {
    for (std::size_t i = 0; i < x.extent(0); ++i) norms[i] = std::hypot(norms[i], modulus(x(i, j)));
  }
  std::vector<std::size_t> rows(x.extent(0));
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  auto const end = rows.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(rows.begin(), end, rows.end(), [&](std::size_t a, std::size_t b) { return norms[a] > norms[b]; });
  rows.resize(count);
  return rows;
}

/// 1 / (norm ‖X‖₁) for the matrix X of order n; apply(op, x) replaces the columns of the View x by op(X) x, op being
/// NoTrans or ConjTrans. Products of X^H with random signs show which columns of X are largest: the norms of three of
/// these are computed. It is one step of Higham's and Tisseur's block estimator (A block algorithm for matrix 1-norm
/// estimation, SIAM J. Matrix Anal. 21, 2000, algorithm 2.4) that begins with X^H. The further steps rarely
/// raise the estimate, and each reads the factors again. 0 if a product overflows or is NaN, as the solves of a matrix
/// do that is singular to working precision.
template <class T, class Apply>
[[nodiscard]] RealOf<T> reciprocal_condition(std::uint64_t n, RealOf<T> norm, Apply const& apply) {
  if (norm == 0) return 0;
  auto const columns = std::min<std::size_t>(n, 3);
  Kokkos::View<T**, Kokkos::LayoutLeft, Kokkos::HostSpace> const x("condition estimate", n, columns);
  Random random(1);
  for (std::size_t j = 0; j < columns; ++j) {
    for (std::size_t i = 0; i < n; ++i) x(i, j) = T(random.below(2) == 0 ? 1 : -1);
  }
  auto const largest_sum = [&] {
    double largest = 0;
    for (std::size_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i) sum += modulus(x(i, j));
      largest = kernels::max_or_nan(largest, sum);
    }
    return largest;
  };
  apply(Op::ConjTrans, x);
  if (!std::isfinite(largest_sum())) return 0;
  auto const rows = largest_rows(x, columns);
  Kokkos::deep_copy(x, T(0));
  for (std::size_t j = 0; j < columns; ++j) x(rows[j], j) = T(1);
  apply(Op::NoTrans, x);
  auto const inverse_norm = largest_sum();
  return std::isfinite(inverse_norm) && inverse_norm > 0 ? static_cast<RealOf<T>>(1 / inverse_norm / norm) : 0;
}

}  // namespace detail

/// The reciprocal condition number in the 1-norm (equal to that in the infinity norm) of a Hermitian positive definite
/// matrix, from its Cholesky factor, from potrf, in the triangle `uplo`, and its own 1-norm, from lanhe; xPOCON. Never
/// smaller than the true one but for rounding, and rarely twice as large; exact for n <= 3. 0 if the matrix is singular
/// to working precision. Throws InvalidArgument if A is not square or `norm` is negative or NaN, and what potrs throws.
template <MatrixOperand A>
[[nodiscard]] auto pocon(RuntimeCall runtime, Uplo uplo, A const& factor, detail::RealOf<detail::ScalarOf<A>> norm,
                         detail::TileSize tile = {}) -> detail::RealOf<detail::ScalarOf<A>> {
  runtime.refuse_in_task("pocon");
  runtime.refuse_with_others("pocon does not work");
  detail::require_norm(runtime, "pocon", norm);
  return detail::reciprocal_condition<detail::ScalarOf<A>>(
      detail::order_of(runtime, "pocon", factor), norm,
      [&](Op, auto const& x) { potrs(runtime.as("pocon"), uplo, factor, x, tile); });
}

/// The reciprocal condition number in the 1-norm, or with Norm::Infinity in that, of a matrix from its factors and row
/// exchanges, from getrf, and its own norm of that kind, from lange; xGECON. Otherwise as pocon. Throws InvalidArgument
/// for another norm, too.
template <MatrixOperand A>
[[nodiscard]] auto gecon(RuntimeCall runtime, Norm kind, A const& lu, Pivots const& pivots,
                         detail::RealOf<detail::ScalarOf<A>> norm) -> detail::RealOf<detail::ScalarOf<A>> {
  runtime.refuse_in_task("gecon");
  runtime.refuse_with_others("gecon does not work");
  runtime.checked([&] {
    if (kind != Norm::One && kind != Norm::Infinity)
      throw InvalidArgument("gecon estimates the condition in the one norm or in the infinity norm, not in another");
  });
  detail::require_norm(runtime, "gecon", norm);
  // ‖X‖ in the infinity norm is the 1-norm of X^H.
  return detail::reciprocal_condition<detail::ScalarOf<A>>(
      detail::order_of(runtime, "gecon", lu), norm, [&](Op op, auto const& x) {
        bool const as_it_is = (op == Op::NoTrans) == (kind == Norm::One);
        getrs(runtime.as("gecon"), as_it_is ? Op::NoTrans : Op::ConjTrans, lu, pivots, x);
      });
}

}  // namespace granary
