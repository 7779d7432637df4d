// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/planner/command.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace granary::detail {

/// A replica of a datum. Replicas in a node's pool come and go; the user's places exist as long as the datum.
struct GRANARY_EXPORT Replica {
  NodeId node = {};
  Slot slot = Slot::Pool;
  bool valid = false;         ///< holds the datum's current value
  bool evicting = false;      ///< is being written back before it is dropped; nobody holds it
  bool superseded = false;    ///< holds the value before the one that is being written
  std::uint32_t writers = 0;  ///< holders that write it now
  std::uint32_t pins = 0;     ///< holders, and hops that will read it
  std::uint32_t readers = 0;  ///< transfers in flight that read it
  std::uint32_t version = 0;  ///< of the value, as in Access
  TransferId incoming = {};   ///< requested or in flight
  Bytes offset = 0;           ///< Pool only
  Bytes bytes = 0;            ///< of its place, rounded up to the node's alignment; Pool only
  std::int64_t priority = 0;  ///< the highest of those who pinned it since it had no pins

  void pin(std::int64_t with) { priority = pins++ == 0 ? with : std::max(priority, with); }

  /// True if somebody needs its place.
  [[nodiscard]] bool useful() const { return valid || pins > 0 || readers > 0 || incoming.valid(); }
  /// True if its fields agree with each other.
  [[nodiscard]] bool consistent() const {
    return (writers == 0 || pins > 0 || slot != Slot::Pool) && (!evicting || (pins == 0 && slot == Slot::Pool)) &&
           (slot != Slot::Pool || superseded || useful()) && (!superseded || !(useful() || writers > 0));
  }
};

/// The replicas of one datum, in the order in which they were made. Two of them need no memory of their own: data are
/// very many, and those that no task uses have no more.
class GRANARY_EXPORT ReplicaList {
 public:
  [[nodiscard]] std::size_t size() const { return m_size; }
  [[nodiscard]] Replica* begin() { return m_more ? m_more.get() : m_first; }
  [[nodiscard]] Replica* end() { return begin() + m_size; }
  [[nodiscard]] Replica const* begin() const { return m_more ? m_more.get() : m_first; }
  [[nodiscard]] Replica const* end() const { return begin() + m_size; }
  [[nodiscard]] Replica& operator[](std::size_t i) { return begin()[i]; }
  [[nodiscard]] Replica const& operator[](std::size_t i) const { return begin()[i]; }

  /// Pointers to replicas become invalid.
  void add(Replica const& replica) {
    if (m_size == m_capacity) grow();
    begin()[m_size++] = replica;
  }
  /// The same.
  void erase(Replica const* replica) {
    Replica* const hole = begin() + (replica - begin());
    std::move(hole + 1, end(), hole);
    --m_size;
    if (m_more && m_size <= first) shrink();
  }

 private:
  static constexpr std::uint32_t first = 2;

  void grow() {
    auto more = std::make_unique<Replica[]>(std::size_t{2} * m_capacity);
    std::copy(begin(), end(), more.get());
    m_more = std::move(more);
    m_capacity *= 2;
  }
  void shrink() {
    std::copy(begin(), end(), m_first);
    m_more.reset();
    m_capacity = first;
  }

  std::uint32_t m_size = 0;
  std::uint32_t m_capacity = first;
  std::unique_ptr<Replica[]> m_more;  // all of them, once there were more than `first`
  Replica m_first[first];
};

}  // namespace granary::detail
