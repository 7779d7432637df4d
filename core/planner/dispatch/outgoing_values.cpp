// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/planner/dispatch/outgoing_values.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace granary::detail {

void OutgoingValues::ask(TaskId id) {
  auto const* const task = m_tasks.find(id);
  bool const begun = task != nullptr && task->external() && task->assignment.phase == TaskPhase::Issued;
  bool const ships = begun && task->accesses.size() == 1 && !writes(task->accesses[0].mode) && m_send_node.valid();
  if (!ships || std::ranges::find(m_outgoing_values, id, &OutgoingValue::task) != m_outgoing_values.end())
    throw InternalError("task " + std::to_string(id.value()) + " has no value to send now");
  m_outgoing_values.push_back({id, task->accesses[0].data});
  count_without_room(1);
  m_yields = false;
  place_again();
}

void OutgoingValues::place_again() {
  for (auto& outgoing_value : m_outgoing_values) {
    if (outgoing_value.state == State::WithoutRoom) place(outgoing_value);
  }
}

bool OutgoingValues::yield() {
  if (m_yields) return false;
  for (auto& outgoing_value : m_outgoing_values) {
    if (outgoing_value.state != State::Fetching) continue;
    outgoing_value.state = State::WithoutRoom;
    count_without_room(1);
    m_yields = true;
    m_movement.let_go_shipped(outgoing_value.data, m_send_node);
  }
  return m_yields;
}

void OutgoingValues::place(OutgoingValue& outgoing_value) {
  auto const* const origin = m_movement.data()[outgoing_value.data].find(m_send_node, Slot::Origin);
  if (origin != nullptr && origin->valid) {  // nothing writes it, and it is never dropped
    outgoing_value.at_origin = true;
    count_without_room(-1);
    return send(outgoing_value, *origin);
  }
  if (!m_movement.hold_to_ship(outgoing_value.data, m_send_node, m_tasks[outgoing_value.task].priority)) return;
  outgoing_value.state = State::Fetching;
  count_without_room(-1);
  send_if_there(outgoing_value);
}

void OutgoingValues::send_if_there(OutgoingValue& outgoing_value) {
  auto const* const replica = m_movement.data()[outgoing_value.data].on(m_send_node);
  if (replica->valid) send(outgoing_value, *replica);
}

void OutgoingValues::send(OutgoingValue& outgoing_value, Replica const& from) {
  outgoing_value.state = State::Sending;
  m_context.commands.emplace_back(ShipCommand{.task = outgoing_value.task,
                                              .data = outgoing_value.data,
                                              .from = {m_send_node, from.slot, from.offset},
                                              .bytes = m_movement.data()[outgoing_value.data].moved_bytes(),
                                              .version = from.version});
}

void OutgoingValues::shipped(TaskId task) {
  auto const found = std::ranges::find(m_outgoing_values, task, &OutgoingValue::task);
  if (found == m_outgoing_values.end() || found->state != State::Sending)
    throw InternalError("task " + std::to_string(task.value()) + " has sent a value for which nobody asked");
  auto const [id, data, state, at_origin] = *found;
  m_outgoing_values.erase(found);
  auto& statistics = m_context.statistics.outgoing_values;
  ++statistics.transfers;
  statistics.bytes += m_movement.data()[data].moved_bytes();
  if (!at_origin) m_movement.let_go_shipped(data, m_send_node);
}

void OutgoingValues::give_room(NodeId node) {
  if (node == m_send_node && m_without_room > 0 && !m_yields) place_again();
}

void OutgoingValues::look_for_arrived(DataId data) {
  if (std::exchange(m_yields, false)) m_context.agenda.post(Agenda::GiveRoom{m_send_node});
  if (m_outgoing_values.size() == m_without_room) return;
  for (auto& outgoing_value : m_outgoing_values) {
    if (outgoing_value.data == data && outgoing_value.state == State::Fetching) send_if_there(outgoing_value);
  }
}

void OutgoingValues::fetch_again(DataId data, NodeId node) {
  auto const waits = [&](OutgoingValue const& outgoing_value) {
    return outgoing_value.data == data && outgoing_value.state == State::Fetching;
  };
  if (node == m_send_node && std::ranges::any_of(m_outgoing_values, waits))
    m_context.agenda.post(Agenda::Fetch{data, node});
}

std::vector<TaskId> OutgoingValues::give_up(DataId data, NodeId node) {
  std::vector<TaskId> tasks;
  if (node != m_send_node) return tasks;
  std::erase_if(m_outgoing_values, [&](OutgoingValue const& outgoing_value) {
    if (outgoing_value.data != data || outgoing_value.state != State::Fetching) return false;
    tasks.push_back(outgoing_value.task);
    m_movement.let_go_shipped(data, node);
    return true;
  });
  return tasks;
}

TaskId OutgoingValues::give_up_without_room() {
  if (m_without_room == 0 || m_without_room < m_outgoing_values.size()) return {};
  TaskId const task = m_outgoing_values.front().task;
  m_outgoing_values.erase(m_outgoing_values.begin());
  count_without_room(-1);
  return task;
}

bool OutgoingValues::stand_still() const {
  return !m_outgoing_values.empty() &&
         std::ranges::find(m_outgoing_values, State::Sending, &OutgoingValue::state) == m_outgoing_values.end();
}

std::uint32_t OutgoingValues::places(DataId data) const {
  return static_cast<std::uint32_t>(std::ranges::count_if(m_outgoing_values, [&](OutgoingValue const& outgoing_value) {
    return outgoing_value.data == data && outgoing_value.state != State::WithoutRoom && !outgoing_value.at_origin;
  }));
}

void OutgoingValues::count_without_room(std::ptrdiff_t change) {
  m_without_room += static_cast<std::size_t>(change);
  m_movement.set_unsent(m_send_node, m_without_room);
}

}  // namespace granary::detail
