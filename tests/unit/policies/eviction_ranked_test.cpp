// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The policies that rank replicas by their history (mru, lfu) or by their next planned use (belady).
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/policies/registry.hpp>

#include <support/fake_system_view.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace granary::test::eviction_ranked_test {

using namespace detail;

namespace {

constexpr GroupId g0{0};
constexpr NodeId n1{1};

class OneNode : private PlanBoard::Observer {
 public:
  explicit OneNode(char const* name) : view(devices(1)), board(1), policy(make_eviction(name)) {
    policy->attach(view, board);
    board.observe(this);
    for (int i = 0; i < 4; ++i) d.push_back(view.add_data());
  }
  void add_all() {
    for (DataId const data : d) add(data);
  }
  void add(DataId data) {
    view.set_evictable(data, n1, true);
    policy->replica_added(data, n1);
  }
  void use(DataId data, int times = 1) {
    for (int i = 0; i < times; ++i) policy->replica_used(data, n1);
  }
  TaskId plan(std::initializer_list<Access> accesses, std::int64_t rank = 0) {
    TaskId const task = view.add_task(accesses);
    board.insert(g0, task, view.task(task).accesses, rank);
    return task;
  }

  FakeSystemView view;
  PlanBoard board;
  std::unique_ptr<EvictionPolicy> policy;
  std::vector<DataId> d;

 private:
  void planned_uses_changed(DataId data, GroupId group) override { policy->planned_uses_changed(data, group); }
};

TEST(Mru, takes_what_was_used_last) {
  OneNode t("mru");
  t.add_all();
  EXPECT_EQ(t.policy->victim(n1), t.d[3]);
  t.use(t.d[1]);
  EXPECT_EQ(t.policy->victim(n1), t.d[1]);
  t.view.set_evictable(t.d[1], n1, false);
  EXPECT_EQ(t.policy->victim(n1), t.d[3]);
  t.policy->replica_dropped(t.d[3], n1);
  EXPECT_EQ(t.policy->victim(n1), t.d[2]);
}

TEST(Lfu, takes_the_fewest_uses_since_loaded_then_the_least_recent) {
  OneNode t("lfu");
  t.add_all();
  t.use(t.d[0], 3);
  t.use(t.d[1], 2);
  t.use(t.d[2], 2);
  t.use(t.d[3], 2);
  t.use(t.d[0]);
  EXPECT_EQ(t.policy->victim(n1), t.d[1]);
  t.policy->replica_dropped(t.d[0], n1);
  t.add(t.d[0]);
  EXPECT_EQ(t.policy->victim(n1), t.d[0]) << "uses before it was loaded do not count";
}

TEST(Belady, takes_the_furthest_next_use) {
  OneNode t("belady");
  t.add_all();
  t.plan({read(t.d[0]), read(t.d[1])});
  t.plan({read(t.d[2])});
  t.plan({read(t.d[0]), read(t.d[3])});
  EXPECT_EQ(t.policy->victim(n1), t.d[3]);
  TaskId const urgent = t.plan({read(t.d[3])}, -1);
  EXPECT_EQ(t.policy->victim(n1), t.d[2]) << "a more urgent task uses the other one";
  t.board.remove(urgent);
  EXPECT_EQ(t.policy->victim(n1), t.d[3]);
}

TEST(Belady, what_no_plan_uses_goes_first_and_of_it_what_nobody_needs) {
  OneNode t("belady");
  t.add_all();
  t.plan({read(t.d[0])});
  EXPECT_EQ(t.policy->victim(n1), t.d[1]);
  t.use(t.d[1]);
  EXPECT_EQ(t.policy->victim(n1), t.d[2]);
  t.view.set_unfinished_uses(t.d[3], 0);
  t.policy->last_use_ended(t.d[3]);
  EXPECT_EQ(t.policy->victim(n1), t.d[3]);
}

TEST(Belady, plans_from_before_the_replica_was_loaded_count) {
  OneNode t("belady");
  t.plan({read(t.d[0])});
  t.plan({read(t.d[1])});
  t.add(t.d[1]);
  t.add(t.d[0]);
  EXPECT_EQ(t.policy->victim(n1), t.d[1]);
}

TEST(Belady, committed_tasks_come_before_planned_ones) {
  OneNode t("belady");
  t.add_all();
  t.view.commit(t.view.add_task({read(t.d[0])}), g0);
  t.view.commit(t.view.add_task({read(t.d[1]), read(t.d[0])}), g0);
  t.plan({read(t.d[2]), read(t.d[3])});
  t.use(t.d[2]);
  EXPECT_EQ(t.policy->victim(n1), t.d[3]);
  t.view.set_evictable(t.d[2], n1, false);
  t.view.set_evictable(t.d[3], n1, false);
  EXPECT_EQ(t.policy->victim(n1), t.d[1]) << "its next use is in the second task";
}

// The definitions, by full scans.
class SlowRanks {
 public:
  struct Replica {
    std::uint64_t last_use = 0;
    std::uint64_t uses = 0;
  };

  SlowRanks(FakeSystemView const& system, PlanBoard const& plans, std::string_view policy)
      : view(system), board(plans), name(policy) {}

  // The first one to evict is the smallest.
  using Rank = std::tuple<int, std::int64_t, std::int64_t, std::uint64_t>;
  [[nodiscard]] Rank rank(DataId data, NodeId node) const {
    auto const& replica = replicas.at({data, node});
    if (name == "mru") return {0, 0, 0, ~replica.last_use};
    if (name == "lfu") return {0, 0, static_cast<std::int64_t>(replica.uses), replica.last_use};
    if (auto const use = committed_use(data, node); use >= 0) return {3, -use, 0, 0};
    PlanPosition next{INT64_MAX, 0};
    bool planned = false;
    for (GroupId const group : view.topology().groups_on(node)) {
      for (auto const& [position, task] : board.plan(group)) {
        if (!uses(task, data)) continue;
        next = planned ? std::min(next, position) : position;
        planned = true;
      }
    }
    if (planned) return {2, -next.rank, -static_cast<std::int64_t>(next.number), replica.last_use};
    return {view.unfinished_uses(data) > 0 ? 1 : 0, 0, 0, replica.last_use};
  }
  [[nodiscard]] DataId victim(NodeId node) const {
    DataId best;
    for (auto const& [key, replica] : replicas) {
      auto const [data, where] = key;
      if (where != node || !view.evictable(data, node)) continue;
      if (!best.valid() || rank(data, node) < rank(best, node)) best = data;
    }
    return best;
  }

  FakeSystemView const& view;
  PlanBoard const& board;
  std::string_view name;
  std::map<std::pair<DataId, NodeId>, Replica> replicas;

 private:
  [[nodiscard]] bool uses(TaskId task, DataId data) const {
    return std::ranges::any_of(view.task(task).accesses, [&](Access const& access) { return access.data == data; });
  }
  [[nodiscard]] std::int64_t committed_use(DataId data, NodeId node) const {
    std::int64_t nearest = -1;
    for (GroupId const group : view.topology().groups_on(node)) {
      std::int64_t position = 0;
      for (TaskId const task : view.committed(group)) {
        if (uses(task, data)) nearest = nearest < 0 ? position : std::min(nearest, position);
        ++position;
      }
    }
    return nearest;
  }
};

class RandomRanks final : private PlanBoard::Observer {
 public:
  RandomRanks(std::uint64_t seed, char const* name)
      : m_random(seed),
        m_view(machine(seed)),
        m_board(m_view.topology().groups().size()),
        m_policy(make_eviction(name)),
        m_slow(m_view, m_board, name) {
    m_policy->attach(m_view, m_board);
    m_board.observe(this);
    for (int i = 0; i < 12; ++i) m_data.push_back(m_view.add_data());
  }

  void run(std::uint64_t steps) {
    for (std::uint64_t step = 1; step <= steps; ++step) {
      one_event(step);
      if (m_random.chance(0.3)) continue;  // changes pile up
      NodeId const node(static_cast<std::uint32_t>(m_random.below(3)));
      DataId const fast = m_policy->victim(node);
      DataId const slow = m_slow.victim(node);
      ASSERT_EQ(fast.valid(), slow.valid()) << "step " << step;
      if (!fast.valid()) continue;
      ASSERT_TRUE(m_view.evictable(fast, node)) << "step " << step;
      ASSERT_EQ(m_slow.rank(fast, node), m_slow.rank(slow, node)) << "step " << step;
    }
  }

 private:
  static Machine machine(std::uint64_t seed) {
    auto result = devices(2);
    if (seed % 2 == 0) result.add_worker({.name = "core", .node = n1, .kind = WorkerKind::Cpu});
    return result;
  }
  void planned_uses_changed(DataId data, GroupId group) override { m_policy->planned_uses_changed(data, group); }
  [[nodiscard]] DataId any_data() { return m_data[m_random.below(m_data.size())]; }
  [[nodiscard]] GroupId any_group() {
    return GroupId(static_cast<std::uint32_t>(m_random.below(m_view.topology().groups().size())));
  }
  TaskId take_any_planned() {
    auto const place = m_planned.begin() + static_cast<std::ptrdiff_t>(m_random.below(m_planned.size()));
    TaskId const task = *place;
    m_planned.erase(place);
    m_board.remove(task);
    return task;
  }
  void put(TaskId task) {
    auto const& accesses = m_view.task(task).accesses;
    if (m_random.chance(0.5)) {
      m_board.append(any_group(), task, accesses);
    } else {
      m_board.insert(any_group(), task, accesses, static_cast<std::int64_t>(m_random.below(5)) - 2);
    }
    m_planned.push_back(task);
  }

  void one_event(std::uint64_t step) {
    switch (m_random.below(6)) {
      case 0:
      case 1:
        return replica_event(any_data(), NodeId(static_cast<std::uint32_t>(m_random.below(3))), step);
      case 2:
        return put(m_view.add_task({read(any_data()), read(any_data())}));
      case 3:
        if (!m_planned.empty()) put(take_any_planned());  // elsewhere
        return;
      case 4: {
        if (m_planned.empty()) return;
        TaskId const task = take_any_planned();
        m_view.commit(task, any_group());
        m_committed.push_back(task);
        return;
      }
      default:
        if (m_committed.empty()) return;
        m_view.finish(m_committed.front());
        m_committed.erase(m_committed.begin());
    }
  }
  void replica_event(DataId data, NodeId node, std::uint64_t step) {
    auto const place = m_slow.replicas.find({data, node});
    bool const there = place != m_slow.replicas.end();
    switch (m_random.below(5)) {
      case 0:
      case 1:
        if (there) break;
        m_slow.replicas[{data, node}] = {step, 0};
        m_view.set_evictable(data, node, m_random.chance(0.7));
        return m_policy->replica_added(data, node);
      case 2:
        if (there) place->second = {step, place->second.uses + 1};
        return m_policy->replica_used(data, node);
      case 3:
        m_view.set_unfinished_uses(data, 0);
        return m_policy->last_use_ended(data);
      default:
        break;
    }
    m_view.set_evictable(data, node, there && m_random.chance(0.7));
    if (m_random.chance(0.6)) return;
    m_view.set_evictable(data, node, false);
    m_slow.replicas.erase({data, node});
    m_policy->replica_dropped(data, node);
  }

  Random m_random;
  FakeSystemView m_view;
  PlanBoard m_board;
  std::unique_ptr<EvictionPolicy> m_policy;
  SlowRanks m_slow;
  std::vector<DataId> m_data;
  std::vector<TaskId> m_planned;
  std::vector<TaskId> m_committed;
};

class RankedEviction : public testing::TestWithParam<char const*> {};

TEST_P(RankedEviction, agrees_with_scans_on_random_events) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomRanks(seed, GetParam()).run(1500);
    if (HasFatalFailure()) return;
  }
}

TEST_P(RankedEviction, takes_only_what_may_be_evicted) {
  OneNode t(GetParam());
  EXPECT_FALSE(t.policy->victim(n1).valid()) << "the node is empty";
  t.policy->replica_used(t.d[3], n1);
  t.policy->replica_dropped(t.d[3], n1);
  EXPECT_FALSE(t.policy->victim(n1).valid()) << "what is used or dropped without a replica is ignored";
  t.add(t.d[0]);
  t.add(t.d[1]);
  t.view.set_evictable(t.d[0], n1, false);
  EXPECT_EQ(t.policy->victim(n1), t.d[1]);
  EXPECT_EQ(t.policy->victim(n1), t.d[1]) << "asking changes nothing";
  t.view.set_evictable(t.d[1], n1, false);
  EXPECT_FALSE(t.policy->victim(n1).valid());
  EXPECT_FALSE(t.policy->victim(NodeId(0)).valid()) << "a node without workers";
}

INSTANTIATE_TEST_SUITE_P(All, RankedEviction, testing::Values("mru", "lfu", "belady"),
                         [](auto const& test) { return std::string(test.param); });

}  // namespace
}  // namespace granary::test::eviction_ranked_test
