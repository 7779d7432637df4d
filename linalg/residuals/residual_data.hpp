// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>

#include <vector>

namespace granary::detail {

/// Data of one double each that the tasks overwrite. Pass their values to scaled_residual().
struct GRANARY_EXPORT ResidualData {
  DataId residual;  ///< largest 1-norm of a column of the difference; for a solve, divided by the 1-norm of X's column
  DataId norm;      ///< the 1-norm of the matrix
  /// Of a solve, for each tile column of X: a double for each of its columns, the 1-norm of the difference divided by
  /// X's. Empty: not wanted.
  std::vector<DataId> columns = {};
};

}  // namespace granary::detail
