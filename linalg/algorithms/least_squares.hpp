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

/// 10 n ε: a column whose part outside the span of those before it is smaller, compared with the column, depends on
/// them up to rounding.
template <class T>
[[nodiscard]] GRANARY_EXPORT double rank_tolerance(std::uint64_t cols);

/// Throws RankDeficient if |r_jj| <= tolerance ‖r_j‖₂ in the upper triangle R, for the first such column. With
/// tolerance 0: if r_jj is exactly zero. O(n²) time.
template <class T>
GRANARY_EXPORT void require_full_rank(TileView<T const> r, double tolerance);

/// LeastSquares::condition of an upper triangle; infinite if it is singular. n³/3 flops, n² entries of memory.
template <class T>
[[nodiscard]] GRANARY_EXPORT double scaled_condition(TileView<T const> r);

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
