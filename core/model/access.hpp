// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

namespace granary::detail {

enum class GRANARY_EXPORT AccessMode : std::uint8_t {
  Read = 1,
  Write = 2,
  ReadWrite = 3,
  /// Reads and writes; may change places with the other commuting accesses of the datum that are submitted before one
  /// of another mode. One task at a time.
  Commute = 7,
};

[[nodiscard]] constexpr bool reads(AccessMode mode) { return (static_cast<unsigned>(mode) & 1U) != 0; }
[[nodiscard]] constexpr bool writes(AccessMode mode) { return (static_cast<unsigned>(mode) & 2U) != 0; }
[[nodiscard]] constexpr bool commutes(AccessMode mode) { return mode == AccessMode::Commute; }
/// Of a task that accesses a datum in both modes. It commutes only if both do.
[[nodiscard]] constexpr AccessMode operator|(AccessMode a, AccessMode b) {
  return a == b ? a : static_cast<AccessMode>((static_cast<unsigned>(a) | static_cast<unsigned>(b)) & 3U);
}

/// A task's access to one datum.
struct GRANARY_EXPORT Access {
  DataId data;
  AccessMode mode = AccessMode::Read;
  bool repeated = false;  ///< the datum occurs earlier in the list, with the union of the modes: skip this one
  /// Of the value that the task reads, or makes if it writes: how many writes of the datum were submitted up to the one
  /// that makes it. Of a commuting access, whose value gets its version when it is made: how many of these had ended.
  /// Given by the planner.
  std::uint32_t version = 0;
};

/// A task's accesses in the order of its kernel's arguments; short lists are stored inline.
class GRANARY_EXPORT AccessList {
 public:
  AccessList() = default;
  /// A list of `size` accesses without data, to be filled with different data.
  explicit AccessList(std::size_t size) : m_size(static_cast<std::uint32_t>(size)) {
    if (m_size > inline_size) m_heap = std::make_unique<Access[]>(m_size);
  }
  /// Copies the list and merges the accesses of a datum that occurs several times.
  explicit AccessList(std::span<Access const> accesses) : m_size(static_cast<std::uint32_t>(accesses.size())) {
    if (m_size > inline_size) m_heap = std::make_unique<Access[]>(m_size);
    std::copy(accesses.begin(), accesses.end(), begin());
    for (Access* later = begin(); later != end(); ++later) {
      later->repeated = false;
      m_commutes = m_commutes || detail::commutes(later->mode);
      for (Access* earlier = begin(); earlier != later; ++earlier) {
        if (earlier->data != later->data) continue;
        earlier->mode = earlier->mode | later->mode;
        later->repeated = true;
        break;
      }
    }
  }

  [[nodiscard]] Access* begin() { return m_heap ? m_heap.get() : m_inline; }
  [[nodiscard]] Access* end() { return begin() + m_size; }
  [[nodiscard]] Access const* begin() const { return m_heap ? m_heap.get() : m_inline; }
  [[nodiscard]] Access const* end() const { return begin() + m_size; }
  [[nodiscard]] std::size_t size() const { return m_size; }
  [[nodiscard]] Access const& operator[](std::size_t i) const { return begin()[i]; }
  /// True if one of the accesses commutes.
  [[nodiscard]] bool commutes() const { return m_commutes; }

 private:
  static constexpr std::uint32_t inline_size = 4;
  Access m_inline[inline_size];
  std::unique_ptr<Access[]> m_heap;
  std::uint32_t m_size = 0;
  bool m_commutes = false;
};

/// Calls `function(Access const&)` once for each datum that the list writes.
template <class Function>
void for_each_write(AccessList const& accesses, Function&& function) {
  for (auto const& access : accesses) {
    if (!access.repeated && writes(access.mode)) function(access);
  }
}

/// Calls `function(DataId)` once for each datum on which the list commutes.
template <class Function>
void for_each_commuting(AccessList const& accesses, Function&& function) {
  for (auto const& access : accesses) {
    if (!access.repeated && commutes(access.mode)) function(access.data);
  }
}

}  // namespace granary::detail
