// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/engine_fixture.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <thread>

namespace granary::test {

using namespace detail;

namespace {

using enum AccessMode;

EngineOptions recording(std::uint64_t most_events = 1000) {
  EngineOptions options;
  options.trace = {.record = true, .most_events = most_events};
  return options;
}

TEST(EngineTrace, BlockedTimeIsNotOfTheTask) {
  static constexpr Duration blocked = std::chrono::milliseconds(2);
  class BlockedWorkers final : public WorkerBackend {
   public:
    void const* enter(WorkerId) override { return this; }
    Duration run(Kernel kernel, bool, KernelCall const& call) override {
      std::this_thread::sleep_for(blocked);
      kernel(call);
      return blocked;
    }
  };
  SmallMachine small(1);
  auto const copies = std::make_shared<LoggingCopies>(small.machine);
  Engine engine(Topology(small.machine), make_policies("eager", "lru"), std::make_unique<AveragingEstimator>(),
                {std::make_shared<BlockedWorkers>(), {copies, copies}}, recording());
  Codelet codelet{.name = "set"};
  codelet.kernels[0] = [](KernelCall const& call) { value(call) = 1; };
  auto const id = engine.add_codelet(codelet);
  auto const data = engine.add_data({.name = "t", .bytes = 8, .origin = {}, .home = {}});
  for (int i = 0; i < 3; ++i) engine.submit({id, std::array{Access{data, Write}}, 0, 0}, {});
  engine.wait();
  auto const trace = engine.trace();
  ASSERT_EQ(trace.tasks.size(), 3U);
  Duration in_tasks{0};
  Instant free{};
  for (auto const& task : trace.tasks) {
    EXPECT_EQ(task.blocked, blocked);
    EXPECT_GE(task.begin - task.blocked, free) << "blocked before the worker was free";
    free = task.end;
    in_tasks += task.end - task.begin;
  }
  auto const worker = engine.statistics().workers.at(0);
  EXPECT_EQ(worker.blocked, 3 * blocked);
  EXPECT_EQ(worker.busy, in_tasks);
}

TEST(EngineTrace, CountsWhatThePlannerCounts) {
  EngineFixture fixture(2, 24, recording());  // room for three values
  auto const set = fixture.codelet("set", [](KernelCall const& call) { value(call) = 1; });
  auto const add = fixture.codelet("add", [](KernelCall const& call) { value(call, 1) += value(call, 0); });
  std::uint64_t sum = 0;
  auto const total = fixture.in_place(sum, "total");
  std::vector<DataId> data;
  for (std::int32_t i = 0; i < 20; ++i) {
    data.push_back(
        fixture.engine->add_data({.name = "t", .bytes = 8, .origin = {}, .home = {}, .position = {i, 2 * i}}));
    std::array const accesses{Access{data.back(), Write}};
    fixture.engine->submit({set, accesses, 0, 7, {i, 2 * i, -1}}, {});
  }
  for (auto const x : data) fixture.submit(add, {{x, Read}, {total, ReadWrite}});
  fixture.engine->wait();
  ASSERT_EQ(sum, 20U);

  auto const trace = fixture.engine->trace();
  auto const statistics = fixture.engine->statistics().planner;
  ASSERT_EQ(trace.tasks.size(), 40U);
  std::map<WorkerId, Instant> free_from;
  for (auto const& task : trace.tasks) {
    EXPECT_LE(task.issued, task.end);
    EXPECT_LE(task.begin, task.end);
    EXPECT_LE(free_from[task.worker], task.begin);
    EXPECT_LE(task.end, trace.end);
    free_from[task.worker] = task.end;
    auto const& written = trace.data.at(task.data);
    EXPECT_EQ(trace.codelets.at(task.codelet.index()), written.name == "total" ? "add" : "set");
    EXPECT_EQ(written.position.row, task.index[0]);
    EXPECT_EQ(written.position.column, task.index[1]);
    EXPECT_EQ(task.flops, written.name == "total" ? 0 : 7);
  }
  std::vector<Bytes> bytes(statistics.links.size());
  for (auto const& transfer : trace.transfers) {
    EXPECT_LE(transfer.begin, transfer.end);
    EXPECT_EQ(transfer.why, transfer.link.index() == 0 ? TraceTransfer::Why::WriteBack : TraceTransfer::Why::Fetch);
    bytes[transfer.link.index()] += transfer.bytes;
  }
  for (std::size_t l = 0; l < bytes.size(); ++l) EXPECT_EQ(bytes[l], statistics.links[l].bytes);
  EXPECT_EQ(trace.evictions.size(), statistics.nodes[0].evictions);
  EXPECT_GT(trace.evictions.size(), 0U);
  std::vector<Bytes> used(statistics.nodes.size());
  for (auto const& level : trace.memory) used[level.node.index()] = level.used;
  for (std::size_t n = 0; n < used.size(); ++n) EXPECT_EQ(used[n], statistics.nodes[n].used);
}

TEST(EngineTrace, IsEmptyWhereNothingIsRecorded) {
  EngineFixture fixture;
  std::uint64_t x = 0;
  fixture.submit(fixture.codelet("increment", increment), {{fixture.in_place(x), ReadWrite}});
  fixture.engine->wait();
  EXPECT_EQ(x, 1U);
  auto const trace = fixture.engine->trace();
  EXPECT_TRUE(trace.tasks.empty());
  EXPECT_TRUE(trace.machine.nodes.empty());
}

TEST(EngineTrace, KeepsNoMoreThanItMayAndCountsTheRest) {
  EngineFixture fixture(2, 1_MiB, recording(5));
  std::uint64_t x = 0;
  auto const data = fixture.in_place(x);
  auto const codelet = fixture.codelet("increment", increment);
  for (int i = 0; i < 10; ++i) fixture.submit(codelet, {{data, ReadWrite}});
  fixture.engine->wait();
  auto const trace = fixture.engine->trace();
  EXPECT_EQ(trace.data.size(), 1U);
  EXPECT_EQ(trace.tasks.size(), 4U);
  EXPECT_EQ(trace.dropped, 6U);
}

TEST(EngineTrace, HasTheTasksBeforeAFailureAndTheOneThatFailed) {
  EngineFixture fixture(1, 1_MiB, recording());
  std::uint64_t x = 0;
  auto const data = fixture.in_place(x);
  auto const increments = fixture.codelet("increment", increment);
  fixture.submit(increments, {{data, ReadWrite}});
  fixture.submit(fixture.codelet("fail", [](KernelCall const&) { throw Error("on purpose"); }), {{data, ReadWrite}});
  fixture.submit(increments, {{data, ReadWrite}});
  EXPECT_THROW(fixture.engine->wait(), Error);
  auto const trace = fixture.engine->trace();
  ASSERT_EQ(trace.tasks.size(), 2U) << "the third was cancelled";
  EXPECT_FALSE(trace.tasks[0].failed);
  EXPECT_TRUE(trace.tasks[1].failed);
}

}  // namespace
}  // namespace granary::test
