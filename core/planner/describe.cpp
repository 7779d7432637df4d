// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The planner's state as text, to find out why nothing proceeds.
#include <granary/core/planner/planner.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

namespace granary {

namespace {

// Limit of lines of a kind; the rest is counted.
constexpr std::size_t most_lines = 20;
// Limit of names in a line.
constexpr std::size_t most_names = 6;

class Lines {
 public:
  void add(std::string const& line) {
    if (m_count++ < most_lines) m_text += line + '\n';
  }
  [[nodiscard]] std::string text(std::string const& kind) const {
    return m_count <= most_lines ? m_text
                                 : m_text + "and " + std::to_string(m_count - most_lines) + " more " + kind + '\n';
  }

 private:
  std::string m_text;
  std::size_t m_count = 0;
};

class Names {
 public:
  void add(std::string const& name) {
    if (m_count++ < most_names) m_text += (m_text.empty() ? "" : ", ") + name;
  }
  [[nodiscard]] std::string text() const {
    return m_count <= most_names ? m_text : m_text + " and " + std::to_string(m_count - most_names) + " more";
  }

 private:
  std::string m_text;
  std::size_t m_count = 0;
};

}  // namespace

std::string Planner::name_of(Task const& task) const {
  return "task '" + m_codelets[task.codelet.index()].name + "' " + std::to_string(task.id.value());
}

std::string Planner::describe_waiting() const {
  return describe_phases() + describe_committed() + describe_uncommitted() + describe_memories();
}

std::string Planner::describe_phases() const {
  std::array<std::size_t, 5> count{};
  m_graph.for_each([&](Task const& task) { ++count[static_cast<std::size_t>(task.phase)]; });
  auto const of = [&](TaskPhase phase) { return std::to_string(count[static_cast<std::size_t>(phase)]); };
  return std::to_string(m_graph.size()) + " tasks have not ended; with a worker: " + of(TaskPhase::Issued) +
         ", waiting for data: " + of(TaskPhase::Fetching) + ", waiting for room: " + of(TaskPhase::Committed) +
         ", ready: " + of(TaskPhase::Ready) + ", waiting for other tasks: " + of(TaskPhase::Waiting) + '\n';
}

std::string Planner::describe_committed() const {
  auto const& machine = m_topology.machine();
  Lines issued;
  Lines fetching;
  Lines without_room;
  for (std::size_t g = 0; g < m_groups.size(); ++g) {
    auto const node = m_topology.groups()[g].node;
    auto const& ledger = m_nodes[node.index()].ledger;
    for (TaskId const id : m_groups[g].committed) {
      Task const& task = m_graph[id];
      auto const start = name_of(task);
      auto const where = " on '" + machine[node].name + "'";
      if (task.phase == TaskPhase::Issued) {
        issued.add(start + ": running or next on worker '" + machine[task.worker].name + "'");
      } else if (task.phase == TaskPhase::Fetching) {
        Names missing;
        for (auto const& access : task.accesses) {
          auto const* replica = record(access.data).on(node);
          if (access.repeated || replica->valid) continue;
          auto const* transfer = replica->incoming.valid() ? m_transfers.find(replica->incoming) : nullptr;
          missing.add("'" + record(access.data).description.name + "'" +
                      (transfer != nullptr && transfer->active ? " (on its way)" : ""));
        }
        fetching.add(start + where + ": waits for " + missing.text());
      } else {
        without_room.add(start + where + ": waits for room: its data take " +
                         format_bytes(footprint(task.accesses, node)) + ", " + format_bytes(ledger.free_bytes()) +
                         " are free");
      }
    }
  }
  return issued.text("with a worker") + fetching.text("that wait for data") + without_room.text("that wait for room");
}

std::string Planner::describe_uncommitted() const {
  std::vector<Task const*> oldest;
  std::size_t more = 0;
  Lines ready;
  m_graph.for_each([&](Task const& task) {
    if (task.phase == TaskPhase::Ready) ready.add(name_of(task) + ": ready, not chosen by the scheduler yet");
    if (task.phase != TaskPhase::Waiting) return;
    if (oldest.size() < most_lines) {
      oldest.push_back(&task);
    } else {
      ++more;
    }
  });
  auto text = ready.text("that are ready");
  if (oldest.empty()) return text;
  std::map<TaskId, Names> before;
  m_graph.for_each([&](Task const& task) {
    m_graph.for_each_successor(task, [&](TaskId successor) {
      if (successor <= oldest.back()->id) before[successor].add(name_of(task));
    });
  });
  for (auto const* task : oldest) text += name_of(*task) + ": waits for " + before[task->id].text() + '\n';
  if (more > 0) text += "and " + std::to_string(more) + " more that wait for other tasks\n";
  return text;
}

std::string Planner::describe_memories() const {
  auto const& machine = m_topology.machine();
  std::string text;
  for (std::size_t n = 0; n < m_nodes.size(); ++n) {
    if (machine.nodes[n].capacity >= unbounded) continue;
    auto const& ledger = m_nodes[n].ledger;
    text += "memory node '" + machine.nodes[n].name + "': " + format_bytes(ledger.used()) + " of " +
            format_bytes(ledger.capacity()) + " in use, " + std::to_string(m_nodes[n].waiting.size()) +
            " tasks wait for room\n";
  }
  for (std::size_t l = 0; l < m_links.size(); ++l) {
    if (m_links[l].active == 0 && m_links[l].queue.empty()) continue;
    auto const& link = machine.links[l];
    text += "link from '" + machine[link.from].name + "' to '" + machine[link.to].name +
            "': " + std::to_string(m_links[l].active) + " transfers under way, " +
            std::to_string(m_links[l].queue.size()) + " waiting\n";
  }
  Lines homeward;
  for (auto const& datum : m_data) {
    if (!datum.going_home) continue;
    Names places;
    for (auto const& replica : datum.replicas) {
      if (replica.valid) places.add("'" + machine[replica.node].name + "'");
    }
    homeward.add("datum '" + datum.description.name + "': on its way home from " + places.text());
  }
  return text + homeward.text("on their way home");
}

}  // namespace granary
