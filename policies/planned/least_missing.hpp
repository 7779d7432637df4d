// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/policies/planned/segments.hpp>

#include <cstdint>
#include <vector>

namespace granary::detail {

/// The tasks of a graph and which ones follow which. A task's *level* is the length of the longest chain of tasks up to
/// it. O(uses log uses).
class GRANARY_EXPORT TaskLinks {
 public:
  explicit TaskLinks(OrderGraph const& graph);

  [[nodiscard]] std::span<std::uint32_t const> followers(std::uint32_t task) const { return m_followers[task]; }
  [[nodiscard]] std::uint32_t predecessors(std::uint32_t task) const { return m_predecessors[task]; }
  [[nodiscard]] std::uint32_t level(std::uint32_t task) const { return m_levels[task]; }
  /// The tasks that use a datum, in the order of submission.
  [[nodiscard]] std::span<std::uint32_t const> users(std::uint32_t data) const { return m_users[data]; }
  /// The same by level.
  [[nodiscard]] std::span<std::uint32_t const> users_by_level(std::uint32_t data) const {
    return m_users_by_level[data];
  }

 private:
  NumberLists m_followers;
  NumberLists m_users;
  NumberLists m_users_by_level;
  std::vector<std::uint32_t> m_predecessors;
  std::vector<std::uint32_t> m_levels;
};

/// Selects the next ready task.
struct GRANARY_EXPORT LeastMissingRule {
  enum class Tie : std::uint8_t { Submission, Shallowest, Deepest, Newest };
  /// Levels are run in bands of so many: no task of a band begins before all tasks of earlier bands. 0: one band. In
  /// graphs whose levels have a wide front, as stencils, that many steps pass while a part of the front is in memory.
  std::uint32_t band = 0;
  Tie tie = Tie::Submission;
  double outputs = 0;  ///< of the bytes for which a task needs room besides what it loads, the part that counts
  double dying = 0;    ///< of the bytes in memory that nobody needs after a task, the part that counts for it
};

struct GRANARY_EXPORT ListOrder {
  std::vector<std::uint32_t> tasks;
  std::uint64_t work = 0;  ///< steps of the computation: the same everywhere
};

/// The tasks one after the other as a memory of `memory` bytes suggests: the next one is the ready task for which the
/// fewest bytes have to be loaded. What is used again last leaves the memory: in the order of submission if ties are
/// broken by that, and else by level. It follows chains of tasks where growth sees single segments: trees, stencils,
/// irregular graphs.
///
/// Costs O(log tasks) for each use, and for each ready task that uses a datum when that enters or leaves the memory.
[[nodiscard]] GRANARY_EXPORT ListOrder order_by_missing(OrderGraph const& graph, TaskLinks const& links, Bytes memory,
                                                        LeastMissingRule const& rule);

}  // namespace granary::detail
