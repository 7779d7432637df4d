// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/model/machine.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

namespace granary::detail {

/// The planner's remaining work for an event. Its functions post items here, and its loop performs one after the other,
/// so that no function calls back into the one that called it.
///
/// Items are taken in this order: cancellations, then movements of data first in, first out, then in a cyclic sweep:
/// nodes, groups of devices, groups of cores, each by index, and external tasks. Devices have their turns before cores,
/// so that a ready task which both may run goes to an idle device. An item that is posted again before its turn has one
/// turn.
class GRANARY_EXPORT Agenda {
 public:
  /// The task will not run: it is cancelled, or its codelet threw when it was asked for bounds. An invalid id: a policy
  /// is at fault, so all tasks that no worker has are cancelled.
  struct Cancel {
    TaskId task;
  };
  /// Transfers may start on the link.
  struct StartTransfers {
    LinkId link;
  };
  /// Tasks may wait for the datum on the node.
  struct Fetch {
    DataId data;
    NodeId node;
  };
  /// The datum has to pass through the node.
  struct PassThrough {
    DataId data;
    NodeId node;
  };
  /// The replica on the node is being evicted, and holds the only value.
  struct WriteBack {
    DataId data;
    NodeId node;
  };
  /// The datum was released.
  struct Forget {
    DataId data;
  };
  /// Tasks or data that wait for room on the node may find it.
  struct GiveRoom {
    NodeId node;
  };
  /// The scheduler may have tasks for the group, or its workers may take some.
  struct Commit {
    GroupId group;
  };
  /// External tasks may begin.
  struct BeginExternal {};
  using Movement = std::variant<StartTransfers, Fetch, PassThrough, WriteBack, Forget>;

  explicit Agenda(Topology const& topology)
      : m_nodes(topology.machine().nodes.size()), m_turns((m_nodes + topology.groups().size() + 64) / 64) {
    auto const count = static_cast<std::uint32_t>(topology.groups().size());
    m_turn_of_group.resize(count);
    for (WorkerKind const kind : {WorkerKind::Device, WorkerKind::Cpu}) {
      for (GroupId group(0); group.index() < count; group = GroupId(group.value() + 1)) {
        if (topology.group(group).kind != kind) continue;
        m_turn_of_group[group.index()] = m_nodes + m_groups.size();
        m_groups.push_back(group);
      }
    }
  }

  void post(Cancel item) { m_cancelled.push_back(item.task); }
  void post(Movement item) { m_movements.push_back(item); }
  void post(GiveRoom item) { post_turn(item.node.index()); }
  void post(Commit item) { post_turn(m_turn_of_group[item.group.index()]); }
  void post(BeginExternal) { post_turn(m_nodes + m_groups.size()); }

  /// Calls `perform` with the next item; false if there is none.
  template <class Perform>
  bool take(Perform&& perform) {
    if (!m_cancelled.empty()) {
      TaskId const task = m_cancelled.back();
      m_cancelled.pop_back();
      perform(Cancel{task});
    } else if (m_taken < m_movements.size()) {
      Movement const item = m_movements[m_taken++];
      if (m_taken == m_movements.size()) {
        m_movements.clear();
        m_taken = 0;
      }
      std::visit(perform, item);
    } else if (m_posted_turns > 0) {
      auto const index = take_turn();
      if (index < m_nodes) {
        perform(GiveRoom{NodeId(static_cast<std::uint32_t>(index))});
      } else if (index == m_nodes + m_groups.size()) {
        perform(BeginExternal{});
      } else {
        perform(Commit{m_groups[index - m_nodes]});
      }
    } else {
      m_next_turn = 0;
      return false;
    }
    return true;
  }

 private:
  void post_turn(std::size_t index) {
    auto& word = m_turns[index / 64];
    auto const bit = std::uint64_t{1} << index % 64;
    if ((word & bit) == 0) ++m_posted_turns;
    word |= bit;
  }
  // The first posted one at or after m_next_turn, else the first of all.
  std::size_t take_turn() {
    auto word = m_next_turn / 64 % m_turns.size();
    auto left = m_turns[word] & ~std::uint64_t{0} << m_next_turn % 64;
    while (left == 0) {
      word = (word + 1) % m_turns.size();
      left = m_turns[word];
    }
    auto const index = word * 64 + static_cast<std::size_t>(std::countr_zero(left));
    m_turns[word] &= ~(std::uint64_t{1} << index % 64);
    --m_posted_turns;
    m_next_turn = index + 1;
    return index;
  }

  std::size_t m_nodes;
  std::vector<GroupId> m_groups;             // in the order of their turns
  std::vector<std::size_t> m_turn_of_group;  // by group
  std::vector<TaskId> m_cancelled;
  std::vector<Movement> m_movements;
  std::size_t m_taken = 0;             // of m_movements
  std::vector<std::uint64_t> m_turns;  // bits: nodes, then groups, then external tasks
  std::size_t m_posted_turns = 0;
  std::size_t m_next_turn = 0;
};

}  // namespace granary::detail
