// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/planner/movement/overlaps.hpp>
#include <granary/detail/core/planner/movement/routes.hpp>

#include <cstdint>
#include <deque>
#include <vector>

namespace granary::detail {

/// Final values on their way home: after a flush, after the last release, or early, while links are idle.
class GRANARY_EXPORT Homes {
 public:
  Homes(PlannerContext& context, DataTable& data, Overlaps& overlaps, Links const& links, Memories& memories,
        Routes& routes)
      : m_context(context),
        m_data(data),
        m_overlaps(overlaps),
        m_links(links),
        m_memories(memories),
        m_routes(routes),
        m_final_values(context.topology.machine().nodes.size()) {}

  /// The data on their way home because of a flush or of their release.
  [[nodiscard]] std::uint32_t going() const { return m_going; }
  /// Moves the value one step toward the home, if the home lacks it, no way home failed and no task writes it now.
  void send_home(DataId data);
  /// Sends all data home that are not on their way.
  void flush();
  /// The value of the datum was lost, and its home has it again.
  void regain(DataId data);
  /// The value is about to be overwritten or was lost: it does not go home.
  void stay(DataId data);
  /// The way home failed; `lost_on`: the device whose loss is the reason, or invalid. Returns whether the value is lost
  /// with it.
  bool fail(DataId data, NodeId lost_on);

  /// No submitted task will write the datum, whose value is on the node, if it has a home.
  void has_final_value(DataId data, NodeId node);
  /// Writes back one final value from each node, as long as its link has nothing else to do; false if there was none.
  bool write_back_early();

  /// A released datum that nobody uses any more is forgotten once its home has its value.
  void try_forget(DataId data);
  /// Drops the replicas and frees the id, unless transfers of the datum are under way.
  void forget(DataId data);
  /// The failures were reported: writes to homes may be tried again, released data need not be kept for the report.
  void failures_reported();
  /// The failure with that number was reported for one datum; returns whether it concerns no other one.
  bool failure_reported(DataId data, std::uint32_t cause);

 private:
  [[nodiscard]] bool wants_early(DataId data, NodeId node) const;
  [[nodiscard]] bool awaits_report(DataId data) const;
  void give_up_lost(DataId data);
  void report_value(DataId data);

  PlannerContext& m_context;
  DataTable& m_data;
  Overlaps& m_overlaps;
  Links const& m_links;
  Memories& m_memories;
  Routes& m_routes;
  std::vector<std::deque<DataId>> m_final_values;  // by node: not home yet
  std::size_t m_final = 0;                         // of all nodes
  std::uint32_t m_going = 0;
};

}  // namespace granary::detail
