// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/planner/admission.hpp>

#include <algorithm>
#include <string>

namespace granary::detail {

Admission::Admission(PlannerContext const& context, Movement const& movement)
    : m_context(context), m_movement(movement) {
  for (std::uint32_t n = 0; n < context.topology.machine().nodes.size(); ++n) {
    m_largest_alignment = std::max(m_largest_alignment, context.topology.machine().nodes[n].alignment);
    if (context.topology.between_others(NodeId(n))) m_between.emplace_back(n);
  }
}

GroupSet Admission::check(TaskSubmission const& submission, AccessList const& accesses) const {
  if (submission.codelet.index() >= m_context.codelets.size()) {
    throw InvalidArgument("a task names codelet " + std::to_string(submission.codelet.value()) +
                          ", which is not registered");
  }
  auto const& codelet = m_context.codelets[submission.codelet.index()];
  check_position(codelet, submission.position);
  Bytes const most = check_accesses(codelet, accesses);
  m_movement.overlaps().check(codelet.name, accesses);
  if (codelet.external) {
    // A value that it only reads may be requested: then it passes the send node.
    bool const ships = std::ranges::none_of(accesses, [](Access const& access) { return writes(access.mode); });
    if (ships && m_context.topology.send_node().valid()) check_nodes_between(codelet, accesses);
    return {};
  }
  GroupSet const allowed = groups(codelet, accesses, most);
  check_nodes_between(codelet, accesses);
  return allowed;
}

void Admission::check_position(Codelet const& codelet, std::uint64_t position) const {
  if (position >= m_next_position) return;
  throw InvalidArgument("task '" + codelet.name + "' has position " + std::to_string(position) +
                        " in the order of submission, but task " + std::to_string(m_next_position - 1) +
                        " was submitted before it");
}

std::uint64_t Admission::take_position(TaskSubmission const& submission) {
  if (submission.position == TaskSubmission::next_position) return m_next_position++;
  m_next_position = submission.position + (m_context.codelets[submission.codelet.index()].external ? 0 : 1);
  return submission.position;
}

// Returns a bound of the bytes that the data take in any memory.
Bytes Admission::check_accesses(Codelet const& codelet, AccessList const& accesses) const {
  auto const& data = m_movement.data();
  Bytes most = 0;
  for (auto const& access : accesses) {
    if (!data.known(access.data) || data[access.data].released()) {
      throw InvalidArgument("task '" + codelet.name + "' accesses data " + std::to_string(access.data.value()) +
                            ", which is not registered");
    }
    auto const& datum = data[access.data];
    if (writes(access.mode)) check_write(codelet, datum, access.mode);
    if (datum.varies) check_varying(codelet, accesses, access);
    Bytes const places = datum.varies && writes(access.mode) ? 2 : 1;
    most = std::min(most + places * (datum.bound + m_largest_alignment), unbounded + 1);
    if (!reads(access.mode) || access.repeated || datum.defined()) continue;
    auto const& overlaps = m_movement.overlaps();
    if (overlaps.is_defined_by_another(access.data) || overlaps.waits_for_report(access.data)) continue;
    if (datum.value.lost()) {
      throw InvalidArgument("task '" + codelet.name + "' reads data '" + datum.description.name +
                            "', which an earlier failure left without a value");
    }
    throw InvalidArgument("task '" + codelet.name + "' reads data '" + datum.description.name +
                          "', which has no origin and was not written by an earlier task");
  }
  return most;
}

void Admission::check_write(Codelet const& codelet, Datum const& datum, AccessMode mode) const {
  auto const what = [&] { return "task '" + codelet.name + "' writes data '" + datum.description.name + "', "; };
  if (datum.read_only) throw InvalidArgument(what() + "which has a read-only place that workers use");
  if (codelet.external && !datum.home.valid())
    throw InvalidArgument(what() + "which has no home, and no worker runs the task");
  if (codelet.external && reads(mode))
    throw InvalidArgument(what() + "which it reads, too, and no worker runs the task");
}

void Admission::check_varying(Codelet const& codelet, AccessList const& accesses, Access const& access) const {
  auto const& name = m_movement.data()[access.data].description.name;
  auto const refuse = [&](std::string const& why) {
    throw InvalidArgument("task '" + codelet.name + "' accesses varying data '" + name + "' " + why);
  };
  if (access.repeated) refuse("twice: as read-write data it gets the present value and room for the next one");
  if (writes(access.mode) && static_cast<std::size_t>(&access - accesses.begin()) >= most_results)
    refuse("that it writes after " + std::to_string(most_results) + " other data: name those that vary first");
}

GroupSet Admission::groups(Codelet const& codelet, AccessList const& accesses, Bytes most) const {
  GroupSet groups;
  bool runnable = false;
  std::string refusal;
  for (std::size_t g = 0; g < m_context.topology.groups().size(); ++g) {
    auto const& group = m_context.topology.groups()[g];
    if (!codelet.runs_on(group.kind)) continue;
    runnable = true;
    Bytes const room = m_movement.memories().room_for_holders(group.node);
    Bytes const needed = most <= room ? most : m_movement.memories().footprint(accesses, group.node);
    if (needed <= room) {
      groups.insert(GroupId(static_cast<std::uint32_t>(g)));
    } else if (refusal.empty()) {
      auto const& node = m_movement.memories()[group.node];
      auto const count = std::ranges::count_if(accesses, [](Access const& access) { return !access.repeated; });
      refusal = "task '" + codelet.name + "' needs at least " + std::to_string(needed + node.reserve) + " bytes (" +
                format_bytes(needed + node.reserve) + ") in memory node '" +
                m_context.topology.machine()[group.node].name + "' for its " + std::to_string(count) + " data" +
                (node.reserve > 0 ? " and data that pass through" : "") + ", but the limit there is " +
                std::to_string(node.ledger.capacity()) + " bytes";
    }
  }
  if (!runnable) throw InvalidArgument("no worker of this machine can run codelet '" + codelet.name + "'");
  if (groups.empty()) throw MemoryLimitError(refusal);
  return groups;
}

void Admission::check_nodes_between(Codelet const& codelet, AccessList const& accesses) const {
  for (NodeId const id : m_between) {
    auto const& node = m_movement.memories()[id];
    for (auto const& access : accesses) {
      auto const& datum = m_movement.data()[access.data];
      Bytes const size = node.ledger.rounded(datum.bound);
      Bytes const reserve = std::max(size, node.reserve);  // size: see Memories::reserve_for
      Bytes const capacity = node.ledger.capacity();
      if (datum.slot_on(id) != Slot::Pool || size <= capacity - std::min(reserve, capacity)) continue;
      throw MemoryLimitError(
          "data '" + datum.description.name + "' of task '" + codelet.name + "' pass through memory node '" +
          m_context.topology.machine()[id].name + "', which needs at least " + std::to_string(size + reserve) +
          " bytes for that, but the limit there is " + std::to_string(node.ledger.capacity()) + " bytes");
    }
  }
}

}  // namespace granary::detail
