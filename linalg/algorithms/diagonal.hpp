// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>
#include <granary/detail/linalg/tiles/task_emitter.hpp>

/// Functions of the diagonal of a matrix alone: a task per diagonal tile reads it once.
namespace granary {

/// Overwrites d, a column of as many elements as A's diagonal in the same tile size, with that diagonal. Throws
/// InvalidArgument if the sizes do not match, and what Submitter documents.
template <class T>
GRANARY_EXPORT void submit_diag(TaskEmitter& tasks, detail::TiledMatrix<T> const& a, detail::TiledMatrix<T> const& d);

/// Overwrites the datum `result`, one double, with log det(L L^H) = 2 Σ log l_ii of the Cholesky factor in A's part:
/// -infinity if a diagonal element is zero, NaN if one is negative or NaN. Sums are taken in double precision, down the
/// diagonal. Throws InvalidArgument if A is not square, and what Submitter documents.
template <class T>
GRANARY_EXPORT void submit_logdet(TaskEmitter& tasks, detail::TiledMatrix<T> const& a, DataId result);

}  // namespace granary
