// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/runtime/setup/options.hpp>

#include <string>
#include <vector>

#include "apps/common/command_line.hpp"
#include "apps/common/matrix_input.hpp"

namespace granary::app {

/// Throws InvalidArgument unless this names an HDF5 file, which will hold `dataset`, without a dataset. A name without
/// an ending states no format.
void check_output_name(std::string const& output, std::string const& dataset);

/// Throws InvalidArgument if `what`, which goes to `file`, and an output of the options would go to one file, or both
/// to standard output.
void check_apart(std::string const& what, std::string const& file, RunOptions const& options);

/// Checks the options before any work: outputs that are inputs or equal, missing directories, unknown policies, an
/// output whose name states another format or a dataset. `dataset`: the dataset that the output will hold. Returns the
/// runtime's options. Throws InvalidArgument.
[[nodiscard]] RuntimeOptions check_options(RunOptions const& options, std::vector<MatrixInput> const& inputs,
                                           std::string const& dataset);

}  // namespace granary::app
