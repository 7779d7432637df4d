// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include <granary/linalg/files/matrix_file.hpp>

#pragma GCC visibility push(default)

namespace granary {

/// Like open_matrix_file, and a one-dimensional array is a matrix of one column: right-hand sides. In HDF5 such a
/// dataset must be named and contiguous; throws DataError otherwise.
[[nodiscard]] MatrixFileInfo open_columns_file(std::string const& spec);

}  // namespace granary

#pragma GCC visibility pop
