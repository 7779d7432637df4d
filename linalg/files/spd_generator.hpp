// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <granary/linalg/files/matrix_source.hpp>

namespace granary {

/// Element (i, j) of a symmetric positive definite matrix of order n, a function of its arguments alone: uniform in
/// [-1, 1] off the diagonal, n plus a number in [0, 1] on it, hence strictly diagonally dominant.
[[nodiscard]] constexpr double spd_entry(std::uint64_t n, std::uint64_t seed, std::uint64_t i, std::uint64_t j) {
  auto const low = i < j ? i : j;
  auto const high = i < j ? j : i;
  // SplitMix64 (core/base/random.hpp) at an arbitrary position of its sequence: the positions of a seed are the
  // elements.
  std::uint64_t z = seed * 0xd1342543de82ef95U + ((high << 32) + low + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  z ^= z >> 31;
  double const unit = static_cast<double>(z >> 11) * 0x1p-53;
  return i == j ? static_cast<double>(n) + unit : 2 * unit - 1;
}

/// Fills a row-major tile of leading dimension tiling.tile; what lies beyond the matrix becomes zero.
template <class T>
void fill_spd_tile(TileGrid const& tiling, std::uint64_t seed, std::uint64_t slot, T* tile);
extern template void fill_spd_tile(TileGrid const&, std::uint64_t, std::uint64_t, float*);
extern template void fill_spd_tile(TileGrid const&, std::uint64_t, std::uint64_t, double*);

/// A source without a file, which computes the tiles of spd_entry's matrix on a thread of its own. Throws
/// InvalidArgument for an order or a tile size of 0.
[[nodiscard]] std::unique_ptr<MatrixSource> make_random_spd_source(std::uint64_t n, std::uint64_t tile,
                                                                   std::uint64_t seed, ScalarType type);

/// Writes spd_entry's matrix, both triangles, as an HDF5 file with chunks of tile x tile, holding two tiles in memory.
/// Throws as MatrixSink does.
void write_random_spd(std::string const& path, std::uint64_t n, std::uint64_t tile, std::uint64_t seed, ScalarType type,
                      std::string const& dataset = "A");

}  // namespace granary
