// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/byte_set.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/engine/lines.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace granary::detail {

/// Limit of the dimensions of a Kokkos::View.
inline constexpr std::size_t most_dimensions = 8;

/// The layout of a View's elements, in elements; dimensions in the View's order.
struct GRANARY_EXPORT ViewShape {
  std::size_t rank = 0;
  std::array<std::size_t, most_dimensions> extents{};
  std::array<std::size_t, most_dimensions> strides{};
};

/// The strides of the packed View: dimensions keep their order in memory.
[[nodiscard]] GRANARY_EXPORT std::array<std::size_t, most_dimensions> packed_strides(ViewShape const& shape);

/// The elements, of `size` bytes, as lines: none (count 0) if they are contiguous, one line per run of contiguous
/// elements if all gaps are in one dimension. Empty for Views that cannot be copied elsewhere: gaps in several
/// dimensions, or elements that share addresses.
[[nodiscard]] GRANARY_EXPORT std::optional<Lines> lines_of(ViewShape const& shape, Bytes size);

/// The bytes of the elements, of `size` bytes, that begin at `first`; empty if an extent is 0.
[[nodiscard]] GRANARY_EXPORT ByteSet bytes_of(ViewShape const& shape, void const* first, Bytes size);

/// "extents 4 x 5, strides 10 x 1".
[[nodiscard]] GRANARY_EXPORT std::string describe(ViewShape const& shape);

/// The name, or "View of 4 x 5" if it is empty, as for memory that no View manages.
[[nodiscard]] GRANARY_EXPORT std::string name_or_shape(std::string const& name, ViewShape const& shape);

}  // namespace granary::detail
