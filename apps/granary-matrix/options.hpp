// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/units.hpp>
#include <granary/detail/linalg/files/csv_file.hpp>
#include <granary/detail/linalg/generators/generators.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace granary::app {

struct InfoOptions {
  std::string input;
  bool json = false;
};

/// Options of both subcommands that write a matrix.
struct WriteOptions {
  std::string output;
  std::optional<std::uint64_t> tile = {};
  std::optional<std::string> dataset = {};
  std::optional<bool> single_precision = {};  ///< absent: as the input, or double
  Bytes memory = 0;
};

struct ConvertOptions {
  std::string input;  ///< a file, or the name of a generated matrix
  CsvOptions csv = {};
  WriteOptions write;
};

struct GenerateOptions {
  GeneratedMatrix matrix;
  bool complex = false;
  WriteOptions write;
};

using MatrixOptions = std::variant<InfoOptions, ConvertOptions, GenerateOptions>;

/// Parses the command line. Returns nothing after printing help or the version on request. Throws InvalidArgument.
[[nodiscard]] std::optional<MatrixOptions> parse_matrix_options(int argc, char const* const* argv);

}  // namespace granary::app
