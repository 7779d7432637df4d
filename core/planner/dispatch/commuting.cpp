// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/planner/dispatch/commuting.hpp>

#include <algorithm>

namespace granary::detail {

bool Commuting::take(LiveTask const& task) {
  if (can_take(task)) {
    give(task);
    return true;
  }
  for_each_commuting(task.accesses, [&](DataId data) { m_tokens[data].waiting.insert({task.priority, task.id}); });
  return false;
}

std::vector<TaskId> Commuting::free(TaskId task, AccessList const& accesses) {
  struct Queue {
    Token* token;
    std::set<Waiting>::const_iterator next;
  };
  std::vector<Queue> freed;
  for_each_commuting(accesses, [&](DataId data) {
    auto const found = m_tokens.find(data);
    if (found == m_tokens.end() || found->second.owner != task) return;
    found->second.owner = {};
    freed.push_back({&found->second, found->second.waiting.begin()});
  });
  std::vector<TaskId> chosen;
  while (true) {
    std::erase_if(freed, [](Queue const& queue) {
      return queue.token->owner.valid() || queue.next == queue.token->waiting.end();
    });
    if (freed.empty()) break;
    auto& first = *std::ranges::min_element(freed, {}, [](Queue const& queue) { return *queue.next; });
    LiveTask const& next = m_tasks[first.next->task];
    ++first.next;
    if (!can_take(next)) continue;
    give(next);
    chosen.push_back(next.id);
  }
  for_each_commuting(accesses, [&](DataId data) {
    auto const found = m_tokens.find(data);
    if (found != m_tokens.end() && !found->second.owner.valid() && found->second.waiting.empty()) m_tokens.erase(found);
  });
  return chosen;
}

TaskId Commuting::owner(DataId data) const {
  auto const found = m_tokens.find(data);
  return found != m_tokens.end() ? found->second.owner : TaskId();
}

bool Commuting::can_take(LiveTask const& task) const {
  bool can = true;
  for_each_before(task, [&](TaskId) { can = false; });
  return can;
}

void Commuting::give(LiveTask const& task) {
  for_each_commuting(task.accesses, [&](DataId data) {
    auto& token = m_tokens[data];
    token.owner = task.id;
    token.waiting.erase({task.priority, task.id});
  });
}

}  // namespace granary::detail
