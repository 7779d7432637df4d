// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/policy/eviction_policy.hpp>
#include <granary/detail/core/policy/scheduler.hpp>
#include <granary/detail/core/policy/scheduler_extensions.hpp>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace granary::test {

/// A machine whose node 0 is a host without workers; each other node has one device worker, so one group.
inline detail::Machine devices(std::uint32_t count) {
  detail::Machine machine;
  NodeId const host = machine.add_node({.name = "host"});
  for (std::uint32_t d = 0; d < count; ++d) {
    NodeId const node = machine.add_node({.name = "device", .kind = detail::NodeKind::Device});
    machine.add_link_pair(host, node, 1e9);
    machine.add_worker({.name = "device", .node = node, .kind = detail::WorkerKind::Device});
  }
  return machine;
}

inline detail::Access read(DataId data) { return {data, detail::AccessMode::Read}; }
inline detail::Access write(DataId data) { return {data, detail::AccessMode::Write}; }
inline detail::Access read_write(DataId data) { return {data, detail::AccessMode::ReadWrite}; }

/// A SystemView in which a test sets every fact. Every datum can be read on node 0 from the start: loading it takes one
/// nanosecond per byte, from any other node half of that.
class FakeSystemView final : public SystemView {
 public:
  explicit FakeSystemView(detail::Machine machine)
      : m_topology(std::move(machine)), m_committed(m_topology.groups().size()) {}

  DataId add_data(Bytes bytes = 100) {
    m_data.push_back({bytes, std::vector<Place>(m_topology.machine().nodes.size())});
    m_data.back().description = {.bytes = bytes, .origin = NodeId(0), .home = NodeId(0), .origin_is_home = true};
    m_data.back().places[0].valid = m_data.back().places[0].expected = true;
    return DataId(static_cast<std::uint32_t>(m_data.size() - 1));
  }
  TaskId add_task(std::span<detail::Access const> accesses, std::int64_t priority = 0,
                  Duration duration = Duration{100}, std::uint64_t allowed_groups = ~std::uint64_t{0}) {
    TaskId const id(m_tasks.size());
    auto& task = m_tasks.emplace_back();
    task.id = id;
    task.priority = priority;
    for (std::uint32_t g = 0; g < m_topology.groups().size(); ++g) {
      if (((allowed_groups >> g) & 1U) != 0) task.allowed_groups.insert(GroupId(g));
    }
    task.accesses = detail::AccessList(accesses);
    m_assignments.push_back({.phase = detail::TaskPhase::Ready});
    m_durations.push_back(duration);
    return id;
  }
  TaskId add_task(std::initializer_list<detail::Access> accesses, std::int64_t priority = 0,
                  Duration duration = Duration{100}, std::uint64_t allowed_groups = ~std::uint64_t{0}) {
    return add_task(std::span<detail::Access const>(accesses.begin(), accesses.size()), priority, duration,
                    allowed_groups);
  }

  void set_expected(DataId data, NodeId node, bool is) { place(data, node).expected = is; }
  void set_valid(DataId data, NodeId node, bool is) { place(data, node).valid = is; }
  void set_evictable(DataId data, NodeId node, bool is) { place(data, node).evictable = is; }
  void set_bytes(DataId data, Bytes bytes) { m_data[data.index()].bytes = bytes; }
  void set_duration(TaskId task, Duration duration) { m_durations[task.index()] = duration; }
  void set_duration(TaskId task, GroupId group, Duration duration) { m_group_durations[{task, group}] = duration; }
  void set_flops(TaskId task, double flops) { m_tasks[task.index()].flops = flops; }

  void commit(TaskId id, GroupId group) {
    m_assignments[id.index()] = {
        .estimate = kernel_time(id, group), .group = group, .phase = detail::TaskPhase::Committed};
    m_committed[group.index()].push_back(id);
    count_uses(id, 1);
  }
  void issue(TaskId id, detail::WorkerId worker) {
    m_assignments[id.index()].phase = detail::TaskPhase::Issued;
    m_assignments[id.index()].worker = worker;
  }
  void finish(TaskId id) {
    auto& group = m_committed[m_assignments[id.index()].group.index()];
    group.erase(std::ranges::find(group, id));
    count_uses(id, -1);
  }

  void set_may_abort(TaskId task, bool may) {
    may ? static_cast<void>(m_may_abort.insert(task)) : static_cast<void>(m_may_abort.erase(task));
  }
  [[nodiscard]] bool may_take_turn(TaskId) const override { return true; }
  [[nodiscard]] bool may_abort(TaskId task) const override { return m_may_abort.contains(task); }

  void set_now(detail::Instant now) { m_now = now; }
  detail::CodeletId add_codelet(detail::Codelet codelet) {
    m_codelets.push_back(std::move(codelet));
    return detail::CodeletId(static_cast<std::uint32_t>(m_codelets.size() - 1));
  }
  void set_codelet(TaskId task, detail::CodeletId codelet) { m_tasks[task.index()].codelet = codelet; }

  [[nodiscard]] detail::Instant now() const override { return m_now; }
  [[nodiscard]] detail::Codelet const& codelet(detail::CodeletId codelet) const override {
    return m_codelets[codelet.index()];
  }
  [[nodiscard]] detail::Topology const& topology() const override { return m_topology; }
  [[nodiscard]] Task const& task(TaskId task) const override { return m_tasks[task.index()]; }
  [[nodiscard]] detail::Assignment const& assignment(TaskId task) const override { return m_assignments[task.index()]; }
  [[nodiscard]] Bytes bytes(DataId data) const override { return m_data[data.index()].bytes; }
  void set_temporary(DataId data) { m_data[data.index()].temporary = true; }
  [[nodiscard]] detail::DataDescription const& description(DataId data) const override {
    return m_data[data.index()].description;
  }
  [[nodiscard]] bool temporary(DataId data) const override { return m_data[data.index()].temporary; }
  void set_unfinished_uses(DataId data, std::uint32_t uses) { m_data[data.index()].unfinished_uses = uses; }
  [[nodiscard]] std::uint32_t unfinished_uses(DataId data) const override {
    return m_data[data.index()].unfinished_uses;
  }
  [[nodiscard]] bool valid(DataId data, NodeId node) const override { return place(data, node).valid; }
  [[nodiscard]] bool expected(DataId data, NodeId node) const override { return place(data, node).expected; }
  [[nodiscard]] bool evictable(DataId data, NodeId node) const override { return place(data, node).evictable; }
  [[nodiscard]] Duration transfer_time(DataId data, NodeId node) const override {
    auto const& places = m_data[data.index()].places;
    auto const bytes = static_cast<Duration::rep>(m_data[data.index()].bytes);
    if (places[node.index()].valid) return Duration{0};
    bool const near = std::any_of(places.begin() + 1, places.end(), [](Place const& p) { return p.valid; });
    return Duration{near ? bytes / 2 : bytes};
  }
  /// Loads and write-backs take one nanosecond per byte.
  [[nodiscard]] Duration reload_time(DataId data, NodeId node) const override {
    auto const& places = m_data[data.index()].places;
    auto const bytes = static_cast<Duration::rep>(m_data[data.index()].bytes);
    for (std::size_t n = 0; n < places.size(); ++n) {
      if (n != node.index() && places[n].valid) return Duration{bytes};
    }
    return Duration{2 * bytes};
  }
  [[nodiscard]] Duration kernel_time(TaskId task, GroupId group) const override {
    auto const found = m_group_durations.find({task, group});
    return found == m_group_durations.end() ? m_durations[task.index()] : found->second;
  }
  [[nodiscard]] bool measured(TaskId, GroupId) const override { return m_measured; }
  void set_measured(bool measured) { m_measured = measured; }
  [[nodiscard]] std::span<TaskId const> committed(GroupId group) const override { return m_committed[group.index()]; }
  [[nodiscard]] std::uint32_t committed_uses(DataId data, NodeId node) const override { return place(data, node).uses; }

 private:
  struct Place {
    bool valid = false;
    bool expected = false;
    bool evictable = false;
    std::uint32_t uses = 0;
  };
  struct Datum {
    Bytes bytes;
    std::vector<Place> places;  // by node
    std::uint32_t unfinished_uses = 1;
    detail::DataDescription description = {};
    bool temporary = false;
  };

  [[nodiscard]] Place& place(DataId data, NodeId node) { return m_data[data.index()].places[node.index()]; }
  [[nodiscard]] Place const& place(DataId data, NodeId node) const { return m_data[data.index()].places[node.index()]; }
  void count_uses(TaskId task, int change) {
    for (auto const& access : m_tasks[task.index()].accesses) {
      auto& uses = place(access.data, m_topology.group(m_assignments[task.index()].group).node).uses;
      if (!access.repeated) uses += static_cast<std::uint32_t>(change);
    }
  }

  bool m_measured = true;
  detail::Topology m_topology;
  std::vector<Datum> m_data;
  std::vector<Task> m_tasks;
  std::vector<detail::Assignment> m_assignments;
  std::vector<detail::Codelet> m_codelets;
  detail::Instant m_now{};
  std::vector<Duration> m_durations;
  std::map<std::pair<TaskId, GroupId>, Duration> m_group_durations;
  std::set<TaskId> m_may_abort;
  std::vector<std::vector<TaskId>> m_committed;
};

/// A fake system and a scheduler in it: changes a fact and tells the scheduler, as the planner does.
class FakeRun {
 public:
  FakeRun(FakeSystemView& system, std::unique_ptr<Scheduler> policy)
      : view(system), board(system.topology().groups().size()), scheduler(std::move(policy)) {
    scheduler->attach(view, board);
  }
  /// What the scheduler hears of the system; of a scheduler that hears nothing, an interface that does nothing.
  [[nodiscard]] SystemEvents& events() {
    auto* const events = dynamic_cast<SystemEvents*>(scheduler.get());
    return events != nullptr ? *events : m_no_events;
  }

  TaskId next(GroupId group) { return scheduler->next(group); }
  TaskId next_and_commit(GroupId group = GroupId(0)) {
    TaskId const task = next(group);
    if (task.valid()) view.commit(task, group);
    return task;
  }
  void issue(TaskId task, detail::WorkerId worker) {
    view.issue(task, worker);
    scheduler->issued(task);
  }
  void finish(TaskId task) {
    scheduler->finished(task);
    view.finish(task);
  }
  void expect(DataId data, NodeId node) {
    view.set_expected(data, node, true);
    events().replica_expected(data, node);
  }
  void load(DataId data, NodeId node) {
    expect(data, node);
    view.set_valid(data, node, true);
    events().replica_valid(data, node);
  }
  void evict(DataId data, NodeId node) {
    withdraw_users(data, node);
    view.set_expected(data, node, false);
    view.set_valid(data, node, false);
    events().replica_dropped(data, node);
  }
  void withdraw_users(DataId data, NodeId node) {
    for (GroupId const group : view.topology().groups_on(node)) {
      for (TaskId const task : board.users(data, group)) {
        board.remove(task);
        scheduler->withdrawn(task, Withdrawal::InputEvicted, group);
      }
    }
  }
  [[nodiscard]] std::vector<TaskId> plan(GroupId group = GroupId(0)) const {
    std::vector<TaskId> tasks;
    for (auto const& [position, task] : board.plan(group)) tasks.push_back(task);
    return tasks;
  }

  FakeSystemView& view;
  PlanBoard board;
  std::unique_ptr<Scheduler> scheduler;

 private:
  SystemEvents m_no_events;
};

}  // namespace granary::test
