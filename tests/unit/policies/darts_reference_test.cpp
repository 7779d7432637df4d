// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/policies/registry.hpp>

#include <support/fake_system_view.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

// DARTS compared with Algorithm 3 written as scans, on random events.

namespace granary::test {

using namespace detail;

namespace {

class SlowDarts final : public Scheduler {
 public:
  void attach(SystemView const& view, PlanBoard& board) override {
    m_view = &view;
    m_board = &board;
    for (std::uint32_t g = 0; g < view.topology().groups().size(); ++g) m_groups.emplace_back(g);
  }

  void ready(TaskId id) override {
    GroupId const group =
        least_queued([&](GroupId g) { return m_view->task(id).allowed_on(g) && missing(id, g).empty(); });
    group.valid() ? m_board->append(group, id, m_view->task(id).accesses) : add(id);
  }
  void withdrawn(TaskId id, Withdrawal why, GroupId) override {
    if (why == Withdrawal::InputEvicted) return add(id);
    m_ready.erase(id);
    m_board->remove(id);
  }

  TaskId next(GroupId k) override {
    for (TaskId const id : by_priority(m_ready)) {
      GroupId const group =
          least_queued([&](GroupId g) { return m_view->task(id).allowed_on(g) && missing(id, g).empty(); });
      if (group.valid()) plan(id, group);
    }
    if (m_board->plan(k).empty()) fill(k);
    if (m_board->plan(k).empty()) return steal(k);
    TaskId const head = m_board->plan(k).begin()->second;
    m_board->remove(head);
    return head;
  }

  std::size_t searches = 0;

 private:
  using Tasks = std::map<TaskId, std::map<GroupId, Duration>>;

  void add(TaskId id) {
    for (GroupId const g : m_groups) m_ready[id][g] = m_view->kernel_time(id, g);
  }
  void plan(TaskId id, GroupId group) {
    m_ready.erase(id);
    m_board->append(group, id, m_view->task(id).accesses);
  }
  [[nodiscard]] std::set<DataId> inputs(TaskId id) const {
    std::set<DataId> result;
    for (auto const& access : m_view->task(id).accesses) {
      if (!access.repeated && reads(access.mode)) result.insert(access.data);
    }
    return result;
  }
  [[nodiscard]] std::set<DataId> missing(TaskId id, GroupId g) const {
    auto result = inputs(id);
    NodeId const node = m_view->topology().group(g).node;
    std::erase_if(result, [&](DataId d) {
      return m_view->expected(d, node) || m_board->uses(d, g) > 0 || m_view->committed_uses(d, node) > 0;
    });
    return result;
  }
  [[nodiscard]] std::vector<TaskId> by_priority(Tasks const& tasks) const {
    std::vector<TaskId> result;
    for (auto const& [id, durations] : tasks) result.push_back(id);
    std::ranges::stable_sort(result, std::ranges::greater{}, [&](TaskId id) { return m_view->task(id).priority; });
    return result;
  }
  template <class Free>
  [[nodiscard]] GroupId least_queued(Free&& free) const {
    std::vector<std::pair<std::size_t, GroupId>> queued;
    for (GroupId const g : m_groups) {
      if (free(g)) queued.emplace_back(m_board->plan(g).size() + m_view->committed(g).size(), g);
    }
    return queued.empty() ? GroupId{} : std::ranges::min(queued).second;
  }

  void fill(GroupId k) {
    ++searches;
    Tasks allowed;
    std::set<DataId> not_in_memory;
    for (auto const& [id, durations] : m_ready) {
      if (!m_view->task(id).allowed_on(k)) continue;
      allowed.emplace(id, durations);
      not_in_memory.merge(missing(id, k));
    }
    struct Values {
      std::vector<TaskId> s0, s1;
      std::optional<std::int64_t> max_prio;
      std::int64_t computation_time = 0, task_left = 0, transfer_duration = 0;
    };
    std::map<DataId, Values> values;
    for (DataId const d : not_in_memory) {
      auto& v = values[d];
      for (TaskId const id : by_priority(allowed)) {
        if (!inputs(id).contains(d)) continue;
        v.task_left += allowed[id][k].count();
        auto const others = missing(id, k).size() - 1;
        if (others == 0) v.s0.push_back(id);
        if (others == 0) v.computation_time += allowed[id][k].count();
        if (others == 1) v.s1.push_back(id);
      }
      if (!v.s1.empty()) v.max_prio = m_view->task(v.s1.front()).priority;
      if (!v.s0.empty()) v.max_prio = m_view->task(v.s0.front()).priority;
      v.transfer_duration = m_view->transfer_time(d, m_view->topology().group(k).node).count();
    }
    auto const better = [&](DataId a, DataId b) {
      auto const& x = values[a];
      auto const& y = values[b];
      // Small numbers: the products are exact.
      bool const infinite_x = x.computation_time == 0;
      bool const infinite_y = y.computation_time == 0;
      if (infinite_x != infinite_y) return infinite_y;
      if (!infinite_x) {
        auto const left = x.transfer_duration * y.computation_time;
        auto const right = y.transfer_duration * x.computation_time;
        if (left != right) return left < right;
      }
      return std::tuple(y.s0.size(), y.max_prio, y.s1.size(), y.task_left, a) <
             std::tuple(x.s0.size(), x.max_prio, x.s1.size(), x.task_left, b);
    };
    DataId best;
    for (DataId const d : not_in_memory) {
      if (!best.valid() || better(d, best)) best = d;
    }
    if (best.valid() && !values[best].s0.empty()) {
      for (TaskId const id : values[best].s0) plan(id, k);
    } else if (best.valid() && !values[best].s1.empty()) {
      plan(values[best].s1.front(), k);
    } else if (!allowed.empty()) {
      plan(by_priority(allowed).front(), k);
    }
  }

  Duration moving_time(TaskId id, GroupId k) const {
    Duration sum{0};
    for (DataId const d : missing(id, k)) sum += m_view->transfer_time(d, m_view->topology().group(k).node);
    return sum;
  }
  // All its group's workers together.
  Duration time_before(TaskId id, GroupId g) const {
    Duration sum{0};
    for (TaskId const committed : m_view->committed(g)) sum += m_view->kernel_time(committed, g);
    for (auto const& [position, planned] : m_board->plan(g)) {
      if (planned == id) break;
      sum += m_view->kernel_time(planned, g);
    }
    return sum / static_cast<std::int64_t>(m_view->topology().group(g).workers.size());
  }

  TaskId steal(GroupId k) {
    auto others = m_groups;
    std::ranges::stable_sort(others, std::ranges::greater{}, [&](GroupId g) { return m_board->plan(g).size(); });
    for (GroupId const g : others) {
      auto const& plan = m_board->plan(g);
      std::vector<TaskId> last;
      for (auto place = plan.rbegin(); place != plan.rend(); ++place) last.push_back(place->second);
      if (last.size() > 16) last.resize(16);
      for (TaskId const id : last) {
        if (!m_view->task(id).allowed_on(k) || moving_time(id, k) > time_before(id, g)) continue;
        m_board->remove(id);
        return id;
      }
    }
    return {};
  }

  SystemView const* m_view = nullptr;
  PlanBoard* m_board = nullptr;
  std::vector<GroupId> m_groups;
  Tasks m_ready;
};

// Two schedulers in the same system, which must make the same decisions.
class Comparison {
 public:
  explicit Comparison(std::uint64_t seed)
      : m_random(seed),
        m_devices(1 + static_cast<std::uint32_t>(m_random.below(3))),
        m_view(machine()),
        m_fast(m_view, make_scheduler("darts")),
        m_slow(m_view, std::make_unique<SlowDarts>()) {
    std::size_t const data = 5 + m_random.below(40);
    m_equal_sizes = m_random.chance(0.5);
    m_priorities = m_random.between(0, 3);
    m_most_accesses = 2 + m_random.below(5);
    for (std::size_t d = 0; d < data; ++d)
      m_data.push_back(m_view.add_data(m_equal_sizes ? 10 : 1 + m_random.below(20)));
  }

  void run(int steps) {
    for (int step = 0; step < steps; ++step) {
      one_event();
      for (GroupId const g : groups()) ASSERT_EQ(m_fast.plan(g), m_slow.plan(g)) << "step " << step;
      ASSERT_FALSE(m_differ) << "step " << step;
    }
    // At the end every task has run exactly once.
    while (!m_waiting.empty()) {
      auto const before = m_waiting.size();
      for (GroupId const g : groups()) {
        next(g);
        ASSERT_FALSE(m_differ);
      }
      while (!m_committed.empty()) finish(0);
      ASSERT_LT(m_waiting.size(), before) << "no group got any of the waiting tasks";
    }
  }
  [[nodiscard]] std::size_t searches() const { return dynamic_cast<SlowDarts&>(*m_slow.scheduler).searches; }

 private:
  struct Committed {
    TaskId task;
    bool placed = false;
  };

  Machine machine() {
    auto result = devices(m_devices);
    // Sometimes two groups share a node.
    if (m_random.chance(0.3)) result.add_worker({.name = "core", .node = NodeId(1), .kind = WorkerKind::Cpu});
    return result;
  }
  [[nodiscard]] std::vector<GroupId> groups() const {
    std::vector<GroupId> result;
    for (std::uint32_t g = 0; g < m_view.topology().groups().size(); ++g) result.emplace_back(g);
    return result;
  }
  template <class Function>
  void both(Function&& function) {
    function(m_fast);
    function(m_slow);
  }
  [[nodiscard]] DataId any_data() { return m_data[m_random.below(m_data.size())]; }
  [[nodiscard]] NodeId any_node() { return NodeId(static_cast<std::uint32_t>(m_random.below(m_devices + 1))); }
  [[nodiscard]] NodeId any_device() { return NodeId(static_cast<std::uint32_t>(1 + m_random.below(m_devices))); }

  void one_event() {
    auto const what = m_random.below(16);
    if (what < 5) {
      submit();
    } else if (what < 9) {
      next(groups()[m_random.below(groups().size())]);
    } else if (what < 10) {
      if (!m_committed.empty()) place(m_committed[m_random.below(m_committed.size())]);
    } else if (what < 12) {
      if (!m_committed.empty()) finish(m_random.below(m_committed.size()));
    } else if (what < 14) {
      evict();
    } else if (what < 15) {
      if (m_random.chance(0.3)) spontaneous_load();
    } else {
      if (m_random.chance(0.3)) cancel();
    }
  }

  void submit() {
    std::vector<Access> accesses;
    for (auto count = m_random.below(m_most_accesses + 1); count > 0; --count) {
      // No task has read a datum that is only written: dependencies ensure that.
      bool const only_written = m_random.chance(0.1);
      accesses.push_back(
          {only_written ? m_view.add_data() : any_data(),
           only_written ? AccessMode::Write : (m_random.chance(0.8) ? AccessMode::Read : AccessMode::ReadWrite)});
    }
    std::uint64_t const all = (std::uint64_t{1} << groups().size()) - 1;
    TaskId const task = m_view.add_task(accesses, m_random.between(0, m_priorities),
                                        Duration{m_random.between(1, m_equal_sizes ? 2 : 9)},
                                        m_random.chance(0.7) ? all : 1 + m_random.below(all));
    m_waiting.insert(task);
    both([&](FakeRun& run) { run.scheduler->ready(task); });
  }
  void next(GroupId group) {
    TaskId const fast = m_fast.next(group);
    TaskId const slow = m_slow.next(group);
    m_differ = fast != slow;
    if (m_differ || !fast.valid()) return;
    m_differ = m_waiting.erase(fast) != 1;
    m_view.commit(fast, group);
    m_committed.push_back({fast});
    m_view.set_duration(fast, Duration{1});
    // A group learns what another one on its node committed when the data are allocated.
    if (m_view.topology().groups_on(m_view.topology().group(group).node).size() > 1) place(m_committed.back());
  }
  void place(Committed& committed) {
    committed.placed = true;
    auto const& task = m_view.task(committed.task);
    for (auto const& access : task.accesses)
      expect(access.data, m_view.topology().group(m_view.assignment(task.id).group).node);
  }
  void finish(std::size_t which) {
    auto const& task = m_view.task(m_committed[which].task);
    NodeId const node = m_view.topology().group(m_view.assignment(task.id).group).node;
    for (auto const& access : task.accesses) {
      expect(access.data, node);
      make_valid(access.data, node);
    }
    both([&](FakeRun& run) { run.scheduler->finished(task.id); });
    m_view.finish(task.id);
    m_committed.erase(m_committed.begin() + static_cast<std::ptrdiff_t>(which));
  }
  void expect(DataId data, NodeId node) {
    m_view.set_expected(data, node, true);
    both([&](FakeRun& run) { run.events().replica_expected(data, node); });
  }
  void make_valid(DataId data, NodeId node) {
    m_view.set_valid(data, node, true);
    both([&](FakeRun& run) { run.events().replica_valid(data, node); });
  }
  void spontaneous_load() {
    DataId const data = any_data();
    NodeId const node = any_device();
    expect(data, node);
    if (m_random.chance(0.7)) make_valid(data, node);
  }
  void evict() {
    DataId const data = any_data();
    NodeId const node = any_node();
    for (auto const& committed : m_committed) {
      auto const& task = m_view.task(committed.task);
      if (!committed.placed || m_view.topology().group(m_view.assignment(task.id).group).node != node) continue;
      if (std::ranges::any_of(task.accesses, [&](Access const& access) { return access.data == data; })) return;
    }
    bool const withdraw_first = m_random.chance(0.5);
    if (withdraw_first) both([&](FakeRun& run) { run.withdraw_users(data, node); });
    m_view.set_expected(data, node, false);
    m_view.set_valid(data, node, false);
    if (!withdraw_first) both([&](FakeRun& run) { run.withdraw_users(data, node); });
    both([&](FakeRun& run) { run.events().replica_dropped(data, node); });
  }
  void cancel() {
    if (m_waiting.empty()) return;
    auto victim = m_waiting.begin();
    std::advance(victim, static_cast<std::ptrdiff_t>(m_random.below(m_waiting.size())));
    both([&](FakeRun& run) { run.scheduler->withdrawn(*victim, Withdrawal::Cancelled, {}); });
    m_waiting.erase(victim);
  }

  Random m_random;
  std::uint32_t m_devices;
  FakeSystemView m_view;
  FakeRun m_fast;
  FakeRun m_slow;
  bool m_equal_sizes = false;
  std::int64_t m_priorities = 0;
  std::uint64_t m_most_accesses = 1;
  std::vector<DataId> m_data;
  std::set<TaskId> m_waiting;
  std::vector<Committed> m_committed;
  bool m_differ = false;
};

TEST(DartsReference, agrees_with_algorithm_3_written_with_scans) {
  std::size_t searches = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Comparison comparison(seed);
    comparison.run(600);
    if (HasFatalFailure()) return;
    searches += comparison.searches();
  }
  EXPECT_GT(searches, 10000U);
}

}  // namespace
}  // namespace granary::test
