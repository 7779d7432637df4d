// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/files/matrix_source.hpp>
#include <granary/detail/linalg/generators/generators.hpp>

namespace granary {

/// A number uniform in [0, 1), a function of its arguments alone: SplitMix64 (core/base/random.hpp) at an arbitrary
/// position of its sequence. The positions of a seed are the elements (row, col) of a matrix.
[[nodiscard]] constexpr double unit_at(std::uint64_t seed, std::uint64_t row, std::uint64_t col) {
  std::uint64_t z = seed * 0xd1342543de82ef95U + ((row << 32) + col + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-53;
}

/// Element (i, j) of a symmetric positive definite matrix of order n, a function of its arguments alone: uniform in
/// [-1, 1] off the diagonal, n plus a number in [0, 1] on it, hence strictly diagonally dominant.
[[nodiscard]] constexpr double spd_entry(std::uint64_t n, std::uint64_t seed, std::uint64_t i, std::uint64_t j) {
  double const unit = unit_at(seed, i < j ? j : i, i < j ? i : j);
  return i == j ? static_cast<double>(n) + unit : 2 * unit - 1;
}

/// A source of spd_entry's matrix without a file: `random:N:SEED` of open_generated.
[[nodiscard]] GRANARY_EXPORT std::unique_ptr<MatrixSource> make_random_spd_source(std::uint64_t n, std::uint64_t tile,
                                                                                  std::uint64_t seed, ScalarType type);

/// Writes spd_entry's matrix, both triangles, as an HDF5 file with chunks of tile x tile; needs memory for two tiles.
/// Throws like MatrixSink.
///
/// ```cpp
/// granary::write_random_spd("A.h5", /*n=*/256, /*tile=*/64, /*seed=*/1, granary::ScalarType::Float64);
/// auto const file = granary::open_matrix_file("A.h5");
/// assert(file.rows == 256 && file.chunk_rows == 64);
/// assert(granary::spd_entry(256, 1, 7, 9) == granary::spd_entry(256, 1, 9, 7));  // any element, without the file
/// ```
GRANARY_EXPORT void write_random_spd(std::string const& path, std::uint64_t n, std::uint64_t tile, std::uint64_t seed,
                                     ScalarType type, std::string const& dataset = "A");

}  // namespace granary
