// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace granary::detail {

/// The bytes of a strided array in memory: runs of `run` bytes that start at first + i1 s1 + i2 s2 + …, with
/// 0 <= ik < nk, where nk and sk are the extent and the stride of dimension k.
///
/// Kept in a normal form: dimensions by ascending stride, none of extent 1, contiguous ones merged. So two arrays that
/// enumerate the same bytes compare equal, whatever their rank and element type. (Arrays whose elements share addresses
/// may compare unequal; `overlap` is exact for them, too.)
class GRANARY_EXPORT ByteSet {
 public:
  struct Dimension {
    std::uint64_t extent = 1;
    std::uint64_t stride = 0;  ///< in bytes
    bool operator==(Dimension const&) const = default;
  };

  /// The limit of a Kokkos::View.
  static constexpr std::size_t most_dimensions = 8;

  ByteSet() = default;
  /// `run` and all extents are at least 1; at most `most_dimensions`.
  ByteSet(void const* first, std::uint64_t run, std::span<Dimension const> dimensions = {});

  [[nodiscard]] std::uint64_t first() const { return m_first; }
  /// One past the last byte.
  [[nodiscard]] std::uint64_t end() const { return m_end; }
  [[nodiscard]] std::uint64_t span() const { return m_end - m_first; }
  [[nodiscard]] bool empty() const { return m_run == 0; }
  bool operator==(ByteSet const&) const = default;

  /// True if the two sets share a byte. Exact within 2^20 steps; beyond that the answer is true. Sets with the same
  /// strides need at most two steps per dimension.
  friend bool overlap(ByteSet const& a, ByteSet const& b);
  /// True if `a` contains all of `b`. Exact if the strides nest: in the outer dimensions, each stride of `b` is a
  /// multiple of a stride of `a` (a block of a matrix, a row, a column). Else the answer may be false although it does.
  /// Neither is empty.
  friend bool covers(ByteSet const& a, ByteSet const& b);

  /// Calls function(offset, bytes) for each run, inner dimensions first; offsets count from the first byte.
  template <class Function>
  void for_each_run(Function&& function) const {
    if (!empty()) for_each_run(m_dimensions.size(), 0, function);
  }

 private:
  template <class Function>
  void for_each_run(std::size_t dimensions, std::uint64_t offset, Function& function) const {
    if (dimensions == 0) return static_cast<void>(function(offset, m_run));
    auto const& [extent, stride] = m_dimensions[dimensions - 1];
    for (std::uint64_t i = 0; i < extent; ++i) for_each_run(dimensions - 1, offset + i * stride, function);
  }

  std::uint64_t m_first = 0;
  std::uint64_t m_end = 0;
  std::uint64_t m_run = 0;
  std::vector<Dimension> m_dimensions;
};

[[nodiscard]] GRANARY_EXPORT bool overlap(ByteSet const& a, ByteSet const& b);
[[nodiscard]] GRANARY_EXPORT bool covers(ByteSet const& a, ByteSet const& b);

}  // namespace granary::detail
