// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/byte_set.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/model/data.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace granary::detail {

/// Maps bytes of the application's memory to data, and finds data that overlap.
///
/// Sets are grouped by floor(log2(span)) and sorted by first byte in each group: finding those whose ranges meet a
/// given one costs O(log n + their number). Ranges of tiles of one column-major matrix interleave: looking for each of
/// its t x t tiles costs O(t^3) tests of 20 to 50 ns.
class GRANARY_EXPORT DataBytes {
 public:
  /// The datum with exactly these bytes; invalid if there is none.
  [[nodiscard]] DataId find(ByteSet const& bytes) const;
  /// The data that share bytes with `bytes`.
  [[nodiscard]] std::vector<SharedBytes> sharing(ByteSet const& bytes) const;
  void add(DataId data, ByteSet bytes);
  /// Does nothing for a datum that was not added.
  void forget(DataId data);

 private:
  struct Entry {
    DataId data;
    ByteSet bytes;
  };
  using Class = std::multimap<std::uint64_t, Entry>;  // by first byte

  std::array<Class, 64> m_classes;  // by floor(log2(span))
  std::unordered_map<DataId, Class::iterator> m_places;
};

}  // namespace granary::detail
