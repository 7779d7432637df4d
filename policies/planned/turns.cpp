// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/planned/turns.hpp>

#include <algorithm>

namespace granary::detail {

bool Turns::needed(AccessList const& accesses) {
  if (!accesses.commutes()) return false;
  bool needed = false;  // a datum on which it commutes may be one that it also accesses otherwise
  for_each_commuting(accesses, [&](DataId) { needed = true; });
  return needed;
}

void Turns::enter(TaskId task, std::int64_t rank, AccessList const& accesses) {
  for_each_commuting(accesses, [&](DataId data) { m_lines[data].waiting.emplace(rank, task); });
}

void Turns::leave(TaskId task, std::int64_t rank, AccessList const& accesses) {
  for_each_commuting(accesses, [&](DataId data) {
    m_lines[data].waiting.erase({rank, task});
    forget_if_empty(data);
  });
}

void Turns::take(TaskId task, AccessList const& accesses) {
  for_each_commuting(accesses, [&](DataId data) { m_lines[data].owner = task; });
}

void Turns::end(TaskId task, AccessList const& accesses) {
  for_each_commuting(accesses, [&](DataId data) {
    auto const line = m_lines.find(data);
    if (line == m_lines.end() || line->second.owner != task) return;
    line->second.owner = {};
    forget_if_empty(data);
  });
}

bool Turns::first(TaskId task, AccessList const& accesses) const {
  bool first = true;
  for_each_commuting(accesses, [&](DataId data) {
    auto const line = m_lines.find(data);
    first = first && line != m_lines.end() && !line->second.owner.valid() && !line->second.waiting.empty() &&
            line->second.waiting.begin()->second == task;
  });
  return first;
}

std::vector<TaskId> Turns::firsts(AccessList const& accesses) const {
  std::vector<TaskId> tasks;
  for_each_commuting(accesses, [&](DataId data) {
    auto const line = m_lines.find(data);
    if (line != m_lines.end() && !line->second.waiting.empty()) tasks.push_back(line->second.waiting.begin()->second);
  });
  return tasks;
}

void Turns::forget_if_empty(DataId data) {
  auto const line = m_lines.find(data);
  if (line != m_lines.end() && line->second.waiting.empty() && !line->second.owner.valid()) m_lines.erase(line);
}

}  // namespace granary::detail
