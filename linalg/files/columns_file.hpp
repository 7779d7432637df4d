// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include <granary/core/base/export.hpp>
#include <granary/linalg/files/matrix_file.hpp>

namespace granary {

/// Like open_matrix_file, and a one-dimensional array is a matrix of one column: right-hand sides. In HDF5 such a
/// dataset must be named and contiguous; throws DataError otherwise.
[[nodiscard]] GRANARY_EXPORT MatrixFileInfo open_columns_file(std::string const& spec);

}  // namespace granary
