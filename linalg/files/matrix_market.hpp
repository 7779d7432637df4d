// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <granary/linalg/files/copy_matrix.hpp>

#pragma GCC visibility push(default)

namespace granary {

/// A Matrix Market file: text, which is converted from and to and never factored from. The format is that of R. F.
/// Boisvert, R. Pozo, K. Remington: The Matrix Market Exchange Formats, NISTIR 5935, 1996.
struct MatrixMarketInfo {
  enum class Symmetry { General, Symmetric, Hermitian, Skew };

  std::string path;
  bool coordinate = false;  ///< entries `row column value`; else all of them, one column after the other
  Symmetry symmetry = Symmetry::General;
  ScalarType scalar_type = ScalarType::Float64;  ///< Float64, of integers too, or Complex128
  bool integer = false;
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
  std::uint64_t entries = 0;  ///< lines of values
  std::uint64_t header_bytes = 0;
  std::uint64_t header_lines = 0;
};

[[nodiscard]] constexpr char const* name_of(MatrixMarketInfo::Symmetry symmetry) {
  switch (symmetry) {
    case MatrixMarketInfo::Symmetry::General:
      return "general";
    case MatrixMarketInfo::Symmetry::Symmetric:
      return "symmetric";
    case MatrixMarketInfo::Symmetry::Hermitian:
      return "hermitian";
    case MatrixMarketInfo::Symmetry::Skew:
      return "skew-symmetric";
  }
  return "unknown";
}

/// Whether the file starts as a Matrix Market file does.
[[nodiscard]] bool is_matrix_market(std::string const& path);

/// Reads the header. Throws InvalidArgument when the file cannot be opened, DataError when it is malformed, and for
/// `pattern` and `vector` files.
[[nodiscard]] MatrixMarketInfo open_matrix_market(std::string const& path);

/// Writes the whole matrix, with both triangles and with zeros where there is no entry, into an output of its extents.
/// Entries of the same place are added. Holds as many tiles of the output as `memory` allows, and reads the text once
/// for each such share of the matrix; once in all where it is a general array and a tile column fits. Does not commit.
/// Throws InvalidArgument when a single tile does not fit or the matrix is complex and the output is not, DataError
/// with the line where the text is malformed.
void read_matrix_market(MatrixMarketInfo const& info, MatrixOutput& output, Bytes memory, Between const& between = {});

/// Writes a matrix as an array of real or complex numbers, with the fewest digits that round to the same ones again.
/// Holds a tile column: market_memory(). Throws InvalidArgument when the file cannot be created or `memory` is less.
void write_matrix_market(MatrixSource& source, std::string const& path, Bytes memory, Between const& between = {});

/// Bytes of the tiles of one tile column.
[[nodiscard]] Bytes market_memory(TileGrid const& grid, ScalarType type);

}  // namespace granary

#pragma GCC visibility pop
