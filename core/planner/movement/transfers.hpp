// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/planner/movement/homes.hpp>

#include <cstdint>

namespace granary::detail {

/// The life of a transfer after it was queued: its start, its end, and what follows from that.
class GRANARY_EXPORT Transfers {
 public:
  Transfers(PlannerContext& context, DataTable& data, Links& links, Memories& memories, Routes& routes, Homes& homes)
      : m_context(context), m_data(data), m_links(links), m_memories(memories), m_routes(routes), m_homes(homes) {}

  /// Starts transfers of the link's queue, as many as it can carry.
  void start_on(LinkId link);
  /// The transfer arrived; returns the datum.
  DataId copy_done(TransferId transfer);
  /// The transfer ended, with or without success, and no longer uses its places. `settle` follows.
  Transfer end(TransferId transfer);
  /// Updates both places and the link, after it is known whether the value arrived.
  void settle(Transfer const& transfer);

 private:
  [[nodiscard]] std::int64_t priority_of(Transfer const& transfer) const;
  void start(TransferId transfer);
  void source_is_gone(TransferId transfer);

  PlannerContext& m_context;
  DataTable& m_data;
  Links& m_links;
  Memories& m_memories;
  Routes& m_routes;
  Homes& m_homes;
};

}  // namespace granary::detail
