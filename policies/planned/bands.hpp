// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/policies/planned/coordinates.hpp>
#include <granary/detail/policies/planned/growth.hpp>
#include <granary/detail/policies/planned/segments.hpp>

#include <compare>
#include <cstdint>
#include <vector>

namespace granary::detail {

/// Blocks of neighbours in the plane of coordinates. Its lines along one axis are cut into bands, and each band across
/// into blocks of so many lines.
///
/// In a band of long blocks their results stay in memory. In one that is cut into single lines the inputs can stay: of
/// the first rows of a factorization, each column needs the same triangle of the factor.
struct GRANARY_EXPORT BandRule {
  struct Band {
    std::uint32_t end = 0;     ///< the line behind its last one
    std::uint32_t length = 1;  ///< of its blocks
    auto operator<=>(Band const&) const = default;
  };
  std::uint32_t axis = 0;   ///< 0: bands of rows, 1: of columns
  std::vector<Band> bands;  ///< in order; the last one ends with the plane
  auto operator<=>(BandRule const&) const = default;
};

/// Rules for a memory of `memory` bytes, each once: bands of equal width whose blocks have about the shape of a square
/// and fill half of the memory or more with results; before them up to three bands that are cut into single lines, each
/// of which needs about a memory of inputs if the graph is a factorization.
[[nodiscard]] GRANARY_EXPORT std::vector<BandRule> band_rules(OrderGraph const& graph, Segments const& segments,
                                                              Coordinates const& coordinates, double memory);

/// The rule for several memories of `memory` bytes that share the tasks: blocks as near to squares as the plane allows,
/// with results for at most half of a memory, the other half is for inputs and for what the next block needs; and so
/// small that each memory gets 16 of them if all of the plane has segments, but with at least `least_side` lines.
[[nodiscard]] GRANARY_EXPORT BandRule shared_squares(OrderGraph const& graph, Segments const& segments,
                                                     Coordinates const& coordinates, double memory,
                                                     std::size_t memories, double least_side = 1);

/// The rules next to this one: a band's length or end is a little smaller or larger, or two bands are one.
[[nodiscard]] GRANARY_EXPORT std::vector<BandRule> neighbours(BandRule const& rule, Coordinates const& coordinates);

/// The segments band by band and block by block. One that a block needs and that has no coordinates, or later ones, is
/// in the first block that needs it. O(segments log segments + their dependencies).
[[nodiscard]] GRANARY_EXPORT Blocks cut_bands(Segments const& segments, Coordinates const& coordinates,
                                              BandRule const& rule);

/// An estimate of the bytes that move: what each block reads and writes, without what the block before used if all of
/// that one's data fit in the memory. O(inputs and outputs of all segments).
[[nodiscard]] GRANARY_EXPORT double estimated_bytes(OrderGraph const& graph, Segments const& segments,
                                                    Blocks const& blocks, double memory);

}  // namespace granary::detail
