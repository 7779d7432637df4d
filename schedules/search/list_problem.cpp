// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/model/task_graph.hpp>
#include <granary/detail/schedules/search/list_problem.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace granary::search {
namespace {

// The times of one pair of codelet and operations on each worker.
std::vector<Duration::rep> times_of(detail::Codelet const& codelet, double flops, detail::Machine const& machine,
                                    detail::KernelTime const& kernel_time) {
  std::vector<Duration::rep> times;
  for (auto const& worker : machine.workers) {
    auto const time = kernel_time(codelet, flops, worker);
    times.push_back(time ? time->count() : ListProblem::cannot_run);
  }
  bool const any = std::ranges::any_of(times, [](auto time) { return time != ListProblem::cannot_run; });
  if (!any) throw InvalidArgument("no worker of this machine can run codelet '" + codelet.name + "'");
  return times;
}

}  // namespace

ListProblem::ListProblem(detail::GraphRecorder const& graph, detail::Machine const& machine,
                         detail::KernelTime const& kernel_time, Classes by) {
  std::map<std::pair<detail::CodeletId, double>, std::vector<Duration::rep>> by_type;
  for (auto const& task : graph.tasks()) {
    auto& times = by_type[{task.codelet, task.flops}];
    if (times.empty()) times = times_of(graph.codelets()[task.codelet.index()], task.flops, machine, kernel_time);
  }
  // Workers on which every task takes the same time are one class.
  std::map<std::vector<Duration::rep>, std::uint32_t> classes;
  for (std::uint32_t w = 0; w < machine.workers.size(); ++w) {
    std::vector<Duration::rep> signature;
    if (by == Classes::BySpeedAndMemory) signature.push_back(machine.workers[w].node.value());
    for (auto const& [type, times] : by_type) signature.push_back(times[w]);
    auto const [known, added] = classes.try_emplace(signature, static_cast<std::uint32_t>(m_classes.size()));
    if (added) m_classes.emplace_back();
    m_classes[known->second].workers.push_back(w);
    m_class_of.push_back(known->second);
  }
  m_times.reserve(graph.tasks().size() * m_classes.size());
  for (auto const& task : graph.tasks()) {
    auto const& times = by_type.at({task.codelet, task.flops});
    for (auto const& workers : m_classes) m_times.push_back(times[workers.workers.front()]);
  }
  link(graph);
}

void ListProblem::link(detail::GraphRecorder const& graph) {
  TaskGraph links;
  for (auto const& task : graph.tasks()) {
    detail::AccessList accesses(graph.accesses_of(task));
    for (auto& access : accesses) {
      if (commutes(access.mode)) access.mode = detail::AccessMode::ReadWrite;
    }
    links.add(std::move(accesses));
  }
  m_first.reserve(graph.tasks().size() + 1);
  m_predecessors.resize(graph.tasks().size());
  for (std::size_t t = 0; t < graph.tasks().size(); ++t) {
    auto const first = m_successors.size();
    m_first.push_back(static_cast<std::uint32_t>(first));
    links.for_each_successor(links[TaskId(t)],
                             [&](TaskId next) { m_successors.push_back(static_cast<std::uint32_t>(next.value())); });
    auto const mine = m_successors.begin() + static_cast<std::ptrdiff_t>(first);
    std::sort(mine, m_successors.end());
    m_successors.erase(std::unique(mine, m_successors.end()), m_successors.end());
    for (auto next = m_first.back(); next < m_successors.size(); ++next) ++m_predecessors[m_successors[next]];
  }
  m_first.push_back(static_cast<std::uint32_t>(m_successors.size()));
}

}  // namespace granary::search
