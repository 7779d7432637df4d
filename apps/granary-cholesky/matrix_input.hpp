// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/linalg/files/matrix_source.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace granary::app {

/// The matrix that INPUT names: a file, or `random:N[:seed]`.
struct MatrixInput {
  std::optional<MatrixFileInfo> file;  ///< absent: random
  std::uint64_t n = 0;
  std::uint64_t seed = 1;
  ScalarType type = ScalarType::Float64;

  /// Its tiles, of which the lower triangle counts.
  [[nodiscard]] std::unique_ptr<MatrixSource> open(std::uint64_t tile, std::shared_ptr<AsyncFileIo> io) const;
};

/// `single_precision` asks for a random matrix of 32-bit elements. Throws InvalidArgument and DataError when the matrix
/// cannot be opened, is not square, or is malformed.
[[nodiscard]] MatrixInput find_matrix(std::string const& input, bool single_precision);

}  // namespace granary::app
