// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tasks that the scheduler has stopped while they run.
#include "support/engine_fixture.hpp"

#include <granary/detail/core/policy/scheduler_extensions.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>

namespace granary::test {

using namespace detail;

namespace {

constexpr std::uint64_t nonsense = 0x5a5a5a5a5a5a5a5aU;

/// First come, first served; stops a running task that may be stopped as long as the test has a wish left.
class StoppingOnWish final : public Scheduler, public TaskAborter {
 public:
  explicit StoppingOnWish(std::atomic<int>& wishes) : m_wishes(wishes) {}

  void attach(SystemView const& view, PlanBoard&) override { m_view = &view; }
  void ready(TaskId task) override { m_ready.push_back(task); }
  void withdrawn(TaskId task, Withdrawal, GroupId) override { std::erase(m_ready, task); }
  TaskId next(GroupId) override {
    if (m_ready.empty()) return {};
    TaskId const task = m_ready.front();
    m_ready.erase(m_ready.begin());
    return task;
  }
  [[nodiscard]] TaskId abort_for(GroupId group) override {
    for (TaskId const task : m_view->committed(group)) {
      if (m_wishes == 0 || !m_view->may_abort(task)) continue;
      --m_wishes;
      return task;
    }
    return {};
  }

 private:
  std::atomic<int>& m_wishes;
  SystemView const* m_view = nullptr;
  std::vector<TaskId> m_ready;
};

/// What a test's body does, and what it saw.
struct Body {
  std::vector<std::uint64_t> before = {};  // the value that it found, by run
  std::uint64_t result = 0;
  bool looks = true;          // it runs until it is told to stop, the first time
  bool throws = false;        // then
  bool fails = false;         // at the end of its last run
  std::atomic<int> runs = 0;  // begun
  std::atomic<bool> may_end = false;
  std::atomic<bool> may_stop = true;  // once it was told to

  void operator()(KernelCall const& call) {
    auto& x = value(call);
    before.push_back(x);
    x = nonsense;
    bool const first = ++runs == 1;
    if (first && looks) {
      while (!call.stop.requested() || !may_stop) std::this_thread::yield();
      if (throws) throw std::runtime_error("told to stop");
      return;
    }
    while (first && !may_end) std::this_thread::yield();
    if (fails) throw std::runtime_error("failed");
    x = result;
  }
};

void run_body(KernelCall const& call) { (**static_cast<Body* const*>(call.parameters))(call); }

class EngineAbort : public testing::Test {
 protected:
  struct Running : SmallMachine {
    explicit Running(std::atomic<int>& wishes, Bytes capacity = 1_MiB) : SmallMachine(2, capacity) {
      PolicySet policies = make_policies("eager", "lru");
      policies.scheduler = std::make_unique<StoppingOnWish>(wishes);
      auto const copies = std::make_shared<LoggingCopies>(machine);
      EngineOptions options;
      options.trace.record = true;
      engine = std::make_unique<Engine>(Topology(machine), std::move(policies), std::make_unique<AveragingEstimator>(),
                                        EngineBackends{std::make_shared<PlainWorkers>(), {copies, copies}}, options);
      polls = engine->add_codelet(
          {.name = "polls", .kernels = {run_body, nullptr}, .launches_kokkos_kernels = false, .restartable = true});
      asks = engine->add_codelet(
          {.name = "asks", .kernels = {[](KernelCall const&) {}, nullptr}, .launches_kokkos_kernels = false});
    }
    std::unique_ptr<Engine> engine;
    CodeletId polls;
    CodeletId asks;
  };

  DataId in_place(std::byte* address, Bytes bytes, Lines lines = {}) {
    HostBinding binding{address, address, {}};
    binding.lines = lines;
    return running.engine->add_data({.name = "x",
                                     .bytes = bytes,
                                     .origin = running.host,
                                     .home = running.host,
                                     .origin_is_home = true,
                                     .in_place = true},
                                    std::move(binding), nullptr);
  }
  DataId in_place(std::uint64_t& x) { return in_place(reinterpret_cast<std::byte*>(&x), sizeof(x)); }
  void submit(Body& body, DataId data) {
    running.engine->submit({running.polls, std::array{Access{data, AccessMode::ReadWrite}}, 0, 0}, Parameters(&body));
    while (body.runs == 0) std::this_thread::yield();
  }
  // The scheduler is asked whenever a worker gets a task.
  void stop_one() {
    wishes = 1;
    while (wishes > 0) {
      running.engine->submit({running.asks, {}, 0, 0}, Parameters());
      std::this_thread::yield();
    }
  }
  [[nodiscard]] std::uint64_t aborted() { return running.engine->statistics().planner.tasks_aborted; }

  std::atomic<int> wishes = 0;
  Running running{wishes};
};

TEST_F(EngineAbort, ABodyThatIsToldToStopRunsAgainOnTheSameBytes) {
  for (bool const throws : {false, true}) {
    std::uint64_t x = 17;
    Body body{.result = 18, .throws = throws};
    submit(body, in_place(x));
    stop_one();
    EXPECT_NO_THROW(running.engine->wait()) << "what a stopped body throws does not count";
    EXPECT_EQ(body.before, (std::vector<std::uint64_t>{17, 17}));
    EXPECT_EQ(x, 18U);
  }
  EXPECT_EQ(aborted(), 2U);
  std::vector<bool> stopped;
  for (auto const& run : running.engine->trace().tasks) {
    if (run.codelet == running.polls) stopped.push_back(run.stopped);
  }
  EXPECT_EQ(stopped, (std::vector<bool>{true, false, true, false}));
}

TEST_F(EngineAbort, BytesBetweenLinesAreNotTouched) {
  std::array<std::uint64_t, 6> x{1, 100, 2, 101, 3, 102};
  Body body{.result = 9};
  submit(body, in_place(reinterpret_cast<std::byte*>(x.data()), 24, {.line = 8, .count = 3, .pitch = 16, .packed = 8}));
  x[1] = 200;
  stop_one();
  running.engine->wait();
  EXPECT_EQ(body.before, (std::vector<std::uint64_t>{1, 1}));
  EXPECT_EQ(x, (std::array<std::uint64_t, 6>{9, 200, 2, 101, 3, 102}));
}

TEST_F(EngineAbort, ABodyThatDoesNotLookHasRun) {
  std::uint64_t x = 17;
  Body body{.result = 18, .looks = false};
  submit(body, in_place(x));
  stop_one();
  body.may_end = true;
  running.engine->wait();
  EXPECT_EQ(body.runs, 1);
  EXPECT_EQ(x, 18U);
  EXPECT_EQ(aborted(), 0U);
}

TEST_F(EngineAbort, ABodyThatDoesNotLookMayFail) {
  std::uint64_t x = 17;
  Body body{.looks = false, .fails = true};
  submit(body, in_place(x));
  stop_one();
  body.may_end = true;
  EXPECT_THROW(running.engine->wait(), std::runtime_error);
  EXPECT_EQ(body.runs, 1);
}

TEST_F(EngineAbort, AFailureAfterAStopIsReported) {
  std::uint64_t x = 17;
  Body body{.fails = true};
  submit(body, in_place(x));
  stop_one();
  EXPECT_THROW(running.engine->wait(), std::runtime_error);
  EXPECT_EQ(body.before, (std::vector<std::uint64_t>{17, 17}));
}

// A worker had it, so it is not cancelled.
TEST_F(EngineAbort, AStoppedTaskRunsAgainAfterACancellation) {
  std::uint64_t x = 17;
  Body body{.result = 18};
  Body later{.result = 19, .looks = false};
  auto const data = in_place(x);
  body.may_stop = false;
  submit(body, data);
  later.may_end = true;
  running.engine->submit({running.polls, std::array{Access{data, AccessMode::ReadWrite}}, 0, 0}, Parameters(&later));
  stop_one();
  running.engine->cancel(std::make_exception_ptr(std::runtime_error("interrupted")));
  body.may_stop = true;
  EXPECT_THROW(running.engine->wait(), std::runtime_error);
  EXPECT_EQ(body.before, (std::vector<std::uint64_t>{17, 17}));
  EXPECT_EQ(later.runs, 0);
  EXPECT_EQ(x, 18U);
}

TEST_F(EngineAbort, NothingIsStoppedAfterACancellation) {
  std::uint64_t x = 17;
  Body body{.result = 18, .looks = false};
  submit(body, in_place(x));
  running.engine->cancel(std::make_exception_ptr(std::runtime_error("interrupted")));
  wishes = 1;
  running.engine->submit({running.asks, {}, 0, 0}, Parameters());
  body.may_end = true;
  EXPECT_THROW(running.engine->wait(), std::runtime_error);
  EXPECT_EQ(wishes, 1);
  EXPECT_EQ(body.runs, 1);
  EXPECT_EQ(x, 18U);
}

// Its body would run for ever if nobody stopped it.
TEST_F(EngineAbort, WithoutRoomForTheValueATaskIsNotStopped) {
  Running tight(wishes, 8);
  std::atomic<bool> end = false;
  struct Parameters8 {
    std::atomic<bool>* end;
  };
  auto const polls = tight.engine->add_codelet({.name = "waits",
                                                .kernels = {[](KernelCall const& call) {
                                                              auto const& its =
                                                                  *static_cast<Parameters8 const*>(call.parameters);
                                                              while (!*its.end) std::this_thread::yield();
                                                              EXPECT_FALSE(call.stop.requested());
                                                            },
                                                            nullptr},
                                                .launches_kokkos_kernels = false,
                                                .restartable = true});
  std::array<std::uint64_t, 2> x{1, 2};
  auto* const address = reinterpret_cast<std::byte*>(x.data());
  auto const data = tight.engine->add_data(
      {.name = "x", .bytes = 16, .origin = tight.host, .home = tight.host, .origin_is_home = true, .in_place = true},
      HostBinding{address, address, {}}, nullptr);
  wishes = 1;
  tight.engine->submit({polls, std::array{Access{data, AccessMode::ReadWrite}}, 0, 0}, Parameters(Parameters8{&end}));
  for (int i = 0; i < 20; ++i) tight.engine->submit({tight.asks, {}, 0, 0}, Parameters());
  end = true;
  tight.engine->wait();
  EXPECT_EQ(wishes, 1);
}

}  // namespace
}  // namespace granary::test
