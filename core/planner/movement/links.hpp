// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/paged_array.hpp>
#include <granary/detail/core/planner/context.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <vector>

namespace granary::detail {

/// A copy of a datum along one link, requested or in flight.
struct GRANARY_EXPORT Transfer {
  DataId data;
  LinkId link;
  Place to;
  bool write_back = false;      ///< toward the home; no holder waits for it
  bool active = false;          ///< in flight
  bool cancelled = false;       ///< the value was overwritten before it started
  Slot from_slot = Slot::Pool;  ///< of the replica that it reads, once active
};

/// The queues of all links, in the order of the requests; as many transfers start at once as the link is wide.
class GRANARY_EXPORT Links {
 public:
  explicit Links(PlannerContext& context);

  /// Appends a transfer to the link's queue.
  TransferId queue(DataId data, LinkId link, Place to, bool write_back);
  /// Posts that transfers may start on the link.
  void ask(LinkId link);
  /// The turn that was asked for has come.
  void turn(LinkId link) { m_links[link.index()].asked = false; }
  /// Takes the first transfer of the queue, if the link can carry one more; else an invalid id.
  [[nodiscard]] TransferId take(LinkId link);
  /// The same with the first of the transfers for which `rank(Transfer const&)` is greatest. O(queue).
  template <class Rank>
  [[nodiscard]] TransferId take(LinkId link, Rank&& rank) {
    auto& queue = m_links[link.index()].queue;
    if (queue.size() > 1) {
      auto const best = std::ranges::max_element(queue, {}, [&](TransferId id) { return rank(m_transfers[id]); });
      std::rotate(queue.begin(), best, std::next(best));
    }
    return take(link);
  }
  /// The transfer that was taken is in flight from now on.
  void start(TransferId transfer);
  /// Removes the transfer and returns what it was.
  Transfer remove(TransferId transfer);

  [[nodiscard]] Transfer& operator[](TransferId transfer) { return m_transfers[transfer]; }
  /// Null if it was removed.
  [[nodiscard]] Transfer const* find(TransferId transfer) const { return m_transfers.find(transfer); }
  [[nodiscard]] std::size_t size() const { return m_transfers.size(); }
  /// The number of transfers in flight: on all links, on one.
  [[nodiscard]] std::uint32_t active() const { return m_active; }
  [[nodiscard]] std::uint32_t active(LinkId link) const { return m_links[link.index()].active; }
  [[nodiscard]] std::size_t waiting(LinkId link) const { return m_links[link.index()].queue.size(); }
  /// True if transfers wait for the link or for one of its buses, or the link carries its maximum. O(links).
  [[nodiscard]] bool busy(LinkId link) const;

 private:
  struct State {
    std::deque<TransferId> queue;
    std::uint32_t active = 0;
    bool asked = false;  // it is on the agenda
  };

  PlannerContext& m_context;
  std::vector<State> m_links;
  PagedArray<TransferId, Transfer> m_transfers;
  std::uint64_t m_next = 0;
  std::uint32_t m_active = 0;
};

}  // namespace granary::detail
