// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/data/scalar.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>
#include <granary/detail/linalg/tiles/task_emitter.hpp>

/// Norms as in LAPACK's xLANGE, xLANTR, xLANHE: max |a_ij| (Max), the largest column sum (One), the largest row sum
/// (Infinity), the Frobenius norm, without overflow or underflow; NaN if a counted element is NaN. Sums are taken in
/// double precision for every T, in an order that depends only on the grid.
///
/// A task per tile reads it once and writes partial sums (at most 16 bytes per row or column) to temporary data; a task
/// per tile column adds them, and one more writes `result`.
namespace granary {

/// Overwrites the datum `result`, one double, with the norm of A. If A's part is Lower or Upper, elements outside that
/// triangle or trapezoid count as zero. Throws what Submitter documents.
template <class T>
GRANARY_EXPORT void submit_lange(TaskEmitter& tasks, Norm norm, detail::TiledMatrix<T> const& a, DataId result);

/// The same for a Hermitian matrix (symmetric if T is real) stored in A's part, Lower or Upper. Throws InvalidArgument
/// if A is not square or its part is All, and what Submitter documents.
template <class T>
GRANARY_EXPORT void submit_lanhe(TaskEmitter& tasks, Norm norm, detail::TiledMatrix<T> const& a, DataId result);

}  // namespace granary
