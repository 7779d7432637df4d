// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/policies/planned/segments.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace granary::detail {

/// Rows and columns of segments, found from what they read. Values that the same segments read, one soon after the
/// other, are a *line*: the tiles of a row of L, or of a column of U, in a factorization. A segment reads of two lines
/// above all, and these are its coordinates. Where hardly any segment reads of two lines of the same kind there are two
/// kinds, rows and columns; otherwise, as in Cholesky factorization, all lines are of one kind, and a segment's row is
/// the earlier one of its two lines. Lines are numbered by the first segment that has them.
///
/// Costs O(reads + readers of all values).
class GRANARY_EXPORT Coordinates {
 public:
  static constexpr std::uint32_t none = 0xffffffffU;
  using Place = std::array<std::uint32_t, 2>;

  Coordinates(OrderGraph const& graph, Segments const& segments);

  /// Row and column; both are `none` if one is not known.
  [[nodiscard]] Place const& of(std::uint32_t segment) const { return m_places[segment]; }
  /// The numbers of rows and columns.
  [[nodiscard]] Place const& extents() const { return m_extents; }
  /// Tasks of segments with coordinates.
  [[nodiscard]] std::size_t tasks() const { return m_tasks; }

 private:
  std::vector<Place> m_places;
  Place m_extents{};
  std::size_t m_tasks = 0;
};

}  // namespace granary::detail
