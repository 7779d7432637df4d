// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/auto/trial_tasks.hpp>

#include <algorithm>
#include <unordered_map>

namespace granary::detail {
namespace {

constexpr std::uint32_t unknown = 0xffffffffU;

// Of machines without a host: the first node.
NodeId host_of(Machine const& machine) {
  auto const host = std::ranges::find(machine.nodes, NodeKind::Host, &MemoryNode::kind);
  return NodeId(host == machine.nodes.end() ? 0 : static_cast<std::uint32_t>(host - machine.nodes.begin()));
}

}  // namespace

TrialTasks::TrialTasks(SystemView const& view, std::span<TaskId const> tasks, std::uint32_t depth)
    : m_machine(view.topology().machine()), m_depth(depth) {
  NodeId const host = host_of(m_machine);
  std::unordered_map<CodeletId, CodeletId> codelets;
  std::vector<std::uint32_t> numbers;  // of data, by their ids
  m_tasks.reserve(tasks.size());
  for (TaskId const id : tasks) {
    auto const& task = view.task(id);
    auto const [codelet, new_codelet] =
        codelets.try_emplace(task.codelet, static_cast<std::uint32_t>(m_codelets.size()));
    if (new_codelet) {
      auto& copy = m_codelets.emplace_back(view.codelet(task.codelet));
      copy.expand = nullptr;
      copy.check = nullptr;
    }
    auto& times = m_times[{codelet->second.value(), task.flops}];
    Duration shortest = Duration::max();
    for (GroupId const group : task.allowed_groups) {
      auto& time = times[static_cast<std::size_t>(view.topology().group(group).kind)];
      if (time == Duration{0}) time = view.kernel_time(id, group);
      shortest = std::min(shortest, time);
    }
    auto const first = static_cast<std::uint32_t>(m_accesses.size());
    for (auto const& access : task.accesses) {
      if (access.repeated) continue;
      if (access.data.index() >= numbers.size()) numbers.resize(access.data.index() + 1, unknown);
      auto& number = numbers[access.data.index()];
      if (number == unknown) {
        number = static_cast<std::uint32_t>(m_data.size());
        add_data(view, access.data, reads(access.mode), host);
      }
      m_accesses.push_back({.data = DataId(number), .mode = access.mode});
    }
    m_tasks.push_back({.codelet = codelet->second,
                       .first_access = first,
                       .accesses = static_cast<std::uint32_t>(m_accesses.size()) - first,
                       .priority = task.priority,
                       .flops = task.flops,
                       .shortest = shortest});
  }
}

// `read`: its first task reads it.
void TrialTasks::add_data(SystemView const& view, DataId data, bool read, NodeId host) {
  auto& description = m_data.emplace_back(view.description(data));
  description.may_return = false;
  // Nobody knows how it will vary.
  if (std::exchange(description.bound, 0) > 0) description.bytes = std::max<Bytes>(view.bytes(data), 1);
  if (!read || description.origin.valid()) return;
  // Its value was made before. A temporary's value is taken to be in the host's memory.
  if (!description.home.valid()) {
    description.home = host;
    description.in_place = !view.topology().groups_on(host).empty();
  }
  description.origin = description.home;
  description.origin_is_home = true;
}

}  // namespace granary::detail
