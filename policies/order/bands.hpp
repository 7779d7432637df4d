// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/export.hpp>
#include <granary/policies/order/coordinates.hpp>
#include <granary/policies/order/growth.hpp>
#include <granary/policies/order/segments.hpp>

#include <compare>
#include <cstdint>
#include <vector>

namespace granary {

/// Blocks of neighbours in the plane of coordinates. Its lines along one axis are cut into bands, and each band across
/// into blocks.
///
/// The first `lead` lines are `leads` bands that are cut into single lines, for factorizations: what such a band needs
/// of the factor, a triangle or a trapezoid, stays in memory while the rest streams through it. These bands have equal
/// parts of the triangle. The other lines are `bands` bands of equal width, cut into blocks of `length` lines, whose
/// results stay in memory.
struct GRANARY_EXPORT BandRule {
  std::uint32_t axis = 0;  ///< 0: bands of rows, 1: of columns
  std::uint32_t leads = 0;
  std::uint32_t lead = 0;
  std::uint32_t bands = 1;
  std::uint32_t length = 1;
  friend auto operator<=>(BandRule const&, BandRule const&) = default;
};

/// Rules for a memory of `memory` bytes, each once: several ways to lead, and blocks that have about the shape of a
/// square and fill half of the memory or more with results.
[[nodiscard]] GRANARY_EXPORT std::vector<BandRule> band_rules(OrderGraph const& graph, Segments const& segments,
                                                              Coordinates const& coordinates, double memory);

/// The rules next to this one: one number is a little smaller or larger.
[[nodiscard]] GRANARY_EXPORT std::vector<BandRule> neighbours(BandRule const& rule, Coordinates const& coordinates);

/// The segments band by band and block by block. One that a block needs and that has no coordinates, or later ones, is
/// in the first block that needs it. O(segments log segments + their dependencies).
[[nodiscard]] GRANARY_EXPORT Blocks cut_bands(Segments const& segments, Coordinates const& coordinates,
                                              BandRule const& rule);

/// An estimate of the bytes that move: what each block reads and writes, without what the block before used if all of
/// that one's data fit in the memory. O(inputs and outputs of all segments).
[[nodiscard]] GRANARY_EXPORT double estimated_bytes(OrderGraph const& graph, Segments const& segments,
                                                    Blocks const& blocks, double memory);

}  // namespace granary
