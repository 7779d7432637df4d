// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/trace/process_traces.hpp>

#include <algorithm>
#include <string>

namespace granary {
namespace {

// Appends a process to the trace of those before it.
class Appended {
 public:
  Appended(Trace& all, std::uint32_t process)
      : m_all(all),
        m_process(process),
        m_prefix(std::to_string(process) + ": "),
        m_nodes(size(all.machine.nodes)),
        m_links(size(all.machine.links)),
        m_workers(size(all.machine.workers)),
        m_buses(size(all.machine.buses)),
        m_data(size(all.data)) {}

  void add(detail::Machine const& machine) {
    auto& all = m_all.machine;
    for (auto node : machine.nodes) {
      node.name = m_prefix + node.name;
      all.nodes.push_back(std::move(node));
      m_all.process_of_node.push_back(m_process);
    }
    for (auto link : machine.links) {
      link.from = moved(link.from);
      link.to = moved(link.to);
      for (auto& bus : link.buses) bus += m_buses;
      all.links.push_back(std::move(link));
    }
    for (auto worker : machine.workers) {
      worker.name = m_prefix + worker.name;
      worker.node = moved(worker.node);
      all.workers.push_back(std::move(worker));
    }
    for (auto bus : machine.buses) {
      bus.name = m_prefix + bus.name;
      all.buses.push_back(std::move(bus));
    }
  }

  void add(Trace const& trace) {
    add(trace.machine);
    m_all.data.insert(m_all.data.end(), trace.data.begin(), trace.data.end());
    for (auto task : trace.tasks) {
      task.worker = detail::WorkerId(task.worker.value() + m_workers);
      task.data = moved(task.data);
      m_all.tasks.push_back(task);
    }
    for (auto transfer : trace.transfers) {
      transfer.link = detail::LinkId(transfer.link.value() + m_links);
      transfer.data = moved(transfer.data);
      m_all.transfers.push_back(transfer);
    }
    for (auto eviction : trace.evictions) {
      eviction.node = moved(eviction.node);
      eviction.data = moved(eviction.data);
      m_all.evictions.push_back(eviction);
    }
    for (auto level : trace.memory) {
      level.node = moved(level.node);
      m_all.memory.push_back(level);
    }
    for (auto level : trace.booked) {
      level.node = moved(level.node);
      m_all.booked.push_back(level);
    }
    m_all.end = std::max(m_all.end, trace.end);
    m_all.dropped += trace.dropped;
  }

 private:
  template <class List>
  static std::uint32_t size(List const& list) {
    return static_cast<std::uint32_t>(list.size());
  }
  [[nodiscard]] NodeId moved(NodeId node) const { return NodeId(node.value() + m_nodes); }
  [[nodiscard]] std::uint32_t moved(std::uint32_t data) const {
    return data == detail::TraceTask::no_data ? data : data + m_data;
  }

  Trace& m_all;
  std::uint32_t m_process;
  std::string m_prefix;
  std::uint32_t m_nodes;
  std::uint32_t m_links;
  std::uint32_t m_workers;
  std::uint32_t m_buses;
  std::uint32_t m_data;
};

}  // namespace

Trace trace_of_processes(std::vector<Trace> const& processes) {
  if (processes.empty()) return {};
  if (processes.size() == 1) return processes.front();
  Trace all;
  for (std::uint32_t p = 0; p < processes.size(); ++p) {
    if (processes[p].codelets.size() > all.codelets.size()) all.codelets = processes[p].codelets;
    Appended(all, p).add(processes[p]);
  }
  all.configuration = processes.front().configuration;
  all.totals = processes.front().totals;
  std::ranges::stable_sort(all.tasks, {}, &detail::TraceTask::end);
  std::ranges::stable_sort(all.transfers, {}, &detail::TraceTransfer::end);
  std::ranges::stable_sort(all.evictions, {}, &detail::TraceEviction::when);
  std::ranges::stable_sort(all.memory, {}, &detail::TraceMemory::when);
  std::ranges::stable_sort(all.booked, {}, &detail::TraceBooked::when);
  return all;
}

}  // namespace granary
