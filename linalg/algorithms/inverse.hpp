// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>
#include <granary/detail/linalg/tiles/singular.hpp>
#include <granary/detail/linalg/tiles/task_emitter.hpp>

/// The inverse of a Hermitian positive definite matrix from its Cholesky factor, whole or its diagonal alone. T is one
/// of the four scalars.
namespace granary {

/// Emits the tasks that overwrite the Cholesky factor in A's part, from potrf, with that triangle of A⁻¹ = L⁻ᴴ L⁻¹ =
/// U⁻¹ U⁻ᴴ. In place: there is no temporary data. 2n³/3 flops (8n³/3 if T is complex).
///
/// Two sweeps over N tiles per row, as LAPACK's: the first makes L⁻¹, tile column by tile column from the last, by
/// solving X L = I; the second X^H X, tile row by tile row. The residual I - A A⁻¹ is then of the size u κ(A), for
/// either triangle; from solutions of L X = I, as of LAPACK's for the upper triangle, it would be u κ(A)^(3/2). (One
/// sweep for both, in Bientinesi, Gunter, van de Geijn: Families of algorithms related to the inversion of a symmetric
/// positive definite matrix, ACM TOMS 35, 2008, solves with L on both sides and is as inaccurate.)
///
/// `stack` is the number of tiles of a tile column that one task updates: more than 1 is faster where the tiles are
/// parts of one matrix in memory, on hosts.
///
/// A task throws Singular if a diagonal element of the factor is exactly zero; A is then partly overwritten. Throws
/// InvalidArgument if A is not square or its part is All, and what Submitter documents.
template <class T>
GRANARY_EXPORT void potri(TaskEmitter& tasks, detail::TiledMatrix<T> const& a, std::uint64_t stack = 1);

/// Overwrites d, a column with A's tile size, with the diagonal of A⁻¹: d_j = Σ_i |x_ij|², X = L⁻¹. The factor is only
/// read. n³/3 flops (4n³/3), half of potri's.
///
/// X is computed in groups of tile columns, as many as fit in half of `memory` but at least one, in temporary tiles:
/// each tile of the factor is read once for each group on its left.
///
/// Errors as of potri.
template <class T>
GRANARY_EXPORT void submit_inverse_diag(TaskEmitter& tasks, detail::TiledMatrix<T> const& factor,
                                        detail::TiledMatrix<T> const& d, Bytes memory);

}  // namespace granary
