// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/linalg/data/tile_grid.hpp>

namespace granary {

/// The element types of matrices in files; complex numbers are pairs, the real part first.
enum class GRANARY_EXPORT ScalarType { Float32, Float64, Complex64, Complex128 };

[[nodiscard]] constexpr bool is_complex_type(ScalarType type) {
  return type == ScalarType::Complex64 || type == ScalarType::Complex128;
}
/// Bytes of one element.
[[nodiscard]] constexpr Bytes size_of(ScalarType type) {
  return type == ScalarType::Float32 ? 4 : type == ScalarType::Complex128 ? 16 : 8;
}
[[nodiscard]] constexpr char const* name_of(ScalarType type) {
  switch (type) {
    case ScalarType::Float32:
      return "float";
    case ScalarType::Float64:
      return "double";
    case ScalarType::Complex64:
      return "complex float";
    case ScalarType::Complex128:
      return "complex double";
  }
  return "unknown";
}

/// The ScalarType of float, double, Kokkos::complex<float>, Kokkos::complex<double>.
template <class T>
inline constexpr ScalarType scalar_type_of = std::is_floating_point_v<T>
                                                 ? (sizeof(T) == 4 ? ScalarType::Float32 : ScalarType::Float64)
                                                 : (sizeof(T) == 8 ? ScalarType::Complex64 : ScalarType::Complex128);

/// The largest number of rows or columns of a matrix in a .npy or Matrix Market file, and of a generated one.
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

/// Examines the matrix `file.h5[:/dataset]` or `file.npy`; the format follows from the content. An array of one
/// dimension is a matrix of one column. Without a dataset name the file must hold exactly one two-dimensional dataset,
/// or none and exactly one of one dimension. Throws InvalidArgument if the file cannot be opened, or if the dataset is
/// missing (the message lists the existing ones) or ambiguous. Throws DataError if the file has neither format or is
/// truncated, or if the dataset has more dimensions, is too large or not of a ScalarType, or if elements would be read
/// that nobody wrote: a source of a virtual dataset or an external file is missing, or there is no fill value.
[[nodiscard]] GRANARY_EXPORT MatrixFileInfo open_matrix_file(std::string const& spec);

struct GRANARY_EXPORT MatrixListing {
  std::vector<MatrixFileInfo> matrices;
  std::vector<std::string> others;  ///< for each other dataset, why it is not a readable matrix; where links lead
};
/// All matrices in an HDF5 or .npy file, or the one dataset that `spec` names. Throws like open_matrix_file, but not if
/// there is no matrix or more than one.
[[nodiscard]] GRANARY_EXPORT MatrixListing list_matrices(std::string const& spec);

}  // namespace granary
