// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/linalg/runtime/solve.hpp>

#include <granary/core/backends/kokkos_core.hpp>
#include <granary/linalg/kernels/blas.hpp>

#include <cmath>
#include <limits>
#include <sstream>
#include <vector>

/// Estimates of reciprocal condition numbers 1 / (‖A‖ ‖A⁻¹‖) from a factorization, with Higham's estimator of ‖A⁻¹‖
/// (LAPACK's xLACN2). Each makes about five solves with one right-hand side: 10 n² to 20 n² flops, and the factor is
/// read, from its file too, as often. They wait between the solves, and so have no form that only submits. Temporary
/// memory: two columns, three if real, beside the memory limit.
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
void require_norm(char const* call, R norm) {
  if (norm >= 0) return;
  std::ostringstream text;
  text << call << ": the norm of A cannot be " << norm;
  throw InvalidArgument(text.str());
}

/// 1 / (norm ‖X‖₁) for the matrix X of order n that apply(op, x) multiplies the View x by, in place: 0 if a product
/// overflows or is NaN, as the solves of a matrix do that is singular to working precision. 1 for n = 0.
template <class T, class Apply>
[[nodiscard]] RealOf<T> reciprocal_condition(std::uint64_t n, RealOf<T> norm, Apply const& apply) {
  if (n == 0) return 1;
  if (norm == 0) return 0;
  Kokkos::View<T*, Kokkos::HostSpace> const x("condition estimate", n);
  std::vector<T> v(n);
  std::vector<int> signs(is_complex<T> ? 0 : n);
  blas::NormEstimator<T> state;
  while (int const step = blas::lacn2(static_cast<int>(n), v.data(), x.data(), signs.data(), state)) {
    apply(step == 1 ? Op::NoTrans : Op::ConjTrans, x);
    RealOf<T> sum = 0;
    for (std::uint64_t i = 0; i < n; ++i) sum += modulus(x(i));
    if (!std::isfinite(sum)) return 0;
  }
  return state.estimate == 0 ? 0 : 1 / state.estimate / norm;
}

}  // namespace detail

/// The reciprocal condition number in the 1-norm (equal to that in the infinity norm) of a Hermitian positive definite
/// matrix, from its Cholesky factor, from potrf, in the triangle `uplo`, and its own 1-norm, from lanhe; xPOCON. Never
/// smaller than the true one but for rounding, and rarely larger than three times that. 0 if the matrix is singular to
/// working precision. Throws InvalidArgument if A is not square or `norm` is negative or NaN, and what potrs throws.
template <MatrixOperand A>
[[nodiscard]] auto pocon(Runtime& runtime, Uplo uplo, A const& factor, RealOf<ScalarOf<A>> norm, TileSize tile = {})
    -> RealOf<ScalarOf<A>> {
  runtime.refuse_in_task("pocon");
  detail::require_norm("pocon", norm);
  return detail::reciprocal_condition<ScalarOf<A>>(detail::order_of(runtime, "pocon", factor), norm,
                                                   [&](Op, auto const& x) { potrs(runtime, uplo, factor, x, tile); });
}

/// The reciprocal condition number in the 1-norm, or with Norm::Infinity in that, of a matrix from its factors and row
/// exchanges, from getrf, and its own norm of that kind, from lange; xGECON. Otherwise as pocon. Throws InvalidArgument
/// for another norm, too.
template <MatrixOperand A>
[[nodiscard]] auto gecon(Runtime& runtime, Norm kind, A const& lu, Pivots const& pivots, RealOf<ScalarOf<A>> norm)
    -> RealOf<ScalarOf<A>> {
  runtime.refuse_in_task("gecon");
  if (kind != Norm::One && kind != Norm::Infinity) {
    throw InvalidArgument("gecon estimates the condition in the one norm or in the infinity norm, not in another");
  }
  detail::require_norm("gecon", norm);
  // ‖X‖ in the infinity norm is the 1-norm of X^H.
  return detail::reciprocal_condition<ScalarOf<A>>(
      detail::order_of(runtime, "gecon", lu), norm, [&](Op op, auto const& x) {
        bool const as_it_is = (op == Op::NoTrans) == (kind == Norm::One);
        getrs(runtime, as_it_is ? Op::NoTrans : Op::ConjTrans, lu, pivots, x);
      });
}

}  // namespace granary
