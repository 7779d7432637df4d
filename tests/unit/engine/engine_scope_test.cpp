// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which threads work for an engine, and which calls are refused on them.
#include "support/deadline.hpp"
#include "support/engine_fixture.hpp"
#include "support/fake_launches.hpp"

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/model/inner_graph.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace granary::test {

using namespace detail;

namespace {

using testing::StartsWith;
using enum AccessMode;

// Global state for kernels, expansions and checks, which are plain functions.
Engine* asked = nullptr;

void wait_for_it(KernelCall const&) { asked->wait(); }

std::string message_of_wait(Engine& engine) {
  std::string message = "nothing was thrown";
  require_end("wait() inside a task", [&] {
    try {
      engine.wait();
    } catch (InvalidArgument const& error) {
      message = error.what();
    }
  });
  return message;
}

constexpr auto refusal = "wait() cannot be called inside a task";

TEST(EngineScope, Nests) {
  int engines[2] = {};
  auto const* const first = reinterpret_cast<Engine const*>(&engines[0]);
  auto const* const second = reinterpret_cast<Engine const*>(&engines[1]);
  EXPECT_EQ(EngineScope::current(), nullptr);
  {
    EngineScope const outer(first);
    {
      EngineScope const inner(second);
      EXPECT_EQ(EngineScope::current(), second);
      EXPECT_TRUE(EngineScope::within(first));
      std::jthread([&] { EXPECT_FALSE(EngineScope::within(first)) << "it is a thread's own"; });
    }
    EXPECT_EQ(EngineScope::current(), first);
    EXPECT_FALSE(EngineScope::within(second));
  }
  EXPECT_FALSE(EngineScope::within(first));
}

TEST(EngineScope, ATaskIsRefusedToWaitForItsEngine) {
  EngineFixture fixture;
  asked = fixture.engine.get();
  std::uint64_t x = 0;
  EXPECT_FALSE(fixture.engine->works_here());
  fixture.submit(fixture.codelet("waits", wait_for_it), {{fixture.in_place(x), ReadWrite}});
  EXPECT_THAT(message_of_wait(*fixture.engine), StartsWith(refusal));
  EXPECT_NO_THROW(fixture.engine->wait());
}

TEST(EngineScope, ATaskMayWaitForAnotherEngine) {
  EngineFixture fixture, other;
  asked = other.engine.get();
  std::uint64_t x = 0, y = 0;
  other.submit(other.codelet("increment", increment), {{other.in_place(y), ReadWrite}});
  fixture.submit(fixture.codelet("waits", wait_for_it), {{fixture.in_place(x), ReadWrite}});
  EXPECT_NO_THROW(fixture.engine->wait());
  EXPECT_EQ(y, 1U);
}

void wait_while_expanding(void const*, InnerGraph&) { asked->wait(); }
void emit_one_that_waits(void const*, InnerGraph& graph) {
  Codelet codelet{.name = "inner", .launches_kokkos_kernels = false};
  codelet.kernels[0] = wait_for_it;
  graph.submit({graph.add_codelet(codelet), {}, 0, 0});
}

TEST(EngineScope, InnerTasksAndExpansionsAreRefusedToo) {
  for (auto const expand : {wait_while_expanding, emit_one_that_waits}) {
    EngineFixture fixture(2);
    asked = fixture.engine.get();
    Codelet made{.name = "work", .launches_kokkos_kernels = false, .expand = expand};
    made.kernels[0] = increment;
    std::uint64_t x = 0;
    fixture.submit(fixture.engine->add_codelet(made), {{fixture.in_place(x), ReadWrite}});
    EXPECT_THAT(message_of_wait(*fixture.engine), StartsWith(refusal));
  }
}

struct LaunchFixture {
  std::shared_ptr<FakeLaunches> launches = std::make_shared<FakeLaunches>(2);
  std::unique_ptr<Engine> engine;
  std::uint64_t value = 0;
  DataId data;

  LaunchFixture() {
    Machine machine;
    auto const host = machine.add_node({"host", NodeKind::Host, 1_MiB, 8});
    machine.add_worker({"lane", host, WorkerKind::Device});
    PlannerOptions options;
    options.issue_ahead = Duration(0);
    options.device_issue = 2;
    engine = std::make_unique<Engine>(Topology(machine), make_policies("eager", "lru"),
                                      std::make_unique<AveragingEstimator>(), EngineBackends{nullptr, {}, launches, {}},
                                      EngineOptions{.planner = options});
    auto* address = reinterpret_cast<std::byte*>(&value);
    data = engine->add_data(
        {.name = "x", .bytes = 8, .origin = host, .home = host, .origin_is_home = true, .in_place = true},
        {address, address, {}}, nullptr);
  }
  void submit(Check check, int number) {
    Codelet made{.name = "k", .check = check};
    made.kernels[1] = increment;
    engine->submit({engine->add_codelet(made), std::array{Access{data, ReadWrite}}, 0, 0}, Parameters(number));
  }
};

TEST(EngineScope, TheCheckOfADevicesReportIsRefusedToo) {
  LaunchFixture fixture;
  fixture.launches->ends_at_once = true;
  asked = fixture.engine.get();
  fixture.submit([](void const*, KernelReport const&) { asked->wait(); }, 0);
  EXPECT_THAT(message_of_wait(*fixture.engine), StartsWith(refusal));
}

// Records in its destructor whether its thread works for the engine, and calls the engine.
struct Noting {
  Engine* engine;
  DataId data;
  std::atomic<int>* notes;
  Noting(Engine* e, DataId d, std::atomic<int>* n) : engine(e), data(d), notes(n) {}
  Noting(Noting&& other) noexcept
      : engine(std::exchange(other.engine, nullptr)), data(other.data), notes(other.notes) {}
  ~Noting() {
    if (engine == nullptr) return;
    *notes = engine->works_here() ? 1 : -1;
    engine->release_data(data);
  }
};

TEST(EngineScope, ParametersOfCancelledTasksAreDestroyedWhereTheEngineMayBeCalled) {
  EngineFixture fixture;
  std::atomic<int> notes = 0;
  auto const data = fixture.engine->add_data({.name = "x", .bytes = 8, .origin = fixture.disk, .home = {}});
  std::uint64_t y = 0;
  fixture.copies->next_answer = LoggingCopies::Answer::Failed;  // on the thread that submits
  fixture.submit(fixture.codelet("increment", increment), {{data, Read}},
                 Noting(fixture.engine.get(), fixture.in_place(y), &notes));
  EXPECT_THROW(fixture.engine->wait(), IoError);
  EXPECT_EQ(notes, -1);
}

// An exception of a task that nobody holds is destroyed where it may call the engine.
TEST(EngineScope, ExceptionsMayCallTheEngineWhenTheyAreDestroyed) {
  require_end("the end of an exception", [] {
    LaunchFixture fixture;
    std::atomic<int> notes = 0;
    std::uint64_t y = 0;
    auto* address = reinterpret_cast<std::byte*>(&y);
    auto const held = fixture.engine->add_data(
        {.name = "held", .bytes = 8, .origin = NodeId(0), .home = NodeId(0), .origin_is_home = true, .in_place = true},
        {address, address, {}}, nullptr);
    for (int i = 0; i < 2; ++i) fixture.submit(nullptr, i);
    ASSERT_TRUE(fixture.launches->wait_for_launches(2));
    // It depends on the first: its failure is a consequence.
    fixture.launches->end(1, std::make_exception_ptr(std::make_shared<Noting>(fixture.engine.get(), held, &notes)));
    fixture.launches->end(0, std::make_exception_ptr(std::runtime_error("the cause")));
    EXPECT_THROW(fixture.engine->wait(), std::runtime_error);
    fixture.engine.reset();
    EXPECT_NE(notes, 0);
  });
}

TEST(EngineScope, ACodeletThatIsTheSameInEverythingIsAddedOnce) {
  EngineOptions options;
  options.record_journal = true;
  EngineFixture fixture(2, 1_MiB, options);
  Codelet const base{.name = "a", .kernels = {increment, nullptr}, .launches_kokkos_kernels = false};
  auto const first = fixture.engine->add_codelet(base);
  EXPECT_EQ(fixture.engine->add_codelet(base), first);
  std::vector<Codelet> others(5, base);
  others[0].name = "b";
  others[1].variant = "d";
  others[2].kernels[0] = wait_for_it;
  others[3].launches_kokkos_kernels = true;
  others[4].expand = wait_while_expanding;
  std::set<CodeletId> ids{first};
  for (auto const& other : others) EXPECT_TRUE(ids.insert(fixture.engine->add_codelet(other)).second);
  EXPECT_EQ(fixture.engine->journal().entries().size(), 6U);
}

}  // namespace
}  // namespace granary::test
