// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/planner/invariants.hpp>

#include <map>
#include <string>

namespace granary::detail {
namespace {

void demand(bool holds, std::string const& what) {
  if (!holds) throw InternalError("broken invariant: " + what);
}

bool has_places(LiveTask const& task) {
  return task.assignment.phase == TaskPhase::Fetching || task.assignment.phase == TaskPhase::Issued;
}

}  // namespace

void Invariants::check() const {
  check_nodes();
  check_links();
  check_data();
  check_tasks();
  check_turns();
  check_pins();
  check_booking();
  demand(m_outgoing_values.size() == 0 ||
             m_movement.memories()[m_outgoing_values.send_node()].unsent == m_outgoing_values.without_room(),
         "the values that wait for room to be sent are miscounted");
  m_movement.overlaps().check_invariants();
}

void Invariants::check_booking() const {
  Bytes booked = 0;
  m_movement.data().for_each([&](DataId id, Datum const& datum) {
    booked += m_booking.booked(id);
    demand(m_booking.booked(id) == m_booking.demanded(id, datum),
           "the bytes booked for '" + datum.description.name + "' contradict its state");
  });
  demand(booked == m_booked, "the booked bytes are miscounted");
  std::uint64_t own = 0;
  m_dispatch.tasks().for_each([&](LiveTask const& task) { own += m_booking.is_own(task) ? 1 : 0; });
  demand(own == m_booking.own_tasks(), "the tasks of this process are miscounted");
  demand(!m_booking.asleep() || own > 0, "submission sleeps although nothing will wake it");
}

void Invariants::check_nodes() const {
  auto const& data = m_movement.data();
  for (std::uint32_t n = 0; n < m_topology.machine().nodes.size(); ++n) {
    NodeId const id(n);
    auto const& node = m_movement.memories()[id];
    auto const& name = m_topology.machine()[id].name;
    Bytes used = 0;
    Bytes evicting = 0;
    Bytes end = 0;
    for (auto const& [offset, block] : node.ledger.blocks()) {
      demand(offset >= end, "two places overlap on node '" + name + "'");
      end = offset + block.size;
      used += block.size;
      auto const* const kept = m_movement.kept().find(block.data);
      if (kept != nullptr && *kept == Place{id, Slot::Pool, offset}) {
        auto const* const written = data[block.data].on(id);
        demand(written != nullptr && written->valid && written->writers > 0,
               "a value is kept aside on node '" + name + "' that no task overwrites");
        continue;
      }
      auto const* const result = m_movement.results().find(block.data);
      if (result != nullptr && *result == Place{id, Slot::Pool, offset}) {
        auto const* const own = data[block.data].on(id);
        demand(own != nullptr && own->pins > 0 && block.size >= node.ledger.rounded(data[block.data].result),
               "a place on node '" + name + "' is for a result that no task makes");
        continue;
      }
      auto const* const replica = data.known(block.data) ? data[block.data].find(id, Slot::Pool) : nullptr;
      demand(replica != nullptr && replica->offset == offset && replica->bytes == block.size,
             "a place on node '" + name + "' belongs to no replica");
      if (replica->evicting) evicting += block.size;
    }
    demand(end <= node.ledger.capacity(), "node '" + name + "' is used beyond its capacity");
    demand(used == node.ledger.used(), "node '" + name + "' miscounts its bytes in use");
    demand(evicting == node.evicting, "node '" + name + "' miscounts the bytes that are being evicted");
    demand(node.waiting == m_dispatch.waiting(id), "node '" + name + "' miscounts the tasks that wait for room");
  }
}

void Invariants::check_links() const {
  std::uint32_t active = 0;
  for (std::uint32_t l = 0; l < m_topology.machine().links.size(); ++l) {
    auto const on_link = m_movement.links().active(LinkId(l));
    demand(on_link <= m_topology.machine().links[l].width, "a link carries more transfers than its width");
    active += on_link;
  }
  demand(active == m_movement.links().active(), "the transfers in flight are miscounted");
}

void Invariants::check_data() const {
  std::uint32_t going_home = 0;
  m_movement.data().for_each([&](DataId, Datum const& datum) {
    auto const& name = datum.description.name;
    going_home += datum.way_home.going() ? 1 : 0;
    std::uint32_t working = 0;
    auto const first = std::ranges::find_if(datum.replicas, &Replica::valid);
    for (auto const& replica : datum.replicas) {
      working += replica.writers;
      demand(!replica.valid || (replica.version == first->version && replica.version <= datum.version),
             "the valid replicas of '" + name + "' have different versions");
      demand(!replica.superseded || replica.version <= datum.version,
             "a superseded replica of '" + name + "' is newer than the datum");
      demand(replica.consistent(), "a replica of '" + name + "' contradicts itself");
    }
    bool const promised = datum.value.state() == Value::State::Current;
    demand(!promised || datum.has_value() || working > 0 || datum.writers > 0,
           "the last valid replica of '" + name + "' is lost");
    for (auto const& hop : datum.hops) {
      auto const* const target = datum.on(hop.target);
      demand(target != nullptr && !target->valid && target->pins > 0, "a hop of '" + name + "' serves nobody");
      demand(!datum.waits_for(hop.via, hop.target), "the hops of '" + name + "' lead in a circle");
    }
    demand(datum.active <= datum.transfers, "'" + name + "' miscounts its transfers");
    demand(datum.writers <= datum.users, "'" + name + "' miscounts its users");
  });
  demand(going_home == m_movement.homes().going(), "the data on their way home are miscounted");
}

void Invariants::check_tasks() const {
  std::uint32_t issued = 0;
  for (std::uint32_t g = 0; g < m_topology.groups().size(); ++g) {
    GroupId const group(g);
    std::uint32_t ahead = 0;
    for (TaskId const id : m_dispatch.committed(group)) {
      LiveTask const& task = m_dispatch.tasks()[id];
      bool const with_worker = task.assignment.phase == TaskPhase::Issued;
      demand(task.predecessors == 0 || with_worker, "a task was committed before its predecessors ended");
      (with_worker ? issued : ahead) += 1;
      if (!has_places(task)) continue;
      for (auto const& access : task.accesses) {
        auto const& datum = m_movement.data()[access.data];
        auto const* const replica = datum.on(m_dispatch.node_of(task));
        demand(replica != nullptr, "a task holds no place for '" + datum.description.name + "'");
        bool const readable =
            replica->valid || datum.value.lost() || task.cancelled || (task.predecessors > 0 && replica->writers > 0);
        demand(!with_worker || !reads(access.mode) || readable,
               "a running task reads '" + datum.description.name + "', which is not valid there");
      }
    }
    demand(ahead == m_dispatch.ahead(group), "a group miscounts its committed tasks");
  }
  demand(issued == m_movement.memories().working(), "the issued tasks are miscounted");
}

// A task that is ready, or further, has its turn on each datum on which it commutes; one that waits for nothing else
// waits for another task's turn.
void Invariants::check_turns() const {
  m_dispatch.tasks().for_each([&](LiveTask const& task) {
    bool const chooses = m_dispatch.takes_turn_later(task);
    bool const waits = task.assignment.phase == TaskPhase::Waiting;
    for (auto const& access : task.accesses) {
      if (access.repeated || !commutes(access.mode) || waits || task.cancelled) continue;
      bool const may_wait = chooses && task.assignment.phase == TaskPhase::Ready;
      demand(may_wait || m_dispatch.commuting().owner(access.data) == task.id, "a task did not wait for its turn");
    }
    std::uint32_t before = task.predecessors;
    if (!chooses)
      m_dispatch.commuting().for_each_before(task, [&](TaskId other) {
        demand(m_dispatch.tasks().find(other) != nullptr, "a task that has ended has its turn");
        ++before;
      });
    demand(!waits || before > 0, "a task waits for nothing");
  });
}

// Replicas are held by tasks with places, by hops that pass through them, and where values are sent from.
void Invariants::check_pins() const {
  std::map<std::pair<DataId, NodeId>, std::uint32_t> holds;
  m_dispatch.tasks().for_each([&](LiveTask const& task) {
    if (!has_places(task) || task.external()) return;
    for (auto const& access : task.accesses) {
      if (!access.repeated) ++holds[{access.data, m_dispatch.node_of(task)}];
    }
  });
  m_movement.data().for_each([&](DataId data, Datum const& datum) {
    for (auto const& hop : datum.hops) holds[{data, hop.via}] += hop.pinned ? 1 : 0;
    if (m_outgoing_values.size() > 0) holds[{data, m_outgoing_values.send_node()}] += m_outgoing_values.places(data);
    for (auto const& replica : datum.replicas) {
      auto const held = holds.find({data, replica.node});
      bool const usable = replica.slot == datum.slot_on(replica.node);
      std::uint32_t const pins = usable && held != holds.end() ? held->second : 0;
      demand(replica.pins == pins, "a replica of '" + datum.description.name + "' miscounts who holds it");
    }
  });
}

}  // namespace granary::detail
