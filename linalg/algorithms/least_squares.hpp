// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/algorithms/rank_deficient.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>
#include <granary/detail/linalg/kernels/tile_view.hpp>
#include <granary/detail/linalg/tiles/task_emitter.hpp>

#include <memory>
#include <span>
#include <vector>

/// Least squares from the triangle of [A B] = Q [R C; 0 P], with R of order n: X = R⁻¹ C, and the columns of P have the
/// norms of the residuals. T is float, double, Kokkos::complex<float> or Kokkos::complex<double>.
namespace granary {

/// What a least-squares solution says besides X.
struct GRANARY_EXPORT LeastSquares {
  std::vector<double> residual_norms;  ///< ‖b - A x‖₂ for each column of B
  /// ‖S‖₁ ‖S⁻¹‖₁ of R with columns of norm 1: the condition of A but for a factor of at most n, whatever units its
  /// columns have; of nearly square matrices a lower bound, see gels. X has about 16 - log10 of it correct digits in
  /// double precision, fewer if residuals are large.
  double condition = 0;
};

namespace detail {

/// 10 ε max(n, √min(m, 2¹⁴)) for m rows and n columns: what rounding leaves of a column that depends on others,
/// compared with the terms of the combination. Rows are folded in slices of at most 2¹⁴.
template <class T>
[[nodiscard]] GRANARY_EXPORT double rank_tolerance(std::uint64_t rows, std::uint64_t cols);

/// LeastSquares::condition of an upper triangle R; infinite if it is singular. Throws RankDeficient for the first
/// column x_j that is Σ c_i x_i of those before it up to rounding: |r_jj| <= tolerance (‖x_j‖₂ + Σ |c_i| ‖x_i‖₂). That
/// is so if column j of S⁻¹, S being R with columns of norm 1, has a 1-norm of 1 / tolerance or more. With tolerance 0:
/// only if r_jj is exactly zero. n³/3 flops, n² entries of memory.
template <class T>
GRANARY_EXPORT double checked_condition(TileView<T const> r, double tolerance);

/// Solves from the triangle of [A B], of order n + k; X is n x k. Throws RankDeficient, and NotFinite if X or the
/// triangle is not finite.
template <class T>
GRANARY_EXPORT LeastSquares solve_triangle(TileView<T const> triangle, double tolerance, TileView<T> x);

/// Emits the task that does so, and sets `result`. It also waits for `flags`, see submit_finite_checks; if they fail, X
/// does not change.
template <class T>
GRANARY_EXPORT void submit_solve_triangle(TaskEmitter& tasks, TileRef const& triangle, double tolerance,
                                          TiledMatrix<T> const& x, std::span<DataId const> flags,
                                          std::shared_ptr<LeastSquares> result);

/// Emits the task that overwrites `a` with the triangle R, with a diagonal that is not negative, and zeros below it.
template <class T>
GRANARY_EXPORT void submit_triangle(TaskEmitter& tasks, TileRef const& r, TiledMatrix<T> const& a);

}  // namespace detail
}  // namespace granary
