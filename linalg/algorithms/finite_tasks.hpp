// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/export.hpp>
#include <granary/linalg/data/scalar.hpp>
#include <granary/linalg/data/tiled_matrix.hpp>
#include <granary/linalg/tiles/task_emitter.hpp>

#include <string>

namespace granary {

/// Emits one task per tile of A, which searches A's part for NaN and infinity. A task throws InvalidArgument, `<name>
/// holds NaN at (i, j)`, with the indices in A, counted from 0, of the tile's first such element in memory order. One
/// pass over A at about memory bandwidth; nothing is written. With `hermitian`, imaginary parts on the diagonal do not
/// count.
template <class T>
GRANARY_EXPORT void submit_finite_checks(TaskEmitter& tasks, TiledMatrix<T> const& a, bool hermitian,
                                         std::string const& name);

}  // namespace granary
