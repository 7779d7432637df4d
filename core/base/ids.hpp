// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace granary {

namespace detail {

/// A typed index: two ids of different kinds never mix, and a default-constructed id is invalid.
template <class Tag, class Rep>
class GRANARY_EXPORT Id {
 public:
  using rep = Rep;

  constexpr Id() = default;
  constexpr explicit Id(Rep value) : m_value(value) {}

  [[nodiscard]] constexpr Rep value() const { return m_value; }
  [[nodiscard]] constexpr std::size_t index() const { return static_cast<std::size_t>(m_value); }
  [[nodiscard]] constexpr bool valid() const { return m_value != invalid_value; }
  constexpr auto operator<=>(Id const&) const = default;

 private:
  static constexpr Rep invalid_value = std::numeric_limits<Rep>::max();
  Rep m_value = invalid_value;
};

}  // namespace detail

/// A memory node: a bounded place for bytes.
using NodeId = detail::Id<struct NodeTag, std::uint32_t>;
/// Workers of one kind on one node; they share one plan.
using GroupId = detail::Id<struct GroupTag, std::uint32_t>;
/// A datum: identity and shape, never an address.
using DataId = detail::Id<struct DataTag, std::uint32_t>;
/// A task; later ones have larger values. There may be gaps where data share bytes.
using TaskId = detail::Id<struct TaskTag, std::uint64_t>;
/// One of the processes that run a task graph together: its rank in MPI.
using ProcessId = detail::Id<struct ProcessTag, std::uint32_t>;

namespace detail {

/// A directed channel between two memory nodes.
using LinkId = Id<struct LinkTag, std::uint32_t>;
/// An in-order lane of execution with one local memory node.
using WorkerId = Id<struct WorkerTag, std::uint32_t>;
/// An operation with a name and a cost.
using CodeletId = Id<struct CodeletTag, std::uint32_t>;
/// A copy of one datum from one place to another.
using TransferId = Id<struct TransferTag, std::uint64_t>;

}  // namespace detail
}  // namespace granary

template <class Tag, class Rep>
struct GRANARY_EXPORT std::hash<granary::detail::Id<Tag, Rep>> {
  std::size_t operator()(granary::detail::Id<Tag, Rep> id) const noexcept { return std::hash<Rep>{}(id.value()); }
};
