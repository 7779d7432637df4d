// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

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

}  // namespace granary
