// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/model/access.hpp>
#include <granary/detail/core/planner/movement/homes.hpp>
#include <granary/detail/core/planner/movement/kept_values.hpp>
#include <granary/detail/core/planner/movement/results.hpp>

#include <cstdint>

namespace granary::detail {

/// Updates a datum's replicas and value when it is written, or when the write is not done.
class GRANARY_EXPORT Changes {
 public:
  Changes(PlannerContext& context, DataTable& data, Memories& memories, KeptValues& kept, Results& results,
          Routes& routes, Homes& homes)
      : m_context(context),
        m_data(data),
        m_memories(memories),
        m_kept(kept),
        m_results(results),
        m_routes(routes),
        m_homes(homes) {}

  /// The datum is overwritten on the node from now on. Its other replicas hold a value that nobody will read; `keep`:
  /// they stay until the write ends, so that it may be reverted after it has begun to change the bytes.
  void begin(DataId data, NodeId node, bool keep);
  /// It was written.
  void end(Access const& access, NodeId node);
  /// The home is the only valid place from now on. `regained`: a lost value is there again.
  void hand_over(Access const& access, bool regained);
  /// True if a write that has changed the bytes may be reverted: nobody will need the value that it overwrites, another
  /// replica holds it, it is kept aside, or the result is in another place.
  [[nodiscard]] bool may_revert(Access const& access) const;
  /// The write was not done. `changed`: its bytes hold no value any more, unless it was kept aside and put back.
  void revert(DataId data, NodeId node, bool changed);
  /// It was spoilt by the failure with this number; returns whether that is news. `poison` follows.
  bool lose(DataId data, NodeId node, std::uint32_t cause);
  /// The task that should write it was cancelled because of that failure. Returns whether the datum has no value now:
  /// the task came back once, and had no need of the old value. `poison` follows then.
  bool skip(DataId data, std::uint32_t cause);
  /// No replica holds a value any more.
  void poison(DataId data);
  /// The application may change the value in the home. If the datum is at rest and the home holds its value, only the
  /// home and the mirrors keep it.
  void leave_to_home(DataId data);
  /// The application has changed the value in its place on the node: only this one is valid now. The datum is at rest.
  void make_at(DataId data, NodeId node);

 private:
  [[nodiscard]] static bool at_rest(Datum const& datum) { return datum.users == 0 && datum.transfers == 0; }

  PlannerContext& m_context;
  DataTable& m_data;
  Memories& m_memories;
  KeptValues& m_kept;
  Results& m_results;
  Routes& m_routes;
  Homes& m_homes;
};

}  // namespace granary::detail
