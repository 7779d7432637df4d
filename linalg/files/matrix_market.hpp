// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/files/copy_matrix.hpp>

namespace granary {

/// A Matrix Market file: text that can be converted, but not factored directly. Format: R. F. Boisvert,
/// R. Pozo, K. Remington: The Matrix Market Exchange Formats, NISTIR 5935, 1996.
struct GRANARY_EXPORT MatrixMarketInfo {
  enum class Symmetry { General, Symmetric, Hermitian, Skew };

  std::string path;
  bool coordinate = false;  ///< entries `row column value`; otherwise all elements, column by column
  Symmetry symmetry = Symmetry::General;
  ScalarType scalar_type = ScalarType::Float64;  ///< Float64, also for integers, or Complex128
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

/// True if the file starts like a Matrix Market file.
[[nodiscard]] GRANARY_EXPORT bool is_matrix_market(std::string const& path);

/// Reads the header. Throws InvalidArgument if the file cannot be opened, DataError if it is malformed or a `pattern`
/// or `vector` file.
[[nodiscard]] GRANARY_EXPORT MatrixMarketInfo open_matrix_market(std::string const& path);

/// Writes the whole matrix, both triangles and with zeros for missing entries, into an output of its extents. Duplicate
/// entries are added. Holds as many tiles of the output as `memory` allows, and reads the text once for each such group
/// of tiles; only once for a general array of which a tile column fits. Does not commit. Throws InvalidArgument if a
/// single tile does not fit, or if the matrix is complex and the output is not; DataError with the line number if the
/// text is malformed.
GRANARY_EXPORT void read_matrix_market(MatrixMarketInfo const& info, MatrixOutput& output, Bytes memory,
                                       Between const& between = {});

/// Writes a matrix as an array of real or complex numbers, with the fewest digits that are read back exactly. Needs
/// memory for one tile column: market_memory(). Throws InvalidArgument if the file cannot be created or `memory` is
/// less.
GRANARY_EXPORT void write_matrix_market(MatrixSource& source, std::string const& path, Bytes memory,
                                        Between const& between = {});

/// Bytes of the tiles of one tile column.
[[nodiscard]] GRANARY_EXPORT Bytes market_memory(TileGrid const& grid, ScalarType type);

}  // namespace granary
