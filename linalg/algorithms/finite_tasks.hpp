// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/data/scalar.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>
#include <granary/detail/linalg/tiles/task_emitter.hpp>

#include <span>
#include <string>

namespace granary {

/// Emits one task per tile of A, which searches A's part for NaN and infinity. A task throws InvalidArgument, `<name>
/// holds NaN at (i, j)`, with the indices in A, counted from 0, of the tile's first such element in memory order. One
/// pass over A at about memory bandwidth; nothing is written. With `hermitian`, imaginary parts on the diagonal do not
/// count.
///
/// The tasks of tile row i follow each other: they change the datum flags[i], which loses its value with the first that
/// throws. So of all failures of the flags, the first submitted one belongs to the first tile.
template <class T>
GRANARY_EXPORT void submit_finite_checks(TaskEmitter& tasks, detail::TiledMatrix<T> const& a, bool hermitian,
                                         std::string const& name, std::span<DataId const> flags);

/// Emits a task that changes nothing, after all tasks so far that change the flags: if one of them failed, all later
/// tasks that need the tile are cancelled, and keep what they would have written as it is.
GRANARY_EXPORT void submit_gate(TaskEmitter& tasks, std::span<DataId const> flags, detail::TileRef const& tile);

}  // namespace granary
