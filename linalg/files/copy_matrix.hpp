// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>

#include <granary/linalg/files/matrix_output.hpp>
#include <granary/linalg/files/matrix_source.hpp>

#pragma GCC visibility push(default)

namespace granary {

/// Is called again and again during long work on files, on the caller's thread; what it throws ends the work.
using Between = std::function<void()>;

/// Throws InvalidArgument when a tile of the wider of both types does not fit in `memory`.
void check_copy_memory(TileGrid const& grid, ScalarType from, ScalarType to, Bytes memory);

/// Copies every tile of a matrix into an output of the same TileGrid, rounding or widening its elements where the types
/// differ. Up to 8 tiles are under way, and at most `memory` bytes of them. Does not commit. Throws InvalidArgument as
/// check_copy_memory, or when the grids differ, or the source is complex and the output is not; and what reading and
/// writing say.
void copy_matrix(MatrixSource& source, MatrixOutput& output, Bytes memory, Between const& between = {});

}  // namespace granary

#pragma GCC visibility pop
