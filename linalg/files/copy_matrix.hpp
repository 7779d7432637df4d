// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/files/matrix_output.hpp>
#include <granary/detail/linalg/files/matrix_source.hpp>

namespace granary::detail {

/// Called repeatedly during long work on files, on the caller's thread; an exception ends the work.
using Between = std::function<void()>;

/// Throws InvalidArgument if a tile of the wider of both types does not fit in `memory`.
GRANARY_EXPORT void check_copy_memory(TileGrid const& grid, ScalarType from, ScalarType to, Bytes memory);

/// Copies every tile of a matrix into an output with the same TileGrid, and converts the elements if the types differ.
/// Up to 8 tiles are in flight, in at most `memory` bytes. Does not commit. Throws InvalidArgument like
/// check_copy_memory, or if the grids differ, or if the source is complex and the output is not; and what reading and
/// writing throw.
GRANARY_EXPORT void copy_matrix(MatrixSource& source, MatrixOutput& output, Bytes memory, Between const& between = {});

}  // namespace granary::detail
