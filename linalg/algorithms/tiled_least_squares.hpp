// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/algorithms/least_squares.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>
#include <granary/detail/linalg/kernels/elementwise_kernels.hpp>
#include <granary/detail/linalg/tiles/task_emitter.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

/// Least squares by a QR factorization of copies of A and B, for matrices whose chains of rows would be too
/// short for TSQR. T is float, double, Kokkos::complex<float> or Kokkos::complex<double>.
namespace granary::detail {

/// What the tasks find besides X. They access `data`, which the caller binds to any bytes in place.
struct GRANARY_EXPORT TiledLeastSquares {
  double smallest = 1;                              ///< |r_jj| / ‖r_j‖₂
  std::vector<kernels::ScaledSquares> residuals{};  ///< for each column of B
  DataId data{};

  /// The condition is at least 1 / smallest.
  [[nodiscard]] LeastSquares result() const;
};

/// True if TSQR is the faster one: the rows are many, or the columns few.
[[nodiscard]] constexpr bool suits_tall_qr(std::uint64_t rows, std::uint64_t cols) {
  return cols <= 256 || rows / 16 >= cols;
}

/// Emits the tasks of X := argmin ‖B - A X‖₂, m x n with m >= n, in temporary tiles for copies of A and B: by panels if
/// `memory` holds four tile columns of A, else by tiles. 2 n² (m - n/3) flops, and 4 m n for each column of B. Errors
/// and `flags` as of submit_solve_triangle; RankDeficient names no other columns.
template <class T>
GRANARY_EXPORT void submit_tiled_least_squares(TaskEmitter& tasks, TiledMatrix<T> const& a, TiledMatrix<T> const& b,
                                               double tolerance, TiledMatrix<T> const& x, std::span<DataId const> flags,
                                               std::shared_ptr<TiledLeastSquares> const& found, Bytes memory);

}  // namespace granary::detail
