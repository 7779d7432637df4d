// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/engine/engine.hpp>

#include "support/engine_fixture.hpp"
#include "support/message_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

namespace granary::test {

using namespace detail;

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using enum AccessMode;

TEST(Engine, RunsDependentTasksInTheOrderOfSubmission) {
  EngineFixture fixture;
  std::uint64_t x = 0;
  auto const data = fixture.in_place(x);
  auto const append = fixture.codelet("append", [](KernelCall const& call) {
    value(call) = value(call) * 3 + *static_cast<std::uint64_t const*>(call.parameters);
  });
  std::uint64_t expected = 0;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    fixture.submit(append, {{data, ReadWrite}}, i);
    expected = expected * 3 + i;
  }
  fixture.engine->wait();
  EXPECT_EQ(x, expected);
  EXPECT_EQ(fixture.engine->statistics().planner.tasks_run, 5000U);
}

TEST(Engine, FetchesRunsAndWritesHome) {
  EngineFixture fixture;
  fixture.copies->values[0] = 41;
  auto const data = fixture.engine->add_data({.name = "x", .bytes = 8, .origin = fixture.disk, .home = fixture.disk});
  fixture.submit(fixture.codelet("increment", increment), {{data, ReadWrite}});
  fixture.engine->wait();
  EXPECT_EQ(fixture.copies->values[0], 42U);
  fixture.engine->release_data(data);
  fixture.engine->wait();
  EXPECT_THAT(fixture.copies->log,
              ElementsAre("copy 0 disk origin -> host pool", "copy 0 host pool -> disk home", "forget 0", "forget 0"));
}

TEST(Engine, SpillsTemporariesToTheDiskAndReadsThemBack) {
  EngineFixture fixture(2, 24);  // room for three values
  auto const set = fixture.codelet(
      "set", [](KernelCall const& call) { value(call) = *static_cast<std::uint64_t const*>(call.parameters); });
  auto const add = fixture.codelet("add", [](KernelCall const& call) { value(call, 1) += value(call, 0); });
  std::uint64_t sum = 0;
  auto const total = fixture.in_place(sum);
  std::vector<DataId> data;
  for (std::uint64_t i = 0; i < 20; ++i) {
    data.push_back(fixture.engine->add_data({.name = "t", .bytes = 8, .origin = {}, .home = {}}));
    fixture.submit(set, {{data.back(), Write}}, i);
  }
  for (auto const x : data) fixture.submit(add, {{x, Read}, {total, ReadWrite}});
  fixture.engine->wait();
  EXPECT_EQ(sum, 190U);
  EXPECT_LE(fixture.engine->statistics().planner.nodes[0].peak, 24U);
}

TEST(Engine, AKernelMayHaveManyAccesses) {
  EngineFixture fixture;
  std::vector<std::uint64_t> values(20, 1);
  std::vector<Access> accesses;
  for (auto& v : values) accesses.push_back({fixture.in_place(v), ReadWrite});
  fixture.submit(fixture.codelet("count",
                                 [](KernelCall const& call) {
                                   for (std::size_t i = 0; i < call.data.size(); ++i) value(call, i) += i;
                                 }),
                 accesses);
  fixture.engine->wait();
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], i + 1);
}

TEST(Engine, TasksMayBeSubmittedFromSeveralThreads) {
  EngineFixture fixture;
  std::array<std::uint64_t, 4> counters{};
  increment_from_threads(fixture, counters, 2000);
  fixture.engine->wait();
  EXPECT_THAT(counters, testing::Each(2000U));
}

// What the tasks of the next two tests see and do.
struct LongKernel {
  std::array<std::atomic<bool>, 2> gate_open{};  // by worker
  std::atomic<int> gates = 0;                    // that were reached
  std::atomic<std::uint32_t> last = 2;           // the worker whose gate opened last
  std::atomic<int> first = -1;                   // the first short task behind that gate
  std::atomic<int> followed = -1;                // the task whose follower has run
  std::atomic<int> waited = 0;                   // tasks that waited for that follower, and saw it
  std::atomic<int> ended = 0;
};
struct LongKernelTask {
  LongKernel* all = nullptr;  // null: an exercise
  int number = 0;
};

bool comes_true(std::function<bool()> const& condition) {
  auto const give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > give_up) return false;
    std::this_thread::yield();
  }
  return true;
}

// Each of two workers holds a gate that is closed, whose codelet and `usually_short` the engine believes to be short;
// eight short tasks, on the first eight data, wait behind these gates. False: the gates were not reached.
bool put_behind_gates(EngineFixture& fixture, LongKernel& all, CodeletId usually_short,
                      std::array<std::uint64_t, 10>& values, std::vector<DataId>& data) {
  auto const gate = fixture.codelet("gate", [](KernelCall const& call) {
    auto const& task = *static_cast<LongKernelTask const*>(call.parameters);
    if (task.all == nullptr) return;
    ++task.all->gates;
    comes_true([&] { return task.all->gate_open[call.worker.index()].load(); });
  });
  for (auto& v : values) data.push_back(fixture.in_place(v));
  for (int i = 0; i < 100; ++i) {
    fixture.submit(gate, {{data[8], ReadWrite}}, LongKernelTask{});
    fixture.submit(usually_short, {{data[9], ReadWrite}}, LongKernelTask{});
  }
  fixture.engine->wait();
  for (auto const x : {data[8], data[9]}) fixture.submit(gate, {{x, ReadWrite}}, LongKernelTask{&all});
  if (!comes_true([&] { return all.gates == 2; })) return false;
  for (int i = 0; i < 8; ++i) fixture.submit(usually_short, {{data[i], ReadWrite}}, LongKernelTask{&all, i});
  return true;
}

TEST(Engine, ResultsDoNotWaitForALongKernelBehindThem) {
  EngineFixture fixture(2);
  LongKernel all;
  std::array<std::uint64_t, 10> values{};
  std::vector<DataId> data;
  // The second one behind the last gate waits for the follower of the first, which the other worker can run.
  auto const usually_short = fixture.codelet("usually short", [](KernelCall const& call) {
    auto const& task = *static_cast<LongKernelTask const*>(call.parameters);
    if (task.all == nullptr) return;
    int none = -1;
    if (call.worker.index() == task.all->last && !task.all->first.compare_exchange_strong(none, task.number) &&
        task.all->waited == 0) {
      task.all->waited = comes_true([&] { return task.all->followed.load() == task.all->first; }) ? 1 : -1;
    }
    ++task.all->ended;
  });
  auto const follower = fixture.codelet("follower", [](KernelCall const& call) {
    auto const& task = *static_cast<LongKernelTask const*>(call.parameters);
    if (task.number == task.all->first) task.all->followed = task.number;
  });
  ASSERT_TRUE(put_behind_gates(fixture, all, usually_short, values, data));
  for (int i = 0; i < 8; ++i) fixture.submit(follower, {{data[i], ReadWrite}}, LongKernelTask{&all, i});
  all.gate_open[0] = true;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // worker 0 sleeps
  all.last = 1;
  all.gate_open[1] = true;
  EXPECT_TRUE(comes_true([&] { return all.waited != 0 || all.ended == 8; }));
  fixture.engine->wait();
  EXPECT_NE(all.waited, -1);
}

// As for a worker whose thread others have taken the processor from.
TEST(Engine, AnIdleWorkerRunsTheTasksThatWaitBehindALongOne) {
  EngineFixture fixture(2);
  LongKernel all;
  std::array<std::uint64_t, 10> values{};
  std::vector<DataId> data;
  auto const usually_short = fixture.codelet("usually short", [](KernelCall const& call) {
    auto const& task = *static_cast<LongKernelTask const*>(call.parameters);
    if (task.all != nullptr) ++task.all->ended;
  });
  ASSERT_TRUE(put_behind_gates(fixture, all, usually_short, values, data));
  all.gate_open[1] = true;
  EXPECT_TRUE(comes_true([&] { return all.ended == 8; })) << all.ended;
  all.gate_open[0] = true;
  fixture.engine->wait();
}

TEST(Engine, AWaitForOneTaskDoesNotLastAsLongAsTheKernelBehindIt) {
  EngineFixture fixture(1);
  std::atomic<bool> may_end = true, in_vain = false;
  struct Behind {
    std::atomic<bool>* may_end;
    std::atomic<bool>* in_vain;
  };
  auto const usually_short = fixture.codelet("usually short", [](KernelCall const& call) {
    auto const& task = *static_cast<Behind const*>(call.parameters);
    if (!comes_true([&] { return task.may_end->load(); })) *task.in_vain = true;
  });
  std::uint64_t x = 0;
  auto const data = fixture.in_place(x);
  for (int i = 0; i < 100; ++i) fixture.submit(usually_short, {{data, ReadWrite}}, Behind{&may_end, &in_vain});
  fixture.engine->wait();
  std::atomic<bool> at_once = true, open = false;
  fixture.submit(usually_short, {{data, ReadWrite}}, Behind{&open, &in_vain});  // so that all are in the lane
  auto const first = fixture.submit(usually_short, {{data, ReadWrite}}, Behind{&at_once, &in_vain});
  may_end = false;
  fixture.submit(usually_short, {{data, ReadWrite}}, Behind{&may_end, &in_vain});
  std::jthread const opens([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the application sleeps
    open = true;
  });
  fixture.engine->wait(first);
  may_end = true;
  fixture.engine->wait();
  EXPECT_FALSE(in_vain);
}

TEST(Engine, ParametersOfTasksThatRanAndOfCancelledOnesAreDestroyed) {
  EngineFixture fixture(1);
  auto const alive = std::make_shared<int>(7);
  std::uint64_t x = 0;
  auto const data = fixture.in_place(x);
  auto const fail = fixture.codelet("fail", [](KernelCall const&) { throw std::runtime_error("no"); });
  auto const good = fixture.codelet("good", [](KernelCall const&) {});
  fixture.submit(good, {{data, ReadWrite}}, alive);
  fixture.submit(fail, {{data, ReadWrite}}, alive);
  fixture.submit(good, {{data, ReadWrite}}, alive);
  EXPECT_THROW(fixture.engine->wait(), std::runtime_error);
  EXPECT_EQ(alive.use_count(), 1);
}

// Releases a datum in its destructor.
struct Releaser {
  Engine* engine;
  DataId data;
  Releaser(Engine* e, DataId d) : engine(e), data(d) {}
  Releaser(Releaser&& other) noexcept : engine(std::exchange(other.engine, nullptr)), data(other.data) {}
  ~Releaser() {
    if (engine != nullptr) engine->release_data(data);
  }
};

TEST(Engine, ParametersMayCallTheEngineWhenTheyAreDestroyed) {
  EngineFixture fixture;
  std::uint64_t x = 0, y = 0, z = 0;
  auto const data = fixture.in_place(x);
  auto const fail = fixture.codelet("fail", [](KernelCall const&) { throw std::runtime_error("no"); });
  fixture.submit(fail, {{data, ReadWrite}}, Releaser(fixture.engine.get(), fixture.in_place(y)));
  fixture.submit(fail, {{data, ReadWrite}}, Releaser(fixture.engine.get(), fixture.in_place(z)));  // cancelled
  EXPECT_THROW(fixture.engine->wait(), std::runtime_error);
  fixture.engine->wait();
}

TEST(Engine, RefusesAMachineThatItCannotServe) {
  SmallMachine small;
  auto const make = [&](Machine const& machine, EngineBackends backends) {
    Engine(Topology(machine), make_policies("eager", "lru"), std::make_unique<AveragingEstimator>(),
           std::move(backends));
  };
  auto const workers = std::make_shared<PlainWorkers>();
  auto const copies = std::make_shared<LoggingCopies>(small.machine);
  EXPECT_THROW(make(small.machine, {workers, {copies}}), InvalidArgument);
  EXPECT_THROW(make(small.machine, {nullptr, {copies, copies}}), InvalidArgument);
  auto machine = small.machine;
  machine.nodes[0].capacity = unbounded;
  EXPECT_THROW(make(machine, {workers, {copies, copies}}), InvalidArgument);
}

TEST(Engine, RefusesATaskThatCannotFitAndGoesOn) {
  EngineFixture fixture(2, 24);
  auto const big = fixture.engine->add_data({.name = "big", .bytes = 32, .origin = {}, .home = {}});
  auto const increment_codelet = fixture.codelet("increment", increment);
  EXPECT_THROW(fixture.submit(increment_codelet, {{big, Write}}), MemoryLimitError);
  EXPECT_THROW(fixture.submit(increment_codelet, {{DataId(99), Write}}), InvalidArgument);
  std::uint64_t x = 0;
  fixture.submit(increment_codelet, {{fixture.in_place(x), ReadWrite}});
  fixture.engine->wait();
  EXPECT_EQ(x, 1U);
}

TEST(Engine, DestructionCancelsWhatHasNotStarted) {
  std::uint64_t x = 0;
  {
    EngineFixture fixture(1);
    auto const data = fixture.in_place(x);
    auto const slow = fixture.codelet("slow", [](KernelCall const& call) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ++value(call);
    });
    for (int i = 0; i < 1000; ++i) fixture.submit(slow, {{data, ReadWrite}});
  }
  EXPECT_LE(x, 1000U);
}

TEST(Engine, AWorkerThatCannotStartFailsItsTasks) {
  class Unable final : public WorkerBackend {
   public:
    void const* enter(WorkerId) override { throw Error("no instance"); }
    Duration run(Kernel, bool, KernelCall const&) override { return Duration{0}; }
  };
  SmallMachine small(1);
  auto const copies = std::make_shared<LoggingCopies>(small.machine);
  Engine engine(Topology(small.machine), make_policies("eager", "lru"), std::make_unique<AveragingEstimator>(),
                {std::make_shared<Unable>(), {copies, copies}});
  Codelet codelet{.name = "increment"};
  codelet.kernels[0] = increment;
  auto const id = engine.add_codelet(codelet);
  auto const data = engine.add_data({.name = "t", .bytes = 8, .origin = {}, .home = {}});
  engine.submit({id, std::array{Access{data, Write}}, 0, 0}, {});
  try {
    engine.wait();
    FAIL() << "nothing was thrown";
  } catch (Error const& error) {
    EXPECT_STREQ(error.what(), "no instance");
  }
}

TEST(Engine, StatisticsCountTasksByWorkerAndBytesByLink) {
  EngineFixture fixture;
  auto const data = fixture.engine->add_data({.name = "x", .bytes = 8, .origin = fixture.disk, .home = fixture.disk});
  auto const codelet = fixture.codelet("increment", increment);
  for (int i = 0; i < 100; ++i) fixture.submit(codelet, {{data, ReadWrite}});
  fixture.engine->wait();
  auto const statistics = fixture.engine->statistics();
  ASSERT_EQ(statistics.workers.size(), 2U);
  EXPECT_EQ(statistics.workers[0].tasks + statistics.workers[1].tasks, 100U);
  EXPECT_EQ(statistics.planner.links[1].bytes, 8U);
  EXPECT_GE(statistics.deciding.count(), 0);
}

TEST(Engine, AJournalReplaysToTheSameCommands) {
  EngineOptions options;
  options.record_journal = true;
  EngineFixture fixture(2, 48, options);
  auto const codelet = fixture.codelet("add", [](KernelCall const& call) { value(call, 1) += value(call, 0); });
  std::vector<DataId> data;
  for (int i = 0; i < 12; ++i) {
    data.push_back(fixture.engine->add_data({.name = "x", .bytes = 8, .origin = fixture.disk, .home = fixture.disk}));
  }
  for (std::size_t i = 0; i < 400; ++i) fixture.submit(codelet, {{data[i % 12], Read}, {data[i * 7 % 11], ReadWrite}});
  fixture.engine->wait();
  for (auto const x : data) fixture.engine->release_data(x);
  fixture.engine->wait();

  auto const& journal = fixture.engine->journal();
  AveragingEstimator estimator;
  Planner planner(Topology(fixture.machine), make_policies("eager", "lru"), estimator, options.planner);
  std::vector<Command> commands, taken;
  for (auto const& entry : journal.entries()) {
    planner.set_now(entry.when);
    planner.handle(entry.event);
    planner.take_commands(taken);
    commands.insert(commands.end(), taken.begin(), taken.end());
    ASSERT_EQ(commands.size(), entry.commands_end);
  }
  EXPECT_GT(commands.size(), 1000U);
  EXPECT_TRUE(commands == journal.commands());
}

}  // namespace
}  // namespace granary::test
