// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/planner/dispatch/shipments.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace granary::detail {

void Shipments::ask(TaskId id) {
  auto const* const task = m_tasks.find(id);
  bool const begun = task != nullptr && task->external() && task->assignment.phase == TaskPhase::Issued;
  bool const ships = begun && task->accesses.size() == 1 && !writes(task->accesses[0].mode) && m_dock.valid();
  if (!ships || std::ranges::find(m_shipments, id, &Shipment::task) != m_shipments.end())
    throw InternalError("task " + std::to_string(id.value()) + " has no value to send now");
  m_shipments.push_back({id, task->accesses[0].data});
  count_without_room(1);
  m_yields = false;
  place_again();
}

void Shipments::place_again() {
  for (auto& shipment : m_shipments) {
    if (shipment.state == State::WithoutRoom) place(shipment);
  }
}

bool Shipments::yield() {
  if (m_yields) return false;
  for (auto& shipment : m_shipments) {
    if (shipment.state != State::Fetching) continue;
    shipment.state = State::WithoutRoom;
    count_without_room(1);
    m_yields = true;
    m_movement.let_go_shipped(shipment.data, m_dock);
  }
  return m_yields;
}

void Shipments::place(Shipment& shipment) {
  auto const* const origin = m_movement.data()[shipment.data].find(m_dock, Slot::Origin);
  if (origin != nullptr && origin->valid) {  // nothing writes it, and it is never dropped
    shipment.at_origin = true;
    count_without_room(-1);
    return send(shipment, *origin);
  }
  if (!m_movement.hold_to_ship(shipment.data, m_dock, m_tasks[shipment.task].priority)) return;
  shipment.state = State::Fetching;
  count_without_room(-1);
  send_if_there(shipment);
}

void Shipments::send_if_there(Shipment& shipment) {
  auto const* const replica = m_movement.data()[shipment.data].on(m_dock);
  if (replica->valid) send(shipment, *replica);
}

void Shipments::send(Shipment& shipment, Replica const& from) {
  shipment.state = State::Sending;
  m_context.commands.emplace_back(ShipCommand{.task = shipment.task,
                                              .data = shipment.data,
                                              .from = {m_dock, from.slot, from.offset},
                                              .bytes = m_movement.data()[shipment.data].moved_bytes(),
                                              .version = from.version});
}

void Shipments::shipped(TaskId task) {
  auto const found = std::ranges::find(m_shipments, task, &Shipment::task);
  if (found == m_shipments.end() || found->state != State::Sending)
    throw InternalError("task " + std::to_string(task.value()) + " has sent a value for which nobody asked");
  auto const [id, data, state, at_origin] = *found;
  m_shipments.erase(found);
  auto& statistics = m_context.statistics.shipments;
  ++statistics.transfers;
  statistics.bytes += m_movement.data()[data].moved_bytes();
  if (!at_origin) m_movement.let_go_shipped(data, m_dock);
}

void Shipments::give_room(NodeId node) {
  if (node == m_dock && m_without_room > 0 && !m_yields) place_again();
}

void Shipments::look_for_arrived(DataId data) {
  if (std::exchange(m_yields, false)) m_context.agenda.post(Agenda::GiveRoom{m_dock});
  if (m_shipments.size() == m_without_room) return;
  for (auto& shipment : m_shipments) {
    if (shipment.data == data && shipment.state == State::Fetching) send_if_there(shipment);
  }
}

void Shipments::fetch_again(DataId data, NodeId node) {
  auto const waits = [&](Shipment const& shipment) {
    return shipment.data == data && shipment.state == State::Fetching;
  };
  if (node == m_dock && std::ranges::any_of(m_shipments, waits)) m_context.agenda.post(Agenda::Fetch{data, node});
}

std::vector<TaskId> Shipments::give_up(DataId data, NodeId node) {
  std::vector<TaskId> tasks;
  if (node != m_dock) return tasks;
  std::erase_if(m_shipments, [&](Shipment const& shipment) {
    if (shipment.data != data || shipment.state != State::Fetching) return false;
    tasks.push_back(shipment.task);
    m_movement.let_go_shipped(data, node);
    return true;
  });
  return tasks;
}

TaskId Shipments::give_up_without_room() {
  if (m_without_room == 0 || m_without_room < m_shipments.size()) return {};
  TaskId const task = m_shipments.front().task;
  m_shipments.erase(m_shipments.begin());
  count_without_room(-1);
  return task;
}

bool Shipments::stand_still() const {
  return !m_shipments.empty() && std::ranges::find(m_shipments, State::Sending, &Shipment::state) == m_shipments.end();
}

std::uint32_t Shipments::places(DataId data) const {
  return static_cast<std::uint32_t>(std::ranges::count_if(m_shipments, [&](Shipment const& shipment) {
    return shipment.data == data && shipment.state != State::WithoutRoom && !shipment.at_origin;
  }));
}

void Shipments::count_without_room(std::ptrdiff_t change) {
  m_without_room += static_cast<std::size_t>(change);
  m_movement.set_shipments(m_dock, m_without_room);
}

}  // namespace granary::detail
