// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/runtime/api/view_lines.hpp>

#include <algorithm>

namespace granary::detail {
namespace {

// The dimensions of more than one element, nearest elements first.
struct Order {
  std::array<std::size_t, most_dimensions> dimension{};
  std::size_t count = 0;

  explicit Order(ViewShape const& shape) {
    for (std::size_t d = 0; d < shape.rank; ++d) {
      if (shape.extents[d] != 1) dimension[count++] = d;
    }
    std::stable_sort(dimension.begin(), dimension.begin() + static_cast<std::ptrdiff_t>(count),
                     [&](std::size_t a, std::size_t b) { return shape.strides[a] < shape.strides[b]; });
  }
};

std::string listed(std::array<std::size_t, most_dimensions> const& numbers, std::size_t rank) {
  std::string text;
  for (std::size_t d = 0; d < rank; ++d) text += (d > 0 ? " x " : "") + std::to_string(numbers[d]);
  return text;
}

}  // namespace

std::array<std::size_t, most_dimensions> packed_strides(ViewShape const& shape) {
  std::array<std::size_t, most_dimensions> strides{};
  strides.fill(1);
  Order const order(shape);
  std::size_t next = 1;
  for (std::size_t i = 0; i < order.count; ++i) {
    strides[order.dimension[i]] = next;
    next *= shape.extents[order.dimension[i]];
  }
  return strides;
}

std::optional<Lines> lines_of(ViewShape const& shape, Bytes size) {
  auto const extents = std::span(shape.extents).first(shape.rank);
  if (std::ranges::find(extents, 0U) != extents.end()) return Lines{};
  Order const order(shape);
  std::size_t run = 1;    // contiguous elements
  std::size_t lines = 0;  // 0: no gap so far
  std::size_t pitch = 0;
  std::size_t next = 1;  // the stride of the next dimension without a gap
  for (std::size_t i = 0; i < order.count; ++i) {
    auto const extent = shape.extents[order.dimension[i]];
    auto const stride = shape.strides[order.dimension[i]];
    if (stride < next || (stride > next && lines > 0)) return std::nullopt;
    if (stride > next) {
      lines = 1;
      pitch = stride;
    }
    lines == 0 ? run *= extent : lines *= extent;
    next = stride * extent;
  }
  if (lines == 0) return Lines{};
  return Lines{.line = run * size, .count = lines, .pitch = pitch * size, .packed = run * size};
}

ByteSet bytes_of(ViewShape const& shape, void const* first, Bytes size) {
  std::array<ByteSet::Dimension, most_dimensions> dimensions;
  for (std::size_t d = 0; d < shape.rank; ++d) {
    if (shape.extents[d] == 0) return {};
    dimensions[d] = {shape.extents[d], shape.strides[d] * size};
  }
  return {first, size, std::span(dimensions).first(shape.rank)};
}

std::string name_or_shape(std::string const& name, ViewShape const& shape) {
  if (!name.empty()) return name;
  return shape.rank == 0 ? "View of one element" : "View of " + listed(shape.extents, shape.rank);
}

std::string describe(ViewShape const& shape) {
  return "extents " + listed(shape.extents, shape.rank) + ", strides " + listed(shape.strides, shape.rank);
}

}  // namespace granary::detail
