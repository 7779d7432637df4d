// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/files/scalar_type.hpp>

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

}  // namespace granary
