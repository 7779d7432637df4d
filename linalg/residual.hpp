// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/units.hpp>
#include <granary/linalg/pivots.hpp>
#include <granary/linalg/scalar.hpp>
#include <granary/linalg/task_emitter.hpp>
#include <granary/linalg/tiled_matrix.hpp>

#include <cstdint>

#pragma GCC visibility push(default)

/// The scaled residuals of LAPACK's own tests, as tasks on at most three tiles each. A result below 30 is what LAPACK
/// asks of its routines; backward stable ones give less than 1 on most matrices.
///
/// Products are accumulated in T, block by block in temporary tiles that fit in a given memory; differences and column
/// sums are taken in double precision. T is one of the four scalars; all matrices of a call have one tile size.
namespace granary {

/// Data of one double each that the tasks overwrite. Give them to scaled_residual().
struct ResidualData {
  DataId residual;  ///< the largest column sum of moduli of the difference; of a solve, relative to that of X's column
  DataId norm;      ///< the 1-norm of the matrix
};

/// Tiles per side of the blocks in which residual tiles are accumulated: the largest c for which c² accumulators and a
/// column of 2 c tiles of the factor, with as many to come, fit in `memory`; at least 1, at most the tiles in a row.
[[nodiscard]] std::uint64_t residual_block(TileGrid const& grid, Bytes tile_bytes, Bytes memory);

/// Measures A - L L^H (the factor's part is Lower) or A - U^H U (Upper), as xPOT01 does: n³/3 flops (4n³/3 where T is
/// complex). Only that triangle of A and of the factor is read; A's part is the same one or All. Each tile of A is read
/// once. Throws InvalidArgument when grids or parts do not match, and what Submitter documents.
template <class T>
void submit_potrf_residual(TaskEmitter& tasks, TiledMatrix<T> const& a, TiledMatrix<T> const& factor, Bytes memory,
                           ResidualData const& results);

/// Measures P A - L U, as xGET01 does, with L and U in one m x n matrix and P from row exchanges (null: none). 2n³/3
/// flops (8n³/3) where m is n.
///
/// With pivots the exchanges are undone on the product: the 1-norm of A - P^T L U is the same. A is read once and not
/// copied. The accumulators then are whole tile columns, as many as fit, and L is read once for each group of
/// them; where not even one fits, accumulators are swapped out and in.
/// Throws InvalidArgument when the grids do not match or a part is not All, and what Submitter documents.
template <class T>
void submit_getrf_residual(TaskEmitter& tasks, TiledMatrix<T> const& a, TiledMatrix<T> const& lu,
                           PivotData const* pivots, Bytes memory, ResidualData const& results);

/// Measures B - op(A) X, as xGET02 and xPOT02 do, column by column. Where A's part is a triangle, A is the Hermitian
/// matrix of which that triangle is stored, and op is not Trans where T is complex. The norm is that of op(A).
/// 2 n² flops for each column (8 n²). Throws InvalidArgument when grids or parts do not match, and what Submitter
/// documents.
template <class T>
void submit_solve_residual(TaskEmitter& tasks, Op op, TiledMatrix<T> const& a, TiledMatrix<T> const& x,
                           TiledMatrix<T> const& b, Bytes memory, ResidualData const& results);

/// residual / (n norm ε), with ε what LAPACK calls 'Epsilon': the largest relative error of a rounding, 2⁻⁵³ or 2⁻²⁴.
/// Of a solve n is 1: nothing is divided by the order. 0 where the residual is; 1 / ε where only the norm is 0.
template <class T>
[[nodiscard]] double scaled_residual(double residual, double norm, std::uint64_t n);

}  // namespace granary

#pragma GCC visibility pop
