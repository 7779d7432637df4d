// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/planner/movement/memories.hpp>

namespace granary::detail {

/// The ways of data between nodes: to holders, link by link through nodes in between, and toward their homes.
class GRANARY_EXPORT Routes {
 public:
  Routes(PlannerContext& context, DataTable& data, Links& links, Memories& memories)
      : m_context(context), m_data(data), m_links(links), m_memories(memories) {}

  /// The link that leads to the node from the replica from which the value would be fetched; invalid if there is no
  /// such replica or no such link.
  [[nodiscard]] LinkId direct_link(DataId data, NodeId node) const;
  /// Brings the value to the replica on the node, if it is not there or on its way: from the nearest valid replica, or
  /// first to the next node on the way from there. Throws InternalError if there is no value.
  void fetch(DataId data, NodeId node);
  /// The datum has to be on `node` before it can go on to the targets of its hops.
  void pass_through(DataId data, NodeId node);
  /// The value is on `node`: the hops through it go on.
  void continue_hops(DataId data, NodeId node);
  /// The replica on `target`, if any, is not filled any more. Replicas on the way that no other hop needs are let go.
  void end_hops(DataId data, NodeId target);
  /// A source of the datum's hops is gone: all routes are found again, so that no two lead through each other.
  void find_ways_anew(DataId data);
  /// The value is about to be overwritten: nobody fetches it any more.
  void cancel_transfers(DataId data);
  /// Moves the value one node nearer to its home or, without one, to where temporaries are stored.
  void write_back(DataId data, NodeId from);

  void give_room_to_write_backs(NodeId node);
  /// To data that pass through, in the order in which they came.
  void give_room_to_transits(NodeId node);

 private:
  [[nodiscard]] NodeId nearest_source(DataId data, NodeId node) const;
  [[nodiscard]] std::size_t hops(NodeId from, NodeId to) const;
  void queue(DataId data, LinkId link, Place to, bool write_back);
  bool give_room_to_transit(NodeId node, DataId data);

  PlannerContext& m_context;
  DataTable& m_data;
  Links& m_links;
  Memories& m_memories;
};

}  // namespace granary::detail
