// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/files/matrix_file_info.hpp>
#include <granary/detail/linalg/files/matrix_source.hpp>
#include <granary/detail/linalg/generators/generators.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "apps/common/command_line.hpp"

namespace granary {
class Runtime;
}

namespace granary::app {

/// The matrix that an argument names: a file, or a generated matrix.
struct MatrixInput {
  std::string name;
  std::optional<detail::MatrixFileInfo> file;
  GeneratedMatrix generated;  ///< if there is no file
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
  ScalarType type = ScalarType::Float64;

  /// Opens one part of it in tiles of this size, for the I/O and the scratch directory of a run.
  [[nodiscard]] std::unique_ptr<detail::MatrixSource> open(std::uint64_t tile, MatrixPart part, Runtime& runtime) const;
};

/// Generated matrices get the element type of the options; the options are refused if the matrix is a file. Throws
/// InvalidArgument and DataError if the matrix cannot be opened or is malformed.
[[nodiscard]] MatrixInput find_matrix(std::string const& name, RunOptions const& options);
/// Right-hand sides. Generated ones have elements of `type`. Throws like find_matrix.
[[nodiscard]] MatrixInput find_columns(std::string const& name, ScalarType type);

/// Throws InvalidArgument if the matrix is not square.
void require_square(MatrixInput const& input);

}  // namespace granary::app
