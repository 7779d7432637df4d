// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/linalg/files/scalar_type.hpp>

namespace granary::detail {

/// The largest number of rows or columns of a matrix in a .npy, Matrix Market or CSV file, and of a generated one.
inline constexpr std::uint64_t largest_extent = (std::uint64_t{1} << 31) - 1;

/// A matrix in a file, and its storage layout.
struct GRANARY_EXPORT MatrixFileInfo {
  enum class Format { Hdf5, Npy };
  enum class Arrangement {
    Contiguous,   ///< row by row from `first_byte` on (column by column if `column_major`)
    Chunked,      ///< HDF5 chunks that can be read at their offsets in the file
    ThroughHdf5,  ///< everything else: filters, non-native types, external files
  };

  std::string path;
  std::string dataset;  ///< absolute name; empty for .npy
  Format format = Format::Hdf5;
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
  ScalarType scalar_type = ScalarType::Float64;
  Arrangement arrangement = Arrangement::ThroughHdf5;
  std::uint64_t first_byte = 0;
  bool column_major = false;
  bool swapped = false;          ///< stored with the other byte order (Contiguous only)
  std::uint64_t chunk_rows = 0;  ///< 0 without chunks
  std::uint64_t chunk_cols = 0;
  unsigned dimensions = 2;                ///< of the array in the file; 1: a vector, which is one column
  std::vector<std::string> columns = {};  ///< their names, one for each column; empty without names

  /// `A.h5:/A` or `A.npy`.
  [[nodiscard]] std::string name() const { return dataset.empty() ? path : path + ":" + dataset; }
};

/// Bytes of a matrix of these extents. Throws DataError with the name if they exceed `largest_size`.
[[nodiscard]] GRANARY_EXPORT Bytes matrix_bytes(std::string const& name, std::uint64_t rows, std::uint64_t cols,
                                                ScalarType type);

/// The attribute of an HDF5 dataset with the names of its columns, an array of one text for each column.
inline constexpr char const* columns_attribute = "columns";

}  // namespace granary::detail
