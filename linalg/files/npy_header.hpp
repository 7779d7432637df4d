// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/files/matrix_file_info.hpp>

namespace granary::detail {

/// Reads the header of a .npy file, format versions 1 to 3 (NumPy Enhancement Proposal 1); throws DataError. An array
/// of one dimension is a matrix of one column.
[[nodiscard]] MatrixFileInfo read_npy_header(std::string const& path);

}  // namespace granary::detail
