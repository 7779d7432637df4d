// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/ids.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace granary::detail {

/// A set of worker groups: `for (GroupId group : set)` visits them in increasing order. One word; all operations are
/// O(1).
class GroupSet {
 public:
  /// The largest number of groups of a machine.
  static constexpr std::size_t capacity = 64;

  class Iterator {
   public:
    using value_type = GroupId;
    using difference_type = std::ptrdiff_t;

    constexpr Iterator() = default;
    constexpr explicit Iterator(std::uint64_t left) : m_left(left) {}
    constexpr GroupId operator*() const { return GroupId(static_cast<std::uint32_t>(std::countr_zero(m_left))); }
    constexpr Iterator& operator++() {
      m_left &= m_left - 1;
      return *this;
    }
    constexpr Iterator operator++(int) {
      auto const before = *this;
      ++*this;
      return before;
    }
    constexpr bool operator==(Iterator const&) const = default;

   private:
    std::uint64_t m_left = 0;
  };

  using value_type = GroupId;
  using const_iterator = Iterator;

  constexpr void insert(GroupId group) { m_bits |= bit(group); }
  constexpr void erase(GroupId group) { m_bits &= ~bit(group); }
  [[nodiscard]] constexpr bool contains(GroupId group) const { return (m_bits & bit(group)) != 0; }
  [[nodiscard]] constexpr bool empty() const { return m_bits == 0; }
  [[nodiscard]] constexpr std::size_t size() const { return static_cast<std::size_t>(std::popcount(m_bits)); }
  [[nodiscard]] constexpr Iterator begin() const { return Iterator(m_bits); }
  [[nodiscard]] constexpr Iterator end() const { return Iterator(0); }
  /// The groups that are in both sets.
  [[nodiscard]] friend constexpr GroupSet operator&(GroupSet a, GroupSet b) {
    a.m_bits &= b.m_bits;
    return a;
  }
  /// The groups of the first set that are not in the second.
  [[nodiscard]] friend constexpr GroupSet operator-(GroupSet a, GroupSet b) {
    a.m_bits &= ~b.m_bits;
    return a;
  }
  constexpr bool operator==(GroupSet const&) const = default;

 private:
  static constexpr std::uint64_t bit(GroupId group) { return std::uint64_t{1} << group.value(); }

  std::uint64_t m_bits = 0;
};

}  // namespace granary::detail
