// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/planner/description.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

namespace granary::detail {

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

std::string Description::text() const {
  return phases() + committed() + uncommitted() + memories() + links() + homeward();
}

std::string Description::phases() const {
  std::array<std::size_t, 5> count{};
  std::size_t external = 0;
  m_dispatch.tasks().for_each([&](LiveTask const& task) {
    bool const outside = task.external() && task.assignment.phase == TaskPhase::Issued;
    ++(outside ? external : count[static_cast<std::size_t>(task.assignment.phase)]);
  });
  auto const of = [&](TaskPhase phase) { return std::to_string(count[static_cast<std::size_t>(phase)]); };
  return std::to_string(m_dispatch.tasks().size()) + " tasks have not ended; with a worker: " + of(TaskPhase::Issued) +
         ", waiting for data: " + of(TaskPhase::Fetching) + ", waiting for room: " + of(TaskPhase::Committed) +
         ", ready: " + of(TaskPhase::Ready) + ", waiting for other tasks: " + of(TaskPhase::Waiting) +
         (external > 0 ? ", waiting for what is outside: " + std::to_string(external) : "") +
         (m_outgoing_values.size() > 0 ? ", values to be sent: " + std::to_string(m_outgoing_values.size()) +
                                             ", without room: " + std::to_string(m_outgoing_values.without_room())
                                       : "") +
         '\n';
}

// A task at the start of a line: with the line that submitted it.
std::string Description::start_of(LiveTask const& task) const {
  auto const& source = task.source_line;
  auto const name = m_dispatch.name_of(task);
  return *source.file == '\0' ? name : name + " (" + source.file + ":" + std::to_string(source.line) + ")";
}

std::string Description::committed() const {
  auto const& machine = m_context.topology.machine();
  Lines issued;
  Lines fetching;
  Lines without_room;
  for (std::uint32_t g = 0; g < m_context.topology.groups().size(); ++g) {
    auto const node = m_context.topology.groups()[g].node;
    auto const& ledger = m_movement.memories()[node].ledger;
    for (TaskId const id : m_dispatch.committed(GroupId(g))) {
      LiveTask const& task = m_dispatch.tasks()[id];
      auto const start = start_of(task);
      auto const where = " on '" + machine[node].name + "'";
      if (task.assignment.phase == TaskPhase::Issued) {
        issued.add(start + ": running or next on worker '" + machine[task.assignment.worker].name + "'");
      } else if (task.assignment.phase == TaskPhase::Fetching) {
        Names missing;
        for (auto const& access : task.accesses) {
          auto const& datum = m_movement.data()[access.data];
          auto const* replica = datum.on(node);
          if (access.repeated || replica->valid) continue;
          auto const* transfer = replica->incoming.valid() ? m_movement.links().find(replica->incoming) : nullptr;
          missing.add("'" + datum.description.name + "'" +
                      (transfer != nullptr && transfer->active ? " (on its way)" : ""));
        }
        fetching.add(start + where + ": waits for " + missing.text());
      } else {
        without_room.add(start + where + ": waits for room: its data take " +
                         format_bytes(m_movement.memories().footprint(task.accesses, node)) + ", " +
                         format_bytes(ledger.free_bytes()) + " are free");
      }
    }
  }
  return issued.text("with a worker") + fetching.text("that wait for data") + without_room.text("that wait for room");
}

std::string Description::uncommitted() const {
  std::vector<LiveTask const*> oldest;
  std::size_t more = 0;
  Lines ready;
  Lines outside;
  m_dispatch.tasks().for_each([&](LiveTask const& task) {
    if (task.assignment.phase == TaskPhase::Ready) {
      ready.add(start_of(task) + (task.handover()   ? ": its values are on their way home"
                                  : task.external() ? ": ready, but transfers use what it writes"
                                                    : ": ready, not chosen by the scheduler yet"));
    } else if (task.external() && task.assignment.phase == TaskPhase::Issued) {
      outside.add(start_of(task) + ": begun, and its end was not reported yet");
    }
    if (task.assignment.phase != TaskPhase::Waiting) return;
    if (oldest.size() < most_lines) {
      oldest.push_back(&task);
    } else {
      ++more;
    }
  });
  auto text = ready.text("that are ready") + outside.text("that wait for what is outside");
  if (oldest.empty()) return text;
  std::map<TaskId, Names> before;
  m_dispatch.tasks().for_each([&](LiveTask const& task) {
    m_dispatch.tasks().for_each_successor(task, [&](TaskId successor) {
      if (successor <= oldest.back()->id) before[successor].add(m_dispatch.name_of(task));
    });
  });
  for (auto const* task : oldest) {
    if (task->predecessors > 0) continue;
    m_dispatch.commuting().for_each_before(
        *task, [&](TaskId other) { before[task->id].add(m_dispatch.name_of(m_dispatch.tasks()[other])); });
  }
  for (auto const* task : oldest) text += start_of(*task) + ": waits for " + before[task->id].text() + '\n';
  if (more > 0) text += "and " + std::to_string(more) + " more that wait for other tasks\n";
  return text;
}

std::string Description::lack_of_room() const {
  auto const& machine = m_context.topology.machine();
  for (std::uint32_t n = 0; n < machine.nodes.size(); ++n) {
    NodeId const node(n);
    auto const tasks = m_dispatch.waiting(node);
    auto const values = m_outgoing_values.send_node() == node ? m_outgoing_values.without_room() : 0;
    if (tasks + values == 0) continue;
    auto const& ledger = m_movement.memories()[node].ledger;
    return "no room in memory node '" + machine.nodes[n].name + "' for " + std::to_string(tasks) + " tasks and " +
           std::to_string(values) + " values to be sent (" + std::to_string(ledger.free_bytes()) + " of " +
           std::to_string(ledger.capacity()) + " bytes are free)";
  }
  return {};
}

std::string Description::memories() const {
  auto const& machine = m_context.topology.machine();
  std::string text;
  for (std::uint32_t n = 0; n < machine.nodes.size(); ++n) {
    if (machine.nodes[n].capacity >= unbounded) continue;
    auto const& ledger = m_movement.memories()[NodeId(n)].ledger;
    text += "memory node '" + machine.nodes[n].name + "': " + format_bytes(ledger.used()) + " of " +
            format_bytes(ledger.capacity()) + " in use, " + std::to_string(m_dispatch.waiting(NodeId(n))) +
            " tasks wait for room\n";
  }
  return text;
}

std::string Description::links() const {
  auto const& machine = m_context.topology.machine();
  auto const& links = m_movement.links();
  std::string text;
  for (std::uint32_t l = 0; l < machine.links.size(); ++l) {
    LinkId const id(l);
    if (links.active(id) == 0 && links.waiting(id) == 0) continue;
    text += "link from '" + machine[machine[id].from].name + "' to '" + machine[machine[id].to].name +
            "': " + std::to_string(links.active(id)) + " transfers under way, " + std::to_string(links.waiting(id)) +
            " waiting\n";
  }
  return text;
}

std::string Description::homeward() const {
  auto const& machine = m_context.topology.machine();
  Lines lines;
  m_movement.data().for_each([&](DataId, Datum const& datum) {
    if (!datum.way_home.going()) return;
    Names places;
    for (auto const& replica : datum.replicas) {
      if (replica.valid) places.add("'" + machine[replica.node].name + "'");
    }
    lines.add("datum '" + datum.description.name + "': on its way home from " + places.text());
  });
  return lines.text("on their way home");
}

}  // namespace granary::detail
