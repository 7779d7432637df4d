// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>

#include <cstdint>
#include <vector>

namespace granary {

/// The order in which the tiles of a panel of a tile QR factorization are eliminated, and by which others. The tile
/// rows of a panel are cut into domains of `domain` rows, from the top. The first row of each is factored alone, and
/// eliminates the others of its domain from the top to the bottom (TSQRT). The rows on top of the domains, which are
/// triangles then, eliminate each other in the order of `top` (TTQRT). See Dongarra, Faverge, Herault, Langou, Robert:
/// Hierarchical QR factorization algorithms for multi-core cluster systems, Parallel Computing 39, 2013.
struct GRANARY_EXPORT QrTree {
  enum class Top {
    Flat,    ///< the first row eliminates the others, from the top to the bottom
    Binary,  ///< neighbours first, then those that are left: log2 rounds
    Greedy,  ///< in each round the lower half is eliminated by the rows above it: log2 rounds
  };
  /// Tile rows of a domain; 0: one domain, a flat tree. 1: triangles only.
  std::uint64_t domain = 0;
  Top top = Top::Binary;
};

namespace detail {

/// One row of a panel is eliminated by another one above it; both count from the panel's top.
struct GRANARY_EXPORT Elimination {
  std::uint64_t pivot = 0;
  std::uint64_t row = 0;
  bool triangle = false;  ///< the row is on top of a domain: TTQRT
  bool operator==(Elimination const&) const = default;
};

/// The eliminations of a panel of `rows` tile rows, in an order in which they may run one after the other: each row but
/// the first is eliminated once, after it has eliminated all others that it does. O(rows).
[[nodiscard]] GRANARY_EXPORT std::vector<Elimination> eliminations(QrTree const& tree, std::uint64_t rows);

/// True if that row of a panel is on top of a domain, so that it is factored alone first.
[[nodiscard]] constexpr bool on_top(QrTree const& tree, std::uint64_t row) {
  return tree.domain == 0 ? row == 0 : row % tree.domain == 0;
}

}  // namespace detail
}  // namespace granary
