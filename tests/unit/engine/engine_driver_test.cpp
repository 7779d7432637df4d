// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver of workers that launch: order, several launches in flight, failures, sleep, shutdown.
#include "support/engine_fixture.hpp"
#include "support/fake_launches.hpp"

#include <granary/detail/core/base/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

namespace granary::test {

using namespace detail;

namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using enum AccessMode;

Machine lanes_on_the_host(std::uint32_t lanes) {
  Machine machine;
  auto const host = machine.add_node({"host", NodeKind::Host, 1_MiB, 8});
  for (std::uint32_t w = 0; w < lanes; ++w) {
    machine.add_worker({"lane" + std::to_string(w), host, WorkerKind::Device});
  }
  return machine;
}

PlannerOptions holding(std::uint32_t tasks) {
  PlannerOptions options;
  options.issue_ahead = Duration(0);
  options.device_issue = tasks;
  return options;
}

struct DriverFixture {
  std::shared_ptr<FakeLaunches> launches;
  std::unique_ptr<Engine> engine;
  CodeletId add_one;

  explicit DriverFixture(std::uint32_t lanes, std::uint32_t held = 2, std::size_t most_launches = 2)
      : DriverFixture(std::make_shared<FakeLaunches>(most_launches), lanes, held) {}
  DriverFixture(std::shared_ptr<FakeLaunches> made, std::uint32_t lanes, std::uint32_t held = 2)
      : launches(std::move(made)) {
    EngineBackends backends{nullptr, {}, launches, {}};
    engine = std::make_unique<Engine>(Topology(lanes_on_the_host(lanes)), make_policies("eager", "lru"),
                                      std::make_unique<AveragingEstimator>(), std::move(backends),
                                      EngineOptions{.planner = holding(held)});
    add_one = codelet(increment);
  }

  CodeletId codelet(Kernel kernel, Check check = nullptr) {
    Codelet made{.name = "k", .check = check};
    made.kernels[1] = kernel;
    return engine->add_codelet(made);
  }
  DataId in_place(std::uint64_t& value) {
    auto* address = reinterpret_cast<std::byte*>(&value);
    return engine->add_data(
        {.name = "x", .bytes = 8, .origin = NodeId(0), .home = NodeId(0), .origin_is_home = true, .in_place = true},
        {address, address, {}}, nullptr);
  }
  TaskId submit(CodeletId codelet, DataId data, int number) {
    return engine->submit({codelet, std::array{Access{data, ReadWrite}}, 0, 0}, Parameters(number));
  }
};

template <class Thrown>
std::string message_of_wait(Engine& engine) {
  try {
    engine.wait();
  } catch (Thrown const& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(EngineDriver, ALanePerformsItsTasksInOrder) {
  auto const launches = std::make_shared<FakeLaunches>();
  launches->ends_at_once = true;
  DriverFixture fixture(launches, 1);
  std::uint64_t x = 0;
  auto const data = fixture.in_place(x);
  auto const append = fixture.codelet([](KernelCall const& call) {
    value(call) = value(call) * 3 + static_cast<std::uint64_t>(*static_cast<int const*>(call.parameters));
  });
  std::uint64_t expected = 0;
  for (int i = 0; i < 2000; ++i) {
    fixture.submit(append, data, i);
    expected = expected * 3 + static_cast<std::uint64_t>(i);
  }
  fixture.engine->wait();
  EXPECT_EQ(x, expected);
  auto const statistics = fixture.engine->statistics();
  EXPECT_EQ(statistics.workers[0].tasks, 2000U);
  EXPECT_EQ(statistics.workers[0].busy, std::chrono::microseconds(2000)) << "what the backend measured";
}

TEST(EngineDriver, SeveralLanesHaveTasksUnderWayTogether) {
  DriverFixture fixture(3, 1);
  std::array<std::uint64_t, 3> values{};
  for (int i = 0; i < 3; ++i) fixture.submit(fixture.add_one, fixture.in_place(values[static_cast<std::size_t>(i)]), i);
  ASSERT_TRUE(fixture.launches->wait_for_launches(3));
  std::set<std::size_t> lanes;
  for (auto const& [worker, number] : fixture.launches->log()) lanes.insert(worker);
  EXPECT_THAT(lanes, ElementsAre(0U, 1U, 2U));
  for (int const i : {2, 0, 1}) fixture.launches->end(i);
  fixture.engine->wait();
  EXPECT_THAT(values, Each(1U));
}

TEST(EngineDriver, ALaneIsLaunchedTheNextTaskBeforeTheFirstEnds) {
  DriverFixture fixture(1);
  std::array<std::uint64_t, 3> values{};
  for (int i = 0; i < 3; ++i) fixture.submit(fixture.add_one, fixture.in_place(values[static_cast<std::size_t>(i)]), i);
  ASSERT_TRUE(fixture.launches->wait_for_launches(2));
  EXPECT_THAT(fixture.launches->log(), ElementsAre(Pair(0, 0), Pair(0, 1)));
  fixture.launches->end(0);
  ASSERT_TRUE(fixture.launches->wait_for_launches(3));
  fixture.launches->end(1);
  fixture.launches->end(2);
  fixture.engine->wait();
  EXPECT_THAT(values, Each(1U));
}

TEST(EngineDriver, NoMoreIsLaunchedThanTheBackendTakes) {
  auto const launches = std::make_shared<FakeLaunches>(2);
  DriverFixture fixture(launches, 1, 5);
  std::array<std::uint64_t, 20> values{};
  for (int i = 0; i < 20; ++i) {
    fixture.submit(fixture.add_one, fixture.in_place(values[static_cast<std::size_t>(i)]), i);
  }
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(launches->wait_for_launches(static_cast<std::size_t>(i) + 1));
    launches->end(i);
  }
  fixture.engine->wait();
  EXPECT_THAT(values, Each(1U));
  EXPECT_LE(launches->most_seen(), 2U);
}

TEST(EngineDriver, ARefusedLaunchBetweenTwoOthersFailsItsTaskAlone) {
  auto const launches = std::make_shared<FakeLaunches>(4);
  launches->refused = {1};
  DriverFixture fixture(launches, 1, 3);
  std::array<std::uint64_t, 3> values{};
  for (int i = 0; i < 3; ++i) fixture.submit(fixture.add_one, fixture.in_place(values[static_cast<std::size_t>(i)]), i);
  ASSERT_TRUE(launches->wait_for_launches(2));
  EXPECT_THAT(launches->log(), ElementsAre(Pair(0, 0), Pair(0, 2)));
  EXPECT_EQ(fixture.engine->statistics().planner.tasks_failed, 0U) << "it answers after the task before it";
  launches->end(0);
  launches->end(2);
  EXPECT_EQ(message_of_wait<FakeLaunches::Refused>(*fixture.engine), "task 1 is refused");
  EXPECT_THAT(values, ElementsAre(1U, 0U, 1U));
  EXPECT_EQ(fixture.engine->statistics().planner.tasks_run, 2U);
  EXPECT_NO_THROW(fixture.engine->wait());
}

TEST(EngineDriver, AKernelThatFailsOnItsLaneFailsItsTask) {
  DriverFixture fixture(1);
  std::array<std::uint64_t, 2> values{};
  for (int i = 0; i < 2; ++i) fixture.submit(fixture.add_one, fixture.in_place(values[static_cast<std::size_t>(i)]), i);
  ASSERT_TRUE(fixture.launches->wait_for_launches(2));
  fixture.launches->end(0, std::make_exception_ptr(DeviceError("an illegal address")));
  fixture.launches->end(1);
  EXPECT_EQ(message_of_wait<DeviceError>(*fixture.engine), "an illegal address");
  EXPECT_THAT(values, ElementsAre(0U, 1U));
}

TEST(EngineDriver, WhatTheCheckOfAReportThrowsFailsTheTask) {
  DriverFixture fixture(1);
  std::array<std::uint64_t, 2> values{};
  auto const checked = fixture.codelet(increment, [](void const* parameters, KernelReport const& report) {
    if (report.info == 0) return;
    throw DataError("task " + std::to_string(*static_cast<int const*>(parameters)) + " says " +
                    std::to_string(report.info));
  });
  for (int i = 0; i < 2; ++i) fixture.submit(checked, fixture.in_place(values[static_cast<std::size_t>(i)]), i);
  ASSERT_TRUE(fixture.launches->wait_for_launches(2));
  fixture.launches->end(0);
  fixture.launches->end(1, nullptr, {.info = 7, .value = 0});
  EXPECT_EQ(message_of_wait<DataError>(*fixture.engine), "task 1 says 7");
  EXPECT_EQ(fixture.engine->statistics().planner.tasks_run, 1U);
}

TEST(EngineDriver, ATaskIsLaunchedBehindTheOneThatItWaitsFor) {
  DriverFixture fixture(1);
  std::array<std::uint64_t, 2> values{};
  std::array<DataId, 2> const data{fixture.in_place(values[0]), fixture.in_place(values[1])};
  fixture.submit(fixture.add_one, data[0], 0);
  for (int i = 1; i < 4; ++i) fixture.submit(fixture.add_one, data[1], i);
  ASSERT_TRUE(fixture.launches->wait_for_launches(2));
  fixture.launches->end(0);
  ASSERT_TRUE(fixture.launches->wait_for_launches(3)) << "task 2, though task 1 has not ended";
  fixture.launches->end(1);
  ASSERT_TRUE(fixture.launches->wait_for_launches(4));
  fixture.launches->end(2);
  fixture.launches->end(3);
  fixture.engine->wait();
  EXPECT_THAT(values, ElementsAre(1U, 3U));
}

TEST(EngineDriver, WhatFollowsARefusedLaunchIsSkipped) {
  auto const launches = std::make_shared<FakeLaunches>(5);
  launches->refused = {1};
  DriverFixture fixture(launches, 1, 5);
  std::array<std::uint64_t, 3> values{};
  std::array<DataId, 3> const data{fixture.in_place(values[0]), fixture.in_place(values[1]),
                                   fixture.in_place(values[2])};
  fixture.submit(fixture.add_one, data[0], 0);
  for (int i = 1; i < 4; ++i) fixture.submit(fixture.add_one, data[1], i);
  fixture.submit(fixture.add_one, data[2], 4);
  ASSERT_TRUE(launches->wait_for_launches(2));
  launches->end(0);
  launches->end(4);
  EXPECT_EQ(message_of_wait<FakeLaunches::Refused>(*fixture.engine), "task 1 is refused");
  EXPECT_THAT(launches->log(), ElementsAre(Pair(0, 0), Pair(0, 4)));
  EXPECT_THAT(values, ElementsAre(1U, 0U, 1U));
  auto const statistics = fixture.engine->statistics().planner;
  EXPECT_EQ(statistics.tasks_failed, 1U);
  EXPECT_EQ(statistics.tasks_cancelled, 2U);
}

TEST(EngineDriver, ALostDeviceCancelsWhatWasNotLaunched) {
  DriverFixture fixture(2);
  std::array<std::uint64_t, 50> values{};
  for (int i = 0; i < 50; ++i) {
    fixture.submit(fixture.add_one, fixture.in_place(values[static_cast<std::size_t>(i)]), i);
  }
  ASSERT_TRUE(fixture.launches->wait_for_launches(4));
  auto const log = fixture.launches->log();
  fixture.launches->end(log[0].second, std::make_exception_ptr(DeviceLost("device 0 is gone")));
  // The other launches of the lane, and any that were submitted before the error, end as well.
  std::atomic<bool> over = false;
  std::thread ender([&] {
    std::size_t next = 1;
    while (!over.load()) {
      auto const now = fixture.launches->log();
      for (; next < now.size(); ++next) fixture.launches->end(now[next].second);
      std::this_thread::yield();
    }
  });
  EXPECT_EQ(message_of_wait<DeviceLost>(*fixture.engine), "device 0 is gone");
  over.store(true);
  ender.join();
  EXPECT_GT(fixture.engine->statistics().planner.tasks_cancelled, 0U);
  EXPECT_EQ(values[static_cast<std::size_t>(log[0].second)], 0U);
  EXPECT_NO_THROW(fixture.engine->wait());
}

TEST(EngineDriver, ALaneThatCannotBeEnteredFailsItsTasks) {
  auto const launches = std::make_shared<FakeLaunches>();
  launches->refuses_to_enter = true;
  DriverFixture fixture(launches, 2);
  std::uint64_t x = 0;
  fixture.submit(fixture.add_one, fixture.in_place(x), 0);
  EXPECT_EQ(message_of_wait<FakeLaunches::Refused>(*fixture.engine), "no lane");
  EXPECT_EQ(x, 0U);
}

TEST(EngineDriver, SleepsWhenThereIsNothing) {
  auto const launches = std::make_shared<FakeLaunches>();
  launches->ends_at_once = true;
  DriverFixture fixture(launches, 2);
  std::uint64_t x = 0;
  auto const data = fixture.in_place(x);
  for (int i = 0; i < 10; ++i) fixture.submit(fixture.add_one, data, i);
  fixture.engine->wait();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  auto const polls = launches->polls();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(launches->polls(), polls);
  EXPECT_EQ(launches->log().size(), 10U);
  fixture.submit(fixture.add_one, data, 10);
  fixture.engine->wait();
  EXPECT_EQ(x, 11U) << "and wakes up";
}

// Counts the destruction of tasks that were not launched.
struct Counted {
  int number;
  std::shared_ptr<int> alive;
};

TEST(EngineDriver, DestructionWaitsForWhatIsUnderWayAndRunsNothingElse) {
  auto const launches = std::make_shared<FakeLaunches>();
  auto const alive = std::make_shared<int>();
  std::array<std::uint64_t, 20> values{};
  std::thread ender;
  {
    DriverFixture fixture(launches, 1);
    for (int i = 0; i < 20; ++i) {
      auto const data = fixture.in_place(values[static_cast<std::size_t>(i)]);
      fixture.engine->submit({fixture.add_one, std::array{Access{data, ReadWrite}}, 0, 0},
                             Parameters(Counted{i, alive}));
    }
    ASSERT_TRUE(launches->wait_for_launches(2));
    ender = std::thread([&] {
      while (alive.use_count() > 3) std::this_thread::yield();
      launches->end(0);
      launches->end(1);
    });
  }
  ender.join();
  EXPECT_EQ(launches->log().size(), 2U);
  EXPECT_EQ(launches->entered(), 0) << "each lane is left";
  EXPECT_EQ(values[0] + values[1], 2U);
  EXPECT_EQ(values[2], 0U);
}

TEST(EngineDriver, DeviceWorkersNeedABackendAndDevicesAMemory) {
  auto machine = lanes_on_the_host(1);
  auto const make = [](Machine const& of, std::shared_ptr<LaunchBackend> devices) {
    Engine const engine(Topology(of), make_policies("eager", "lru"), std::make_unique<AveragingEstimator>(),
                        EngineBackends{nullptr, {}, std::move(devices), {}});
  };
  try {
    make(machine, nullptr);
    FAIL() << "nothing was thrown";
  } catch (InvalidArgument const& error) {
    EXPECT_THAT(error.what(), HasSubstr("'lane0'"));
  }
  machine.nodes[0].kind = NodeKind::Device;
  try {
    make(machine, std::make_shared<FakeLaunches>());
    FAIL() << "nothing was thrown";
  } catch (InvalidArgument const& error) {
    EXPECT_THAT(error.what(), HasSubstr("'host' has no memory backend"));
  }
}

}  // namespace
}  // namespace granary::test
