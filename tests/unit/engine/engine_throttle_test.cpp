// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Submission that sleeps while too many tasks are live.
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/engine/engine.hpp>

#include "support/engine_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

namespace granary::test {

using namespace detail;

namespace {

using enum AccessMode;

EngineOptions at_most(std::uint64_t tasks) {
  EngineOptions options;
  options.booking.max_live_tasks = tasks;
  return options;
}

std::uint64_t most_live_tasks(EngineFixture& fixture) { return fixture.engine->statistics().planner.most_live_tasks; }

// A worker that runs one of these waits there until it is opened.
std::atomic<bool> open = false;
std::atomic<int> entered = 0;
void wait_at_gate(KernelCall const&) {
  ++entered;
  entered.notify_all();
  open.wait(false);
}
void close_gate() {
  open = false;
  entered = 0;
}
void open_gate() {
  open = true;
  open.notify_all();
}

TEST(EngineThrottle, NoMoreTasksLiveThanStated) {
  for (std::uint64_t const limit : {1U, 2U, 7U, 64U}) {
    EngineFixture fixture(2, 1_MiB, at_most(limit));
    std::array<std::uint64_t, 16> counters{};
    std::vector<DataId> data;
    for (auto& counter : counters) data.push_back(fixture.in_place(counter));
    auto const count = fixture.codelet("increment", increment);
    for (std::size_t i = 0; i < 16 * 20; ++i) fixture.submit(count, {{data[i % 16], ReadWrite}});
    fixture.engine->wait();
    EXPECT_THAT(counters, testing::Each(20U));
    EXPECT_LE(most_live_tasks(fixture), limit);
    EXPECT_EQ(fixture.engine->statistics().planner.tasks_run, 16U * 20);
  }
}

TEST(EngineThrottle, WithoutALimitAllMayLive) {
  close_gate();
  EngineFixture fixture(1, 1_MiB, at_most(0));
  std::uint64_t x = 0;
  auto const data = fixture.in_place(x);
  fixture.submit(fixture.codelet("gate", wait_at_gate), {{data, ReadWrite}});
  auto const count = fixture.codelet("increment", increment);
  for (int i = 0; i < 999; ++i) fixture.submit(count, {{data, ReadWrite}});
  EXPECT_EQ(most_live_tasks(fixture), 1000U);
  open_gate();
  fixture.engine->wait();
  EXPECT_EQ(x, 999U);
}

TEST(EngineThrottle, SeveralThreadsMaySleep) {
  constexpr std::uint64_t limit = 32;
  constexpr std::uint64_t threads = 4;
  EngineFixture fixture(2, 1_MiB, at_most(limit));
  std::array<std::uint64_t, threads> counters{};
  increment_from_threads(fixture, counters, 300);
  fixture.engine->wait();
  EXPECT_THAT(counters, testing::Each(300U));
  EXPECT_LE(most_live_tasks(fixture), limit + threads - 1) << "each may add one while the others sleep";
}

// Tasks that need memory do not wait for anything that the submitting thread has yet to do.
TEST(EngineThrottle, DataThatAreNotReleasedYetDoNotKeepTasksFromEnding) {
  EngineFixture fixture(2, 24, at_most(2));  // room for three values
  auto const set = fixture.codelet(
      "set", [](KernelCall const& call) { value(call) = *static_cast<std::uint64_t const*>(call.parameters); });
  auto const add = fixture.codelet("add", [](KernelCall const& call) { value(call, 1) += value(call, 0); });
  std::uint64_t sum = 0;
  auto const total = fixture.in_place(sum);
  std::vector<DataId> data;
  for (std::uint64_t i = 0; i < 50; ++i) {
    data.push_back(fixture.engine->add_data({.name = "t", .bytes = 8, .origin = {}, .home = {}}));
    fixture.submit(set, {{data.back(), Write}}, i);
  }
  for (auto const x : data) fixture.submit(add, {{x, Read}, {total, ReadWrite}});
  for (auto const x : data) fixture.engine->release_data(x);
  fixture.engine->wait();
  EXPECT_EQ(sum, 1225U);
}

TEST(EngineThrottle, CancelWakesASubmissionWhileTasksStillRun) {
  close_gate();
  EngineFixture fixture(2, 1_MiB, at_most(2));
  std::uint64_t x = 0;
  std::uint64_t y = 0;
  std::array const data{fixture.in_place(x), fixture.in_place(y)};
  auto const gate = fixture.codelet("gate", wait_at_gate);
  std::thread submitter([&] {
    for (auto const datum : data) fixture.submit(gate, {{datum, ReadWrite}});
  });
  for (int before = entered; before < 2; before = entered) entered.wait(before);
  fixture.engine->cancel(std::make_exception_ptr(std::runtime_error("stop")));
  submitter.join();  // both tasks still run
  EXPECT_FALSE(open);
  open_gate();
  EXPECT_THROW(fixture.engine->wait(), std::runtime_error);
}

TEST(EngineThrottle, FailuresWakeASubmission) {
  EngineFixture fixture(1, 1_MiB, at_most(8));
  std::uint64_t x = 0;
  auto const data = fixture.in_place(x);
  fixture.submit(fixture.codelet("fail", [](KernelCall const&) { throw std::runtime_error("no"); }),
                 {{data, ReadWrite}});
  auto const count = fixture.codelet("increment", increment);
  for (int i = 0; i < 1000; ++i) fixture.submit(count, {{data, ReadWrite}});
  EXPECT_THROW(fixture.engine->wait(), std::runtime_error);
  EXPECT_EQ(x, 0U);
  EXPECT_LE(most_live_tasks(fixture), 8U);
}

// A host of 1 MiB with two workers, without storage for temporaries.
struct HostAlone {
  std::unique_ptr<Engine> engine;

  explicit HostAlone(BookingOptions const& booking) {
    Machine machine;
    NodeId const host = machine.add_node({"host", NodeKind::Host, 1_MiB, 8});
    for (auto const* const name : {"w0", "w1"}) machine.add_worker({name, host, WorkerKind::Cpu});
    EngineOptions options;
    options.booking = booking;
    engine = std::make_unique<Engine>(Topology(machine), make_policies("eager", "lru"),
                                      std::make_unique<AveragingEstimator>(),
                                      EngineBackends{std::make_shared<PlainWorkers>(), {}}, options);
  }
  CodeletId codelet(std::string name, Kernel kernel) {
    Codelet made{.name = std::move(name), .launches_kokkos_kernels = false};
    made.kernels[0] = kernel;
    return engine->add_codelet(made);
  }
  DataId temporary() { return engine->add_data({.name = "t", .bytes = 8, .origin = {}, .home = {}}); }
  void submit(CodeletId codelet, std::vector<Access> const& accesses) {
    engine->submit({codelet, accesses, 0, 0}, Parameters(0));
  }
  [[nodiscard]] BookingStatistics booking() const { return engine->statistics().planner.booking; }
};

void set_to_one(KernelCall const& call) { value(call) = 1; }
void add_up(KernelCall const& call) { value(call, 1) += value(call, 0); }

TEST(EngineThrottle, SleepsWhileTooMuchIsBooked) {
  for (Bytes const threshold : {1U, 24U, 100U}) {
    HostAlone host({.sleep = threshold});
    auto const set = host.codelet("set", set_to_one);
    auto const add = host.codelet("add", add_up);
    DataId const sum = host.temporary();
    host.submit(set, {{sum, Write}});
    for (int i = 0; i < 500; ++i) {
      DataId const t = host.temporary();
      host.submit(set, {{t, Write}});
      host.submit(add, {{t, Read}, {sum, ReadWrite}});
      host.engine->release_data(t);
    }
    host.engine->wait();
    auto const statistics = host.engine->statistics();
    EXPECT_EQ(statistics.planner.tasks_run, 1001U);
    EXPECT_LE(host.booking().peak, std::max<Bytes>(threshold, 16) + 8)
        << "sum and a datum that is not released yet stay";
    if (threshold == 1) {
      EXPECT_GE(host.booking().sleeps, 501U);
      EXPECT_GT(statistics.submission_slept, Duration{0});
    }
  }
}

TEST(EngineThrottle, RunsOneTaskAtATimeIfTooMuchStaysBooked) {
  HostAlone host({.sleep = 1});
  auto const set = host.codelet("set", set_to_one);
  for (int i = 0; i < 50; ++i) host.submit(set, {{host.temporary(), Write}});
  EXPECT_EQ(host.booking().booked, 400U);
  EXPECT_EQ(host.booking().alone, 50U);
  EXPECT_EQ(host.engine->statistics().planner.most_live_tasks, 1U);
  host.engine->wait();
}

TEST(EngineThrottle, WithoutBookingNothingSleeps) {
  close_gate();
  HostAlone host({.policy = BookingOptions::Policy::None, .sleep = 1, .max_live_tasks = 1});
  host.submit(host.codelet("gate", wait_at_gate), {{host.temporary(), Write}});
  auto const set = host.codelet("set", set_to_one);
  for (int i = 0; i < 100; ++i) host.submit(set, {{host.temporary(), Write}});
  EXPECT_EQ(host.booking().sleeps, 0U);
  open_gate();
  host.engine->wait();
}

TEST(EngineThrottle, SeveralThreadsMayBook) {
  HostAlone host({.sleep = 40});
  auto const set = host.codelet("set", set_to_one);
  auto const increment_it = host.codelet("increment", increment);
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        DataId const t = host.temporary();
        host.submit(set, {{t, Write}});
        host.submit(increment_it, {{t, ReadWrite}});
        host.engine->release_data(t);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  host.engine->wait();
  EXPECT_EQ(host.engine->statistics().planner.tasks_run, 1600U);
  EXPECT_LE(host.booking().peak, 40U + 4 * 16) << "each thread may add one while the others sleep";
}

TEST(EngineThrottle, CancelWakesASubmissionThatBookedTooMuch) {
  close_gate();
  HostAlone host({.sleep = 1});
  auto const gate = host.codelet("gate", wait_at_gate);
  std::thread submitter([&] { host.submit(gate, {{host.temporary(), Write}}); });
  for (int before = entered; before < 1; before = entered) entered.wait(before);
  host.engine->cancel(std::make_exception_ptr(std::runtime_error("stop")));
  submitter.join();
  open_gate();
  EXPECT_THROW(host.engine->wait(), std::runtime_error);
}

// On the only worker, which would wait for itself.
TEST(EngineThrottle, ATaskMaySubmit) {
  EngineFixture fixture(1, 1_MiB, at_most(3));
  static std::uint64_t x = 0;
  static DataId data;
  static CodeletId count;
  static EngineFixture* here = &fixture;
  data = fixture.in_place(x);
  count = fixture.codelet("increment", increment);
  static std::uint64_t other = 0;
  auto const own = fixture.in_place(other);
  auto const submits = fixture.codelet("submits", [](KernelCall const& call) {
    for (int i = 0; i < 20; ++i) here->submit(count, {{data, ReadWrite}});
    value(call) = EngineScope::current() == here->engine.get() ? 1 : 0;
  });
  fixture.submit(submits, {{own, ReadWrite}});
  fixture.engine->wait();
  EXPECT_EQ(x, 20U);
  EXPECT_EQ(other, 1U);
  EXPECT_EQ(EngineScope::current(), nullptr);
}

TEST(EngineThrottle, ParametersOfCancelledTasksMaySubmitWhenTheyAreDestroyed) {
  EngineFixture fixture(1, 1_MiB, at_most(2));
  std::uint64_t x = 0;
  auto const data = fixture.in_place(x);
  auto const count = fixture.codelet("increment", increment);
  auto const lost = fixture.engine->add_data({.name = "lost", .bytes = 8, .origin = fixture.disk, .home = {}});
  std::shared_ptr<int> last_words(new int(0), [&](int* number) {
    for (int i = 0; i < 10; ++i) fixture.submit(count, {{data, ReadWrite}});
    delete number;
  });
  fixture.copies->next_answer = LoggingCopies::Answer::Failed;
  fixture.submit(fixture.codelet("reads", [](KernelCall const&) {}), {{lost, Read}}, std::move(last_words));
  EXPECT_THROW(fixture.engine->wait(), IoError);
  fixture.engine->wait();
  EXPECT_EQ(x, 10U);
}

}  // namespace
}  // namespace granary::test
