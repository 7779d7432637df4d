// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/policies/registry.hpp>

#include <support/fake_system_view.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

namespace granary::test::eviction_test {

using namespace detail;

namespace {

constexpr GroupId g0{0};
constexpr NodeId n1{1};

class Eviction : public testing::TestWithParam<char const*> {
 public:
  Eviction() : view(devices(1)), board(1), policy(make_eviction(GetParam())) {
    policy->attach(view, board);
    for (int i = 0; i < 4; ++i) d.push_back(view.add_data());
  }
  void add(DataId data) {
    view.set_evictable(data, n1, true);
    policy->replica_added(data, n1);
  }

  FakeSystemView view;
  PlanBoard board;
  std::unique_ptr<EvictionPolicy> policy;
  std::vector<DataId> d;
};

TEST_P(Eviction, takes_the_least_recently_used_of_equals) {
  for (DataId const data : d) add(data);
  EXPECT_EQ(policy->victim(n1), d[0]);
  EXPECT_EQ(policy->victim(n1), d[0]) << "asking changes nothing";
  policy->replica_used(d[0], n1);
  EXPECT_EQ(policy->victim(n1), d[1]);
  policy->replica_dropped(d[1], n1);
  EXPECT_EQ(policy->victim(n1), d[2]);
  add(d[1]);
  policy->replica_used(d[2], n1);
  policy->replica_used(d[3], n1);
  EXPECT_EQ(policy->victim(n1), d[0]);
}

TEST_P(Eviction, takes_only_what_may_be_evicted) {
  EXPECT_FALSE(policy->victim(n1).valid()) << "the node is empty";
  add(d[0]);
  add(d[1]);
  view.set_evictable(d[0], n1, false);
  EXPECT_EQ(policy->victim(n1), d[1]);
  view.set_evictable(d[1], n1, false);
  EXPECT_FALSE(policy->victim(n1).valid());
  EXPECT_FALSE(policy->victim(NodeId(0)).valid()) << "a node without workers";
}

TEST_P(Eviction, what_is_used_or_dropped_without_a_replica_is_ignored) {
  add(d[0]);
  policy->replica_used(d[3], n1);
  policy->replica_dropped(d[2], n1);
  policy->replica_dropped(d[2], n1);
  EXPECT_EQ(policy->victim(n1), d[0]);
  policy->replica_dropped(d[0], n1);
  policy->replica_used(d[0], n1);
  EXPECT_FALSE(policy->victim(n1).valid());
}

INSTANTIATE_TEST_SUITE_P(Both, Eviction, testing::Values("lru", "luf"),
                         [](auto const& test) { return std::string(test.param); });

class Luf : public Eviction {
 public:
  void plan(std::initializer_list<Access> accesses) {
    TaskId const task = view.add_task(accesses);
    board.append(g0, task, view.task(task).accesses);
    for (auto const& access : accesses) policy->planned_uses_changed(access.data, g0);
  }
  void commit(std::initializer_list<Access> accesses) { view.commit(view.add_task(accesses), g0); }
};

TEST_P(Luf, fewest_planned_uses_first) {
  for (DataId const data : d) add(data);
  plan({read(d[0]), read(d[1]), read(d[2])});
  plan({read(d[0]), read(d[1]), read(d[3])});
  plan({read(d[0]), read(d[2]), read(d[3])});
  plan({read(d[1]), read(d[2])});
  EXPECT_EQ(policy->victim(n1), d[3]);
  board.remove(TaskId(0));
  for (int i = 0; i < 3; ++i) policy->planned_uses_changed(d[static_cast<std::size_t>(i)], g0);
  EXPECT_EQ(policy->victim(n1), d[0]) << "all have two uses: least recently used";
}

TEST_P(Luf, data_of_committed_tasks_come_last_furthest_next_use_first) {
  for (DataId const data : d) add(data);
  commit({read(d[0]), read(d[1])});
  commit({read(d[2]), read(d[0])});
  commit({read(d[1])});
  for (int i = 0; i < 9; ++i) plan({read(d[3])});
  EXPECT_EQ(policy->victim(n1), d[3]) << "however many planned tasks use it";
  view.set_evictable(d[3], n1, false);
  EXPECT_EQ(policy->victim(n1), d[2]) << "its next use is in the second task, those of the others in the first";
  view.set_evictable(d[2], n1, false);
  EXPECT_EQ(policy->victim(n1), d[0]);
}

class LufWritten : public Luf {};

TEST_P(LufWritten, the_only_replica_of_a_value_counts_as_used_later) {
  for (int i = 0; i < 2; ++i) view.set_valid(d[static_cast<std::size_t>(i)], NodeId(0), false);  // written on n1
  for (DataId const data : d) add(data);
  EXPECT_EQ(policy->victim(n1), d[2]) << "2 x 4 replicas later than its last use";
  for (int i = 0; i < 4; ++i) {
    policy->replica_used(d[2], n1);
    policy->replica_used(d[3], n1);
  }
  EXPECT_EQ(policy->victim(n1), d[0]) << "eleven uses ago";
  view.set_valid(d[1], NodeId(0), true);  // written back
  policy->replica_used(d[0], n1);
  policy->replica_used(d[1], n1);
  EXPECT_EQ(policy->victim(n1), d[2]);
  plan({read(d[2]), read(d[3])});
  plan({read(d[3]), read(d[1])});
  EXPECT_EQ(policy->victim(n1), d[0]) << "planned uses come first";
}

INSTANTIATE_TEST_SUITE_P(Only, LufWritten, testing::Values("luf:written=2"),
                         [](auto const&) { return std::string("luf"); });
INSTANTIATE_TEST_SUITE_P(Only, Luf, testing::Values("luf"), [](auto const& test) { return std::string(test.param); });

// Both policies compared with full scans, on random events.
class SlowEviction {
 public:
  SlowEviction(FakeSystemView const& system, PlanBoard const& plans, bool luf)
      : view(system), board(plans), is_luf(luf) {}

  [[nodiscard]] DataId victim(NodeId node) const {
    using Rank = std::tuple<std::uint64_t, bool, std::uint64_t, DataId>;
    std::vector<Rank> ranks;
    for (auto const& [key, used] : last_use) {
      auto const [data, where] = key;
      if (where != node || !view.evictable(data, node) || (is_luf && view.committed_uses(data, node) > 0)) continue;
      std::uint64_t planned = 0;
      for (GroupId const group : view.topology().groups_on(node)) planned += board.uses(data, group);
      ranks.emplace_back(is_luf ? planned : 0, is_luf && view.unfinished_uses(data) > 0, used, data);
    }
    return ranks.empty() ? belady(node) : std::get<3>(std::ranges::min(ranks));
  }
  [[nodiscard]] std::size_t next_use(DataId data, NodeId node) const {
    std::size_t nearest = SIZE_MAX;
    for (GroupId const group : view.topology().groups_on(node)) {
      std::size_t position = 0;
      for (TaskId const task : view.committed(group)) {
        for (auto const& access : view.task(task).accesses) {
          if (access.data == data) nearest = std::min(nearest, position);
        }
        ++position;
      }
    }
    return nearest;
  }

  FakeSystemView const& view;
  PlanBoard const& board;
  bool is_luf;
  std::map<std::pair<DataId, NodeId>, std::uint64_t> last_use;

 private:
  // Any datum with the furthest use would do: the first one is returned, and the test compares distances.
  [[nodiscard]] DataId belady(NodeId node) const {
    DataId best;
    for (auto const& [key, used] : last_use) {
      auto const [data, where] = key;
      if (where != node || !view.evictable(data, node)) continue;
      if (!best.valid() || next_use(data, node) > next_use(best, node)) best = data;
    }
    return best;
  }
};

class RandomEviction final : private PlanBoard::Observer {
 public:
  RandomEviction(std::uint64_t seed, char const* name)
      : m_random(seed),
        m_view(machine(seed)),
        m_board(m_view.topology().groups().size()),
        m_policy(make_eviction(name)),
        m_slow(m_view, m_board, std::string_view(name) == "luf") {
    m_policy->attach(m_view, m_board);
    m_board.observe(this);
    for (int i = 0; i < 12; ++i) m_data.push_back(m_view.add_data());
  }

  void run(int steps) {
    for (std::uint64_t step = 1; step <= static_cast<std::uint64_t>(steps); ++step) {
      one_event(step);
      for (std::uint32_t n = 0; n < 3; ++n) {
        NodeId const node(n);
        DataId const fast = m_policy->victim(node);
        DataId const slow = m_slow.victim(node);
        if (fast.valid() && slow.valid() && m_slow.is_luf && m_view.committed_uses(slow, node) > 0) {
          ASSERT_TRUE(m_view.evictable(fast, node));
          ASSERT_EQ(m_slow.next_use(fast, node), m_slow.next_use(slow, node)) << "step " << step;
        } else {
          ASSERT_EQ(fast, slow) << "step " << step;
        }
      }
    }
  }

 private:
  static Machine machine(std::uint64_t seed) {
    auto result = devices(2);
    if (seed % 2 == 0) result.add_worker({.name = "core", .node = NodeId(1), .kind = WorkerKind::Cpu});
    return result;
  }
  void planned_uses_changed(DataId data, GroupId group) override { m_policy->planned_uses_changed(data, group); }
  [[nodiscard]] GroupId any_group() {
    return GroupId(static_cast<std::uint32_t>(m_random.below(m_view.topology().groups().size())));
  }

  void one_event(std::uint64_t step) {
    DataId const data = m_data[m_random.below(m_data.size())];
    NodeId const node(static_cast<std::uint32_t>(m_random.below(3)));
    bool const there = m_slow.last_use.contains({data, node});
    switch (m_random.below(7)) {
      case 0:
      case 1:
        if (!there) {
          m_policy->replica_added(data, node);
          m_slow.last_use[{data, node}] = step;
          m_view.set_evictable(data, node, m_random.chance(0.7));
        }
        break;
      case 2:
        m_policy->replica_used(data, node);
        if (there) m_slow.last_use[{data, node}] = step;
        break;
      case 3:
        if (m_random.chance(0.2)) {
          m_view.set_unfinished_uses(data, 0);
          m_policy->last_use_ended(data);
        }
        m_view.set_evictable(data, node, there && m_random.chance(0.7));
        if (m_random.chance(0.4)) drop(data, node);
        break;
      case 4: {
        TaskId const task = m_view.add_task({read(data), read(m_data[m_random.below(m_data.size())])});
        m_board.append(any_group(), task, m_view.task(task).accesses);
        m_planned.push_back(task);
        break;
      }
      case 5:
        if (m_planned.empty()) break;
        m_board.remove(m_planned.back());
        if (m_random.chance(0.7)) {
          m_view.commit(m_planned.back(), any_group());
          m_committed.push_back(m_planned.back());
        }
        m_planned.pop_back();
        break;
      default:
        if (m_committed.empty()) break;
        m_view.finish(m_committed.front());
        m_committed.erase(m_committed.begin());
    }
  }
  void drop(DataId data, NodeId node) {
    m_view.set_evictable(data, node, false);
    m_policy->replica_dropped(data, node);
    m_slow.last_use.erase({data, node});
  }

  Random m_random;
  FakeSystemView m_view;
  PlanBoard m_board;
  std::unique_ptr<EvictionPolicy> m_policy;
  SlowEviction m_slow;
  std::vector<DataId> m_data;
  std::vector<TaskId> m_planned;
  std::vector<TaskId> m_committed;
};

TEST_P(Eviction, agrees_with_scans_on_random_events) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomEviction(seed, GetParam()).run(1500);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace granary::test::eviction_test
