// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/planner/dispatch/live_task.hpp>
#include <granary/detail/core/planner/movement/movement.hpp>

#include <cstddef>
#include <vector>

namespace granary::detail {

/// Values that other processes have asked for: each gets a place on the send node, from which they are sent,
/// comes there, and is sent. Such a place waits only for a transfer to the send node and for the sending, whose
/// destination is reserved: so it ends whatever tasks wait for.
class OutgoingValues {
 public:
  OutgoingValues(PlannerContext& context, LiveTasks const& tasks, Movement& movement)
      : m_context(context), m_tasks(tasks), m_movement(movement), m_send_node(context.topology.send_node()) {}

  /// See Asked. Throws InternalError if that does not hold.
  void ask(TaskId task);
  /// The value was sent.
  void shipped(TaskId task);
  /// Outgoing values that wait for room on the node may find it.
  void give_room(NodeId node);
  /// A transfer of the datum has ended.
  void look_for_arrived(DataId data);
  /// The datum was on its way home through the node, or to it, and did not come there.
  void fetch_again(DataId data, NodeId node);
  /// Nothing will bring the datum to the node: forgets the outgoing values that wait for it there and returns their
  /// tasks.
  [[nodiscard]] std::vector<TaskId> give_up(DataId data, NodeId node);
  /// If all wait for room: forgets the first one and returns its task.
  [[nodiscard]] TaskId give_up_without_room();

  /// Nothing moves: outgoing values that hold places on the send node for values that are further away give them to
  /// values that have to pass there, until a transfer has ended. Returns whether there were such.
  bool yield();
  /// There are some, and none is being sent.
  [[nodiscard]] bool stand_still() const;
  /// The number of outgoing values that hold a place of the datum on the send node.
  [[nodiscard]] std::uint32_t places(DataId data) const;
  [[nodiscard]] NodeId send_node() const { return m_send_node; }
  [[nodiscard]] std::size_t size() const { return m_outgoing_values.size(); }
  /// Of these, the ones without a place.
  [[nodiscard]] std::size_t without_room() const { return m_without_room; }

 private:
  enum class State : std::uint8_t { WithoutRoom, Fetching, Sending };
  struct OutgoingValue {
    TaskId task;
    DataId data;
    State state = State::WithoutRoom;
    bool at_origin = false;  // it is sent from there, and has no other place on the send node
  };

  void place(OutgoingValue& outgoing_value);
  void place_again();
  void send_if_there(OutgoingValue& outgoing_value);
  void send(OutgoingValue& outgoing_value, Replica const& from);
  void count_without_room(std::ptrdiff_t change);

  PlannerContext& m_context;
  LiveTasks const& m_tasks;
  Movement& m_movement;
  NodeId m_send_node;
  std::vector<OutgoingValue> m_outgoing_values;  // in the order in which they were asked for
  std::size_t m_without_room = 0;
  bool m_yields = false;  // those without a place take none
};

}  // namespace granary::detail
