// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/linalg/scalar.hpp>
#include <granary/linalg/task_emitter.hpp>
#include <granary/linalg/tiled_matrix.hpp>

#pragma GCC visibility push(default)

/// Norms as LAPACK's xLANGE, xLANTR, xLANHE compute them: max |a_ij| (Max), the largest column sum (One), the largest
/// row sum (Infinity), the Frobenius norm, without overflow or underflow; NaN if an element counts that is NaN. Sums
/// are taken in double precision for every T, and in an order that depends on the grid alone.
///
/// A task per tile reads it once and leaves partial sums (at most 16 bytes per row or column) in temporary data; a task
/// per tile column adds these up, and one more writes `result`.
namespace granary {

/// The datum `result`, of one double, is overwritten by the norm of A. Of a part Lower or Upper only the elements of
/// that triangle or trapezoid count, those elsewhere are zero. Throws what Submitter documents.
template <class T>
void submit_lange(TaskEmitter& tasks, Norm norm, TiledMatrix<T> const& a, DataId result);

/// The same of the Hermitian matrix (symmetric where T is real) of which A's part, Lower or Upper, is stored. Throws
/// InvalidArgument when A is not square or its part is All, and what Submitter documents.
template <class T>
void submit_lanhe(TaskEmitter& tasks, Norm norm, TiledMatrix<T> const& a, DataId result);

}  // namespace granary

#pragma GCC visibility pop
