// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The simulations of "auto" beside a run of the engine.
#include "support/engine_fixture.hpp"

#include <granary/detail/auto/register_auto.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>

namespace granary::engine_background_test {

using namespace detail;
using namespace test;

namespace {

constexpr std::uint64_t tasks = 400;
constexpr std::chrono::seconds too_long(20);

// What a candidate and the test have told each other.
std::atomic<int> attached;
std::atomic<bool> simulating;
std::atomic<bool> answered;
std::atomic<bool> waited_too_long;
std::atomic<bool> all_submitted;

// As `eager`. When it is attached for the first time, which is to a trial run, it waits until the run has answered.
class AsksTheRun final : public Scheduler {
 public:
  void attach(SystemView const& view, PlanBoard& board) override {
    m_eager->attach(view, board);
    if (attached++ > 0) return;
    simulating = true;
    auto const give_up = std::chrono::steady_clock::now() + too_long;
    while (!answered && !waited_too_long) {
      waited_too_long = std::chrono::steady_clock::now() > give_up;
      std::this_thread::yield();
    }
  }
  void ready(TaskId task) override { m_eager->ready(task); }
  TaskId next(GroupId group) override { return m_eager->next(group); }
  void withdrawn(TaskId task, Withdrawal why, GroupId group) override { m_eager->withdrawn(task, why, group); }

 private:
  std::unique_ptr<Scheduler> m_eager = make_scheduler("eager");
};

// The first task waits for the submission of all, so that the others are left for a choice.
void step(KernelCall const& call) {
  while (!all_submitted) std::this_thread::yield();
  ++value(call);
}

// The main thread takes the planner's lock while a candidate is simulated, and workers end tasks.
TEST(EngineBackground, TheRunGoesOnWhileAutoSimulates) {
  register_auto();
  register_scheduler("auto-test-asks", [](PolicyOptions&) { return std::make_unique<AsksTheRun>(); });
  SmallMachine const small;
  auto const copies = std::make_shared<LoggingCopies>(small.machine);
  Engine engine(Topology(small.machine), make_policies("auto:candidates=auto-test-asks+eager", "auto"),
                std::make_unique<AveragingEstimator>(),
                EngineBackends{std::make_shared<PlainWorkers>(), {copies, copies}});
  Codelet codelet{.name = "step", .launches_kokkos_kernels = false};
  codelet.kernels[0] = step;
  auto const id = engine.add_codelet(codelet);
  std::uint64_t number = 0;
  auto* const address = reinterpret_cast<std::byte*>(&number);
  DataId const data =
      engine.add_data({.bytes = 8, .origin = small.host, .home = small.host, .origin_is_home = true, .in_place = true},
                      {address, address, {}}, nullptr);
  Access const accesses[] = {{data, AccessMode::ReadWrite}};
  for (std::uint64_t t = 0; t < tasks; ++t) engine.submit({.codelet = id, .accesses = accesses}, Parameters(0));
  all_submitted = true;
  auto const give_up = std::chrono::steady_clock::now() + too_long;
  while (!simulating && std::chrono::steady_clock::now() < give_up) std::this_thread::yield();
  ASSERT_TRUE(simulating) << "no choice was made";
  EXPECT_EQ(engine.statistics().planner.tasks_submitted, tasks);
  answered = true;
  engine.wait();
  EXPECT_FALSE(waited_too_long) << "the run stood still until then";
  EXPECT_EQ(number, tasks);
}

}  // namespace
}  // namespace granary::engine_background_test
