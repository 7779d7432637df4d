// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/model/inner_graph.hpp>

#include <granary/detail/core/base/error.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace granary::detail {
namespace {

// True if `a` runs after `b`.
bool after(std::pair<std::int64_t, TaskId> const& a, std::pair<std::int64_t, TaskId> const& b) {
  return a.first != b.first ? a.first < b.first : a.second > b.second;
}

}  // namespace

InnerGraph::InnerGraph(AccessList const& accesses, std::span<std::byte* const> addresses,
                       std::span<Bytes const> pitches)
    : m_accesses(accesses), m_addresses(addresses), m_pitches(pitches) {}

DataId InnerGraph::part(std::size_t access, std::size_t offset) {
  if (access >= m_accesses.size()) {
    throw InvalidArgument("an inner graph asks for a part of access " + std::to_string(access) +
                          ", but its parent task has " + std::to_string(m_accesses.size()));
  }
  std::size_t first = 0;
  while (m_accesses[first].data != m_accesses[access].data) ++first;
  DataId const next(static_cast<std::uint32_t>(m_parts.size()));
  auto const [known, added] = m_ids.try_emplace({first, offset}, next);
  if (added) m_parts.emplace_back(first, offset);
  return known->second;
}

CodeletId InnerGraph::add_codelet(Codelet codelet) {
  m_codelets.push_back(std::move(codelet));
  return CodeletId(static_cast<std::uint32_t>(m_codelets.size() - 1));
}

DataId InnerGraph::add_data(DataDescription description) {
  throw InvalidArgument("an inner graph works on parts of its parent's data, and cannot have a datum of its own: '" +
                        description.name + "'");
}

void InnerGraph::release_data(DataId) {
  throw InvalidArgument("an inner graph's data are parts of its parent's, and cannot be released");
}

TaskId InnerGraph::submit(TaskSubmission const& submission, Parameters parameters) {
  if (submission.codelet.index() >= m_codelets.size()) throw InvalidArgument("an inner task's codelet is unknown");
  auto const& name = m_codelets[submission.codelet.index()].name;
  for (auto const& access : submission.accesses) {
    if (access.data.index() >= m_parts.size())
      throw InvalidArgument("inner task " + name + " accesses an unknown part");
    if (writes(access.mode) && !writes(m_accesses[m_parts[access.data.index()].first].mode)) {
      throw InvalidArgument("inner task " + name + " writes a part of a datum that its parent only reads");
    }
  }
  AccessList accesses(submission.accesses);
  for (auto& access : accesses) {
    if (commutes(access.mode)) access.mode = AccessMode::ReadWrite;
  }
  Task& task = m_graph.add(std::move(accesses));
  task.codelet = submission.codelet;
  task.priority = submission.priority;
  task.flops = submission.flops;
  m_parameters.push_back(std::move(parameters));
  // Reserve now, so that later steps cannot run out of memory.
  if (m_ready.capacity() < m_parameters.size()) m_ready.reserve(2 * m_parameters.size());
  if (task.predecessors == 0) make_ready(task);
  return task.id;
}

Task const* InnerGraph::take() {
  if (m_ready.empty()) return nullptr;
  std::ranges::pop_heap(m_ready, after);
  Task const& task = m_graph[m_ready.back().second];
  m_ready.pop_back();
  ++m_running;
  return &task;
}

void InnerGraph::done(TaskId id) {
  --m_running;
  m_graph.finish(id, [&](Task& released) {
    if (!m_error) make_ready(released);
  });
}

void InnerGraph::failed(TaskId id, std::exception_ptr error) {
  if (!m_error || id < m_first_failed) {
    m_first_failed = id;
    m_error = std::move(error);
  }
  m_ready.clear();
  done(id);
}

void InnerGraph::make_ready(Task const& task) {
  m_ready.emplace_back(task.priority, task.id);
  std::ranges::push_heap(m_ready, after);
}

}  // namespace granary::detail
