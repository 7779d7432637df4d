// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// External tasks: what no worker runs.
#include <granary/detail/core/base/error.hpp>

#include "support/engine_fixture.hpp"
#include "support/message_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>

namespace granary::engine_outside_test {

using namespace detail;

namespace {

using test::EngineFixture;
using test::increment;
using test::message_of;
using enum AccessMode;

struct EngineOutside : testing::Test {
  std::uint64_t first = 0, second = 0;
  EngineFixture fixture;
  DataId const x = fixture.in_place(first, "x"), y = fixture.in_place(second, "y");
  CodeletId const adds = fixture.codelet("increment", increment);
  CodeletId const outside = fixture.engine->add_codelet({.name = "arrival", .external = true});

  TaskId arrival(DataId data, OutsideWork::Ended ended, AccessMode mode = Write) {
    return fixture.submit(outside, {{data, mode}}, std::move(ended));
  }
};

TEST_F(EngineOutside, LaterTasksBeginAfterTheirEndAndOthersDoNotWait) {
  std::atomic<bool> arrived = false;
  auto const task = arrival(x, [&] { return arrived.load(); });
  auto const later = fixture.submit(adds, {{x, ReadWrite}});
  for (int i = 0; i < 100; ++i) fixture.submit(adds, {{y, ReadWrite}});
  fixture.engine->wait(std::array{y});
  EXPECT_EQ(second, 100U);
  EXPECT_FALSE(fixture.engine->ended(task));
  EXPECT_FALSE(fixture.engine->ended(later));
  EXPECT_THAT(fixture.engine->describe(), testing::HasSubstr("waiting for what is outside: 1"));
  first = 41;  // what arrives
  arrived = true;
  fixture.engine->wait();
  EXPECT_EQ(first, 42U);
}

TEST_F(EngineOutside, TheyAreAskedWhenEarlierTasksHaveEnded) {
  std::atomic<bool> go = false;
  Codelet held{.name = "held", .launches_kokkos_kernels = false};
  held.kernels[0] = [](KernelCall const& call) {
    static_cast<std::atomic<bool>*>(*static_cast<void* const*>(call.parameters))->wait(false);
    increment(call);
  };
  fixture.submit(fixture.engine->add_codelet(held), {{x, ReadWrite}}, static_cast<void*>(&go));
  std::atomic<std::uint64_t> seen = 0;
  std::atomic<int> asked = 0;
  arrival(x, [&] {
    if (asked++ == 0) seen = first;
    return asked == 3;
  });
  for (int i = 0; i < 50; ++i) fixture.submit(adds, {{y, ReadWrite}});
  fixture.engine->wait(std::array{y});
  EXPECT_EQ(asked, 0);
  go = true;
  go.notify_all();
  fixture.engine->wait();
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(seen, 1U);
}

TEST_F(EngineOutside, TheyEndInAnyOrder) {
  std::array<std::atomic<bool>, 5> arrived{};
  std::array<std::uint64_t, 5> values{};
  std::vector<DataId> data;
  for (std::size_t i = 0; i < 5; ++i) {
    data.push_back(fixture.in_place(values[i]));
    arrival(data[i], [&, i] { return arrived[i].load(); });
    fixture.submit(adds, {{data[i], ReadWrite}});
  }
  for (std::size_t const i : {3U, 0U, 4U, 1U, 2U}) {
    arrived[i] = true;
    fixture.engine->wait(std::array{data[i]});
    EXPECT_EQ(values[i], 1U);
  }
}

TEST_F(EngineOutside, ReadersAreNotWaitedForByReaders) {
  std::atomic<bool> sent = false;
  arrival(
      x, [&] { return sent.load(); }, Read);
  auto const copy = fixture.codelet("copy", [](KernelCall const& call) { test::value(call, 1) = test::value(call); });
  first = 7;
  fixture.submit(copy, {{x, Read}, {y, Write}});
  auto const later = fixture.submit(adds, {{x, ReadWrite}});
  fixture.engine->wait(std::array{y});
  EXPECT_EQ(second, 7U);
  EXPECT_FALSE(fixture.engine->ended(later));
  sent = true;
  fixture.engine->wait();
  EXPECT_EQ(first, 8U);
}

TEST_F(EngineOutside, AnExceptionFailsTheTask) {
  arrival(x, []() -> bool { throw std::runtime_error("the line is cut"); });
  fixture.submit(adds, {{x, ReadWrite}});
  fixture.submit(adds, {{y, ReadWrite}});
  EXPECT_EQ(message_of<std::runtime_error>([&] { fixture.engine->wait(); }), "the line is cut");
  EXPECT_EQ(first, 0U);
  EXPECT_EQ(second, 1U);
}

TEST_F(EngineOutside, WhatIsCancelledIsNotAsked) {
  std::atomic<bool> arrived = false;
  auto const asked = std::make_shared<std::atomic<int>>(0);
  auto const begun = arrival(x, [&] { return arrived.load(); });
  arrival(x, [asked] { return ++*asked > 0; });
  fixture.engine->cancel(std::make_exception_ptr(std::runtime_error("enough")));
  EXPECT_FALSE(fixture.engine->ended(begun));
  arrived = true;
  EXPECT_EQ(message_of<std::runtime_error>([&] { fixture.engine->wait(); }), "enough");
  EXPECT_EQ(*asked, 0);
  EXPECT_EQ(asked.use_count(), 1);
}

TEST_F(EngineOutside, TheyMustNotWaitForTheEngine) {
  arrival(x, [&] {
    fixture.engine->wait();
    return true;
  });
  EXPECT_EQ(message_of([&] { fixture.engine->wait(); }),
            "wait() cannot be called inside a task of the same Runtime: it would wait for itself");
}

TEST_F(EngineOutside, WhatHasBegunIsAwaitedByTheDestructor) {
  auto const asked = std::make_shared<std::atomic<int>>(0);
  arrival(x, [asked] { return ++*asked == 20; });
  while (*asked == 0) std::this_thread::yield();
  fixture.engine.reset();
  EXPECT_EQ(*asked, 20);
}

}  // namespace
}  // namespace granary::engine_outside_test
