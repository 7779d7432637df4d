// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/algorithms/tall_qr.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/common/matrix_input.hpp"

namespace granary::app {

/// The columns that the command line names.
struct ModelOptions {
  std::vector<std::string> predictors;  ///< empty: all that are nothing else
  std::vector<std::string> responses;   ///< empty: all columns of a second file
  std::vector<std::string> weights;     ///< one column, or none
  bool intercept = false;
  bool fewer_rows = false;  ///< there may be fewer rows than predictors
};

/// A linear model: the columns of [predictors responses] in the data.
struct Model {
  std::vector<std::string> predictors;  ///< their names, with the intercept
  std::vector<std::string> responses;   ///< their names
  bool intercept = false;               ///< the first predictor is a column of ones
  bool weighted = false;
  detail::ColumnChoice choice;  ///< in the columns of the data, and then those of the second file

  [[nodiscard]] std::uint64_t columns() const { return choice.columns.size(); }
};

/// Finds the columns. Of a CSV file, `data` then reads the chosen ones only. `second` has the responses, unless it is
/// null. Throws InvalidArgument if a column does not exist or is chosen twice, if there is no predictor or no response,
/// or if there are fewer rows than predictors and these must not be fewer.
[[nodiscard]] Model make_model(ModelOptions const& options, MatrixInput& data, MatrixInput const* second);

}  // namespace granary::app
