// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/linalg/data/pivots.hpp>
#include <granary/detail/linalg/data/scalar.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>
#include <granary/detail/linalg/residuals/residual_data.hpp>
#include <granary/detail/linalg/tiles/task_emitter.hpp>

#include <cstdint>

/// The scaled residuals of LAPACK's own tests, as tasks on at most three tiles each. LAPACK requires a result below 30;
/// backward stable routines reach less than 1 for most matrices.
///
/// Products are accumulated in T, block by block in temporary tiles that fit in a given memory; differences and column
/// sums use double precision. T is one of the four scalars; all matrices of a call have one tile size.
namespace granary {

/// Tiles per side of the blocks of residual tiles: the largest c for which c² accumulators, a column of 2 c tiles of
/// the factor and 2 c prefetched tiles fit in `memory`; at least 1, at most the number of tiles per row.
[[nodiscard]] GRANARY_EXPORT std::uint64_t residual_block(detail::TileGrid const& grid, Bytes tile_bytes, Bytes memory);

/// Measures A - L L^H (if the factor's part is Lower) or A - U^H U (Upper), like xPOT01: n³/3 flops (4n³/3 if T is
/// complex). Only that triangle of A and of the factor is read; A's part is the same or All. Each tile of A is read
/// once. Throws InvalidArgument if grids or parts do not match, and what Submitter documents.
template <class T>
GRANARY_EXPORT void submit_potrf_residual(TaskEmitter& tasks, detail::TiledMatrix<T> const& a,
                                          detail::TiledMatrix<T> const& factor, Bytes memory,
                                          detail::ResidualData const& results);

/// Measures P A - L U, like xGET01, with L and U in one m x n matrix and P from row exchanges (null: none). 2n³/3 flops
/// (8n³/3) if m is n.
///
/// With pivots the exchanges are undone on the product: the 1-norm of A - P^T L U is the same. A is read once and not
/// copied. The accumulators are whole tile columns, as many as fit, and L is read once for each group of them. If not
/// even one fits, accumulators are evicted and reloaded.
/// Throws InvalidArgument if the grids do not match or a part is not All, and what Submitter documents.
template <class T>
GRANARY_EXPORT void submit_getrf_residual(TaskEmitter& tasks, detail::TiledMatrix<T> const& a,
                                          detail::TiledMatrix<T> const& lu, detail::PivotData const* pivots,
                                          Bytes memory, detail::ResidualData const& results);

/// Measures B - op(A) X, like xGET02 and xPOT02, column by column. If A's part is a triangle, A is the Hermitian matrix
/// stored in it, and op is not Trans if T is complex. The norm is op(A)'s. 2 n² flops per column (8 n²). Throws
/// InvalidArgument if grids, parts or the number of `columns` do not match, and what Submitter documents.
template <class T>
GRANARY_EXPORT void submit_solve_residual(TaskEmitter& tasks, Op op, detail::TiledMatrix<T> const& a,
                                          detail::TiledMatrix<T> const& x, detail::TiledMatrix<T> const& b,
                                          Bytes memory, detail::ResidualData const& results);

/// residual / (n norm ε), where ε is LAPACK's 'Epsilon': the maximum relative rounding error, 2⁻⁵³ or 2⁻²⁴. For a solve
/// n is 1: it is not divided by the order. 0 if the residual is 0; 1 / ε if only the norm is 0.
template <class T>
[[nodiscard]] GRANARY_EXPORT double scaled_residual(double residual, double norm, std::uint64_t n);

}  // namespace granary
