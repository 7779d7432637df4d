// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/linalg/files/generators.hpp>
#include <granary/linalg/files/matrix_source.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "apps/common/command_line.hpp"

namespace granary::app {

/// The matrix that an argument names: a file, or a matrix that is generated.
struct MatrixInput {
  std::string name;
  std::optional<MatrixFileInfo> file;
  GeneratedMatrix generated;  ///< where there is no file
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
  ScalarType type = ScalarType::Float64;

  /// The tiles of one part of it.
  [[nodiscard]] std::unique_ptr<MatrixSource> open(std::uint64_t tile, MatrixPart part,
                                                   std::shared_ptr<AsyncFileIo> io) const;
};

/// Generated matrices have the elements that the options ask for, which are refused where the matrix is a file. Throws
/// InvalidArgument and DataError when the matrix cannot be opened or is malformed.
[[nodiscard]] MatrixInput find_matrix(std::string const& name, RunOptions const& options);
/// Right-hand sides: an array of one dimension is one column. Generated ones have elements of `type`. Throws as
/// find_matrix.
[[nodiscard]] MatrixInput find_columns(std::string const& name, ScalarType type);

/// Throws InvalidArgument when the matrix is not square.
void require_square(MatrixInput const& input);

}  // namespace granary::app
