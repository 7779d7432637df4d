// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs with failures.
#include "support/engine_fixture.hpp"

#include <granary/detail/core/base/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>

namespace granary::test {

using namespace detail;

namespace {

using testing::Contains;
using testing::HasSubstr;
using enum AccessMode;

struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void refuse(KernelCall const& call) {
  throw Refused("task " + std::to_string(*static_cast<int const*>(call.parameters)) + " refuses");
}

TEST(EngineFailures, WaitRethrowsWhatATaskThrewAndTheNextWaitIsClean) {
  EngineFixture fixture;
  std::uint64_t x = 0, y = 0;
  auto const spoiled = fixture.in_place(x, "spoiled");
  auto const sound = fixture.in_place(y, "sound");
  auto const add_one = fixture.codelet("increment", increment);
  auto const bad = fixture.codelet("bad", refuse);
  for (int i = 0; i < 100; ++i) {
    fixture.submit(add_one, {{sound, ReadWrite}});
    if (i == 50) fixture.submit(bad, {{spoiled, ReadWrite}}, 50);
    if (i > 50) fixture.submit(add_one, {{spoiled, ReadWrite}});
  }
  try {
    fixture.engine->wait();
    FAIL() << "nothing was thrown";
  } catch (Refused const& error) {
    EXPECT_STREQ(error.what(), "task 50 refuses");
  }
  EXPECT_EQ(y, 100U) << "tasks that do not depend on the failure run";
  EXPECT_EQ(x, 0U) << "tasks that depend on it do not";
  ASSERT_EQ(fixture.engine->failures().size(), 1U);
  EXPECT_THAT(fixture.engine->failures()[0].poisoned, Contains(HasSubstr("spoiled")));
  EXPECT_NO_THROW(fixture.engine->wait());
}

// As `eager`, but it does something wrong.
class WrongScheduler final : public Scheduler {
 public:
  enum class How { ThrowsInSubmitted, ThrowsInReady, ThrowsInFinished, GivesTwice, KeepsBack };
  explicit WrongScheduler(How how) : m_how(how) { set_policy_name("wrong"); }
  void attach(SystemView const& view, PlanBoard& board) override { m_eager->attach(view, board); }
  void submitted(TaskId) override { throw_if(How::ThrowsInSubmitted); }
  void ready(TaskId task) override {
    throw_if(How::ThrowsInReady);
    m_eager->ready(task);
  }
  TaskId next(GroupId group) override {
    TaskId const task = m_eager->next(group);
    if (m_how == How::KeepsBack) return {};
    if (m_how != How::GivesTwice || !task.valid()) return task;
    return m_given.valid() ? m_given : m_given = task;
  }
  void withdrawn(TaskId task, Withdrawal why, GroupId group) override { m_eager->withdrawn(task, why, group); }
  void finished(TaskId) override { throw_if(How::ThrowsInFinished); }

 private:
  void throw_if(How how) const {
    if (how == m_how) throw std::logic_error("the policy is wrong");
  }
  How m_how;
  TaskId m_given;
  std::unique_ptr<Scheduler> m_eager = make_scheduler("eager");
};

TEST(EngineFailures, APolicyThatBreaksItsContractEndsTheRun) {
  using enum WrongScheduler::How;
  std::pair<WrongScheduler::How, std::string> const cases[] = {
      {ThrowsInSubmitted, "has thrown in submitted() for task 'increment' 0: the policy is wrong"},
      {ThrowsInReady, "has thrown in ready() for task 'increment' 0: the policy is wrong"},
      {ThrowsInFinished, "has thrown in finished() for task 'increment' 0: the policy is wrong"},
      {GivesTwice, "gave task 'increment' 0 a second time"},
      {KeepsBack,
       "keeps back task 'increment' 0, which is ready, although nothing else is under way and it was asked for them "
       "again"}};
  for (auto const& [how, what] : cases) {
    SCOPED_TRACE(what);
    EngineFixture fixture(1);
    fixture.engine = std::make_unique<Engine>(
        Topology(fixture.machine),
        PolicySet{std::make_unique<WrongScheduler>(how), make_policies("eager", "lru").eviction},
        std::make_unique<AveragingEstimator>(),
        EngineBackends{std::make_shared<PlainWorkers>(), {fixture.copies, fixture.copies}}, EngineOptions{});
    std::uint64_t x = 0, y = 0;
    auto const first = fixture.in_place(x), second = fixture.in_place(y, "y");
    // It runs until the second task was submitted, at least.
    std::atomic<bool> goes_on = true;
    auto const hold = fixture.codelet("increment", [](KernelCall const& call) {
      (*static_cast<std::atomic<bool>* const*>(call.parameters))->wait(true);
      increment(call);
    });
    auto const submit_on = [&](DataId data) { fixture.submit(hold, {{data, ReadWrite}}, &goes_on); };
    auto const says = [](auto const& call) {
      try {
        call();
      } catch (Error const& error) {
        return std::string(error.what());
      }
      return std::string("nothing was thrown");
    };
    submit_on(first);
    bool const at_once = how != ThrowsInFinished && how != GivesTwice;
    auto const sentence = "scheduler 'wrong' " + what;
    EXPECT_EQ(says([&] { submit_on(second); }), at_once ? sentence : "nothing was thrown");
    goes_on = false;
    goes_on.notify_all();
    EXPECT_EQ(says([&] { fixture.engine->wait(); }), sentence);
    EXPECT_EQ(x, at_once ? 0U : 1U) << "a task that runs ends before the wait";
    EXPECT_NO_THROW(fixture.engine->wait()) << "it is reported once";
    EXPECT_EQ(says([&] { submit_on(second); }), sentence);
  }
}

// It throws when it is told of a task's time.
class WrongEstimator final : public Estimator {
 public:
  [[nodiscard]] Duration kernel_time(CodeletId, double, WorkerKind) const override { return Duration{1}; }
  void observe_kernel(CodeletId, double, WorkerKind, Duration) override {
    throw std::logic_error("the estimator is wrong");
  }
};

// The planner is between two states then: nothing may be asked of it.
TEST(EngineFailures, AnEstimatorThatThrowsEndsTheRun) {
  EngineFixture fixture(1);
  fixture.engine = std::make_unique<Engine>(
      Topology(fixture.machine), make_policies("eager", "lru"), std::make_unique<WrongEstimator>(),
      EngineBackends{std::make_shared<PlainWorkers>(), {fixture.copies, fixture.copies}}, EngineOptions{});
  std::uint64_t x = 0;
  auto const data = fixture.in_place(x);
  auto const add_one = fixture.codelet("increment", increment);
  fixture.submit(add_one, {{data, ReadWrite}});
  EXPECT_THROW(fixture.engine->wait(), std::logic_error);
  EXPECT_THROW(fixture.engine->wait(std::vector{data}), std::logic_error);
  EXPECT_THROW(fixture.submit(add_one, {{data, ReadWrite}}), std::logic_error);
}

TEST(EngineFailures, SubmittingOnPoisonedDataThrowsAndNamesThem) {
  EngineFixture fixture;
  std::uint64_t x = 0;
  auto const data = fixture.in_place(x, "spoiled");
  fixture.submit(fixture.codelet("bad", refuse), {{data, ReadWrite}}, 1);
  EXPECT_THROW(fixture.engine->wait(), Refused);
  try {
    fixture.submit(fixture.codelet("increment", increment), {{data, ReadWrite}});
    FAIL() << "nothing was thrown";
  } catch (InvalidArgument const& error) {
    EXPECT_THAT(error.what(), HasSubstr("spoiled"));
  }
}

TEST(EngineFailures, ATaskThatOnlyWritesPoisonedDataDefinesThemAgain) {
  EngineFixture fixture;
  auto const data =
      fixture.engine->add_data({.name = "spoiled", .bytes = 8, .origin = fixture.disk, .home = fixture.disk});
  auto const add_one = fixture.codelet("increment", increment);
  auto const set = fixture.codelet("set", [](KernelCall const& call) { value(call) = 3; });
  for (int round = 0; round < 3; ++round) {
    fixture.submit(fixture.codelet("bad", refuse), {{data, ReadWrite}}, 1);
    EXPECT_THROW(fixture.engine->wait(), Refused);
    EXPECT_THAT(fixture.engine->failures()[0].poisoned_data, testing::ElementsAre(data));
    EXPECT_THROW(fixture.submit(add_one, {{data, ReadWrite}}), InvalidArgument);
    fixture.submit(set, {{data, Write}});
    for (int i = 0; i < 10; ++i) fixture.submit(add_one, {{data, ReadWrite}});
    EXPECT_NO_THROW(fixture.engine->wait());
    EXPECT_EQ(fixture.copies->values[data.index()], 13U) << "and they reach their home";
  }
}

TEST(EngineFailures, TheFirstInTheOrderOfSubmissionIsThrownAndTheOthersAreAttached) {
  EngineFixture fixture;
  std::array<std::uint64_t, 8> values{};
  auto const bad = fixture.codelet("bad", [](KernelCall const& call) {
    auto const number = *static_cast<int const*>(call.parameters);
    std::this_thread::sleep_for(std::chrono::milliseconds(number == 0 ? 5 : 0));
    refuse(call);
  });
  for (int i = 0; i < 8; ++i)
    fixture.submit(bad, {{fixture.in_place(values[static_cast<std::size_t>(i)]), ReadWrite}}, i);
  try {
    fixture.engine->wait();
    FAIL() << "nothing was thrown";
  } catch (Refused const& error) {
    EXPECT_STREQ(error.what(), "task 0 refuses");
  }
  auto const& failures = fixture.engine->failures();
  ASSERT_EQ(failures.size(), 8U);
  for (std::size_t i = 1; i < 8; ++i) EXPECT_LT(failures[i - 1].task, failures[i].task);
}

TEST(EngineFailures, ObjectsThatAreNoExceptionsAreRethrownToo) {
  EngineFixture fixture;
  std::uint64_t x = 0;
  fixture.submit(fixture.codelet("odd", [](KernelCall const&) { throw 17; }), {{fixture.in_place(x), ReadWrite}});
  EXPECT_THROW(fixture.engine->wait(), int);
}

TEST(EngineFailures, AFailedReadFailsTheTask) {
  for (auto const how : {LoggingCopies::Answer::Failed, LoggingCopies::Answer::Thrown}) {
    EngineFixture fixture;
    auto const data = fixture.engine->add_data({.name = "x", .bytes = 8, .origin = fixture.disk, .home = {}});
    fixture.copies->next_answer = how;
    fixture.submit(fixture.codelet("increment", increment), {{data, Read}});
    EXPECT_THROW(fixture.engine->wait(), IoError);
    EXPECT_EQ(fixture.engine->statistics().planner.tasks_run, 0U);
    EXPECT_NO_THROW(fixture.engine->wait());
  }
}

TEST(EngineFailures, AFailedWriteBackIsReportedAfterTheTasks) {
  EngineFixture fixture;
  auto const data = fixture.engine->add_data({.name = "x", .bytes = 8, .origin = {}, .home = fixture.disk});
  fixture.copies->next_answer = LoggingCopies::Answer::Failed;
  fixture.submit(fixture.codelet("set", [](KernelCall const& call) { value(call) = 3; }), {{data, Write}});
  EXPECT_THROW(fixture.engine->wait(), IoError);
  EXPECT_EQ(fixture.copies->values[0], 0U);
}

TEST(EngineFailures, CancelEndsTheRunAndIsWhatWaitThrows) {
  EngineFixture fixture(1);
  std::uint64_t x = 0;
  auto const data = fixture.in_place(x);
  auto const slow = fixture.codelet("slow", [](KernelCall const& call) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ++value(call);
  });
  for (int i = 0; i < 100'000; ++i) fixture.submit(slow, {{data, ReadWrite}});
  std::thread canceller([&] { fixture.engine->cancel(std::make_exception_ptr(Refused("interrupted"))); });
  EXPECT_THROW(fixture.engine->wait(), Refused);
  canceller.join();
  EXPECT_LT(x, 100'000U);
  EXPECT_GT(fixture.engine->statistics().planner.tasks_cancelled, 0U);
}

TEST(EngineFailures, ManyFailuresAmongManyTasksFromSeveralThreads) {
  EngineFixture fixture;
  auto const bad = fixture.codelet("bad", refuse);
  auto const good = fixture.codelet("increment", increment);
  std::array<std::array<std::uint64_t, 50>, 3> values{};
  std::vector<std::thread> threads;
  std::atomic<int> refused = 0;
  for (auto& mine : values) {
    threads.emplace_back([&] {
      for (std::size_t i = 0; i < mine.size(); ++i) {
        auto const data = fixture.in_place(mine[i]);
        if (i % 7 == 3) fixture.submit(bad, {{data, ReadWrite}}, static_cast<int>(i));
        try {
          for (int k = 0; k < 20; ++k) fixture.submit(good, {{data, ReadWrite}});
        } catch (InvalidArgument const&) {
          ++refused;
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_THROW(fixture.engine->wait(), Refused);
  EXPECT_EQ(fixture.engine->failures().size(), 21U);
  for (auto const& mine : values) {
    for (std::size_t i = 0; i < mine.size(); ++i) EXPECT_EQ(mine[i], i % 7 == 3 ? 0U : 20U);
  }
}

}  // namespace
}  // namespace granary::test
