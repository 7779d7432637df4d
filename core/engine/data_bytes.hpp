// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/byte_set.hpp>
#include <granary/core/base/ids.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// Which data are which bytes of the application's memory, and which of them overlap.
///
/// Sets are kept by the power of two below their span, each class sorted by first byte: so those whose ranges meet a
/// given one are found in O(log n + their number). Ranges of tiles of one column-major matrix interleave: adding its
/// t x t tiles costs O(t^3) tests of 20 to 50 ns.
class DataBytes {
 public:
  /// The datum that is exactly these bytes, or none.
  [[nodiscard]] DataId find(ByteSet const& bytes) const;
  void add(DataId data, ByteSet bytes);
  /// Does nothing for a datum that was not added.
  void forget(DataId data);
  /// The data that share bytes with this one.
  [[nodiscard]] std::span<DataId const> overlapping(DataId data) const;
  /// Whether any two data overlap.
  [[nodiscard]] bool any_overlap() const { return !m_overlaps.empty(); }

 private:
  struct Entry {
    DataId data;
    ByteSet bytes;
  };
  using Class = std::multimap<std::uint64_t, Entry>;  // by first byte

  std::array<Class, 64> m_classes;  // by floor(log2(span))
  std::unordered_map<DataId, Class::iterator> m_places;
  std::unordered_map<DataId, std::vector<DataId>> m_overlaps;  // of data that have some
};

}  // namespace granary

#pragma GCC visibility pop
