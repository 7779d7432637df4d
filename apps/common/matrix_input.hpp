// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/files/csv_file.hpp>
#include <granary/detail/linalg/files/matrix_file_info.hpp>
#include <granary/detail/linalg/files/matrix_source.hpp>
#include <granary/detail/linalg/generators/generators.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/common/command_line.hpp"

namespace granary {
class Runtime;
}

namespace granary::app {

/// The matrix that an argument names: a file, or a generated matrix.
struct MatrixInput {
  std::string name;
  std::optional<detail::MatrixFileInfo> file;
  std::optional<CsvInfo> csv = {};  ///< of a CSV file, which only programs that read rows in order take
  GeneratedMatrix generated;        ///< without a file
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
  ScalarType type = ScalarType::Float64;

  [[nodiscard]] bool is_generated() const { return !file && !csv; }
  /// Its file; empty if it is generated.
  [[nodiscard]] std::string path() const { return file ? file->path : csv ? csv->path : std::string(); }
  /// The names of its columns; empty without names.
  [[nodiscard]] std::vector<std::string> columns() const;
  /// Opens one part of it, which is no CSV file, in tiles of this size, for the I/O and the scratch directory of a run.
  [[nodiscard]] std::unique_ptr<detail::MatrixSource> open(std::uint64_t tile, MatrixPart part, Runtime& runtime) const;
};

/// Generated matrices get the element type of the options; the options are refused if the matrix is a file. Throws
/// InvalidArgument and DataError if the matrix cannot be opened or is malformed.
[[nodiscard]] MatrixInput find_matrix(std::string const& name, RunOptions const& options);
/// The same, or a CSV file: if the name ends so, or there is a separator. Throws InvalidArgument if it is none and the
/// options for CSV are set.
[[nodiscard]] MatrixInput find_table(std::string const& name, RunOptions const& options, CsvOptions const& csv);
/// Right-hand sides. Generated ones have elements of `type`. Throws like find_matrix.
[[nodiscard]] MatrixInput find_columns(std::string const& name, ScalarType type);

/// Throws InvalidArgument if the matrix is not square.
void require_square(MatrixInput const& input);

}  // namespace granary::app
