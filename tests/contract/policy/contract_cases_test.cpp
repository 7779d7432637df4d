// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Policies with the mistakes that authors make: the contract tests name each of them.
#include "support/contract_cases.hpp"

#include <granary/detail/policies/registry.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace granary::test {

using namespace detail;

namespace {

using testing::HasSubstr;

// First in, first out. It asks nothing about tasks after they became ready: they may have been cancelled.
class Line : public Scheduler {
 public:
  void attach(SystemView const& view, PlanBoard&) override { m_view = &view; }
  void ready(TaskId task) override { m_tasks.push_back({task, m_view->task(task).allowed_groups}); }
  TaskId next(GroupId group) override {
    auto const found = std::ranges::find_if(m_tasks, [&](Waiting const& task) { return task.groups.contains(group); });
    return found == m_tasks.end() ? TaskId() : take(found);
  }
  void withdrawn(TaskId task, Withdrawal, GroupId) override {
    std::erase_if(m_tasks, [&](Waiting const& waiting) { return waiting.task == task; });
  }

 protected:
  struct Waiting {
    TaskId task;
    GroupSet groups;
  };
  TaskId take(std::vector<Waiting>::iterator place) {
    auto const task = place->task;
    m_tasks.erase(place);
    return task;
  }

  SystemView const* m_view = nullptr;
  std::vector<Waiting> m_tasks;
};

// It waits for a second task, of which it could choose one.
struct KeepsTheLast final : Line {
  TaskId next(GroupId group) override { return m_tasks.size() < 2 ? TaskId() : Line::next(group); }
};

struct AnyGroup final : Line {
  TaskId next(GroupId) override { return m_tasks.empty() ? TaskId() : take(m_tasks.begin()); }
};

// Cancelled tasks stay in the line.
struct ForgetsNothing final : Line {
  void withdrawn(TaskId, Withdrawal, GroupId) override {}
};

// The line depends on what happened in other runs.
struct Remembers final : Line {
  void ready(TaskId task) override {
    static std::uint64_t asked = 0;
    Line::ready(task);
    if (++asked % 3 == 0) std::swap(m_tasks.front(), m_tasks.back());
  }
};

// Whatever arrived last, be it in use or not.
class Newest final : public EvictionPolicy {
 public:
  void attach(SystemView const&, PlanBoard const&) override {}
  void replica_added(DataId data, NodeId) override { m_newest = data; }
  DataId victim(NodeId) override { return m_newest; }

 private:
  DataId m_newest;
};

template <class Made>
std::unique_ptr<Made> named(std::unique_ptr<Made> policy) {
  policy->set_policy_name("mine");
  return policy;
}

/// What the contract tests say of the policies: the first broken promise, or nothing.
std::string verdict(std::string_view kind, std::function<PolicySet()> const& policies) {
  auto const& cases = contract_cases(kind);
  Seeds seeds(cases.first_seed, 100);
  seeds.end = seeds.first + 100;  // also with a sanitizer
  auto const totals = run_cases(seeds, [&](std::uint64_t seed) {
    auto drawn = cases.draw(seed);
    drawn.policies = policies;
    return drawn;
  });
  return totals.broken.empty() ? "" : totals.broken.front();
}

template <class Made>
std::string verdict_on_scheduler(std::string_view kind) {
  return verdict(kind, [] { return PolicySet{named(std::make_unique<Made>()), make_eviction("lru")}; });
}

TEST(ContractTests, ARightSchedulerKeepsAllPromises) {
  EXPECT_EQ(verdict_on_scheduler<Line>("OnRandomCases"), "");
  EXPECT_EQ(verdict_on_scheduler<Line>("WhenCopiesAndTasksFail"), "");
}

TEST(ContractTests, ATaskThatIsKeptBackIsFound) {
  EXPECT_THAT(verdict_on_scheduler<KeepsTheLast>("OnRandomCases"), HasSubstr("scheduler 'mine' keeps back task"));
}

TEST(ContractTests, ATaskForAWrongGroupIsFound) {
  EXPECT_THAT(verdict_on_scheduler<AnyGroup>("OnRandomCases"), HasSubstr("scheduler 'mine' gave"));
}

// In runs without failures it does nothing wrong.
TEST(ContractTests, ACancelledTaskThatIsNotForgottenIsFound) {
  EXPECT_EQ(verdict_on_scheduler<ForgetsNothing>("OnRandomCases"), "");
  EXPECT_THAT(verdict_on_scheduler<ForgetsNothing>("WhenCopiesAndTasksFail"), HasSubstr("scheduler 'mine' "));
}

TEST(ContractTests, OtherAnswersToTheSameEventsAreFound) {
  EXPECT_THAT(verdict_on_scheduler<Remembers>("OnRandomCases"), HasSubstr("other commands when run again"));
}

TEST(ContractTests, AVictimThatIsInUseIsFound) {
  auto const policies = [] {
    return PolicySet{make_scheduler("eager"), named<EvictionPolicy>(std::make_unique<Newest>())};
  };
  EXPECT_THAT(verdict("OnRandomCases", policies), HasSubstr("eviction policy 'mine' chose to evict "));
}

}  // namespace
}  // namespace granary::test
