// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/files/matrix_file_info.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace granary {

/// Examines the matrix `file.h5[:/dataset]` or `file.npy`; the format follows from the content. An array of one
/// dimension is a matrix of one column. Without a dataset name the file must hold exactly one two-dimensional dataset,
/// or none and exactly one of one dimension. Throws InvalidArgument if the file cannot be opened, or if the dataset is
/// missing (the message lists the existing ones) or ambiguous. Throws DataError if the file has neither format, is
/// truncated or has no dataset of one or two dimensions, or if the dataset has more dimensions, is too large, not of a
/// ScalarType or a link that cannot be followed. Throws it also if elements would be read that nobody wrote: a source
/// of a virtual dataset or an external file is missing, or there is no fill value.
///
/// ```cpp
/// granary::write_random_spd("points.h5", /*n=*/100, /*tile=*/50, /*seed=*/1, granary::ScalarType::Float32);
/// auto const matrix = granary::open_matrix_file("points.h5:/A");
/// assert(matrix.cols == 100 && matrix.scalar_type == granary::ScalarType::Float32);
/// ```
[[nodiscard]] GRANARY_EXPORT detail::MatrixFileInfo open_matrix_file(std::string const& spec);

namespace detail {

struct GRANARY_EXPORT MatrixListing {
  std::vector<MatrixFileInfo> matrices;
  std::vector<std::string> others;  ///< for each other dataset, why it is not a readable matrix; where links lead
};

}  // namespace detail

/// All matrices in an HDF5 or .npy file, or the one dataset that `spec` names. Throws like open_matrix_file, but not if
/// there is no matrix or more than one.
[[nodiscard]] GRANARY_EXPORT detail::MatrixListing list_matrices(std::string const& spec);

}  // namespace granary
