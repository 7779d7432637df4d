// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include <granary/core/base/units.hpp>

namespace granary {

enum class ScalarType { Float32, Float64 };

[[nodiscard]] constexpr Bytes size_of(ScalarType type) { return type == ScalarType::Float32 ? 4 : 8; }
[[nodiscard]] constexpr char const* name_of(ScalarType type) {
  return type == ScalarType::Float32 ? "float" : "double";
}

template <class T>
inline constexpr ScalarType scalar_type_of = sizeof(T) == 4 ? ScalarType::Float32 : ScalarType::Float64;

/// Which elements of a matrix count: all, or those of one triangle with its diagonal.
enum class MatrixPart { All, Lower, Upper };

/// The tiles of a matrix in a file, numbered by slots in row-major order. In memory every tile, also one at the edge,
/// is tile x tile elements, row-major with leading dimension `tile`; beyond the matrix they are undefined.
struct FileTiling {
  std::uint64_t rows;
  std::uint64_t cols;
  std::uint64_t tile;

  [[nodiscard]] constexpr std::uint64_t tile_rows() const { return (rows + tile - 1) / tile; }
  [[nodiscard]] constexpr std::uint64_t tile_cols() const { return (cols + tile - 1) / tile; }
  [[nodiscard]] constexpr std::uint64_t slot(std::uint64_t i, std::uint64_t j) const { return i * tile_cols() + j; }
  [[nodiscard]] constexpr std::uint64_t row_of(std::uint64_t slot) const { return slot / tile_cols(); }
  [[nodiscard]] constexpr std::uint64_t col_of(std::uint64_t slot) const { return slot % tile_cols(); }
  /// Rows of the matrix in the tiles of tile row i.
  [[nodiscard]] constexpr std::uint64_t rows_in(std::uint64_t i) const { return std::min(tile, rows - i * tile); }
  [[nodiscard]] constexpr std::uint64_t cols_in(std::uint64_t j) const { return std::min(tile, cols - j * tile); }
};

/// A matrix in a file, and how its elements lie there.
struct MatrixFileInfo {
  enum class Format { Hdf5, Npy };
  enum class Arrangement {
    Contiguous,   ///< one row after the other from `first_byte` on (one column after the other if `column_major`)
    Chunked,      ///< HDF5 chunks that may be read at their offsets in the file
    ThroughHdf5,  ///< everything else: filters, foreign types, external files
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
  std::uint64_t chunk_rows = 0;  ///< 0 where there are no chunks
  std::uint64_t chunk_cols = 0;

  /// `A.h5:/A` or `A.npy`.
  [[nodiscard]] std::string name() const { return dataset.empty() ? path : path + ":" + dataset; }
};

/// Looks at the matrix `file.h5[:/dataset]` or `file.npy`; the content decides which of the two it is. Where no dataset
/// is named, the file must hold exactly one of two dimensions. Throws InvalidArgument when the file cannot be opened,
/// or the dataset is not there (the message lists those there are), or is ambiguous; DataError when the file is neither
/// format, is truncated, or the dataset is not two-dimensional or not of a real floating type of 4 or 8 bytes.
[[nodiscard]] MatrixFileInfo open_matrix_file(std::string const& spec);

}  // namespace granary
