// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/simulator/slow_workers.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace granary {
namespace {

using namespace std::chrono_literals;

detail::Machine two_cores() {
  detail::Machine machine;
  auto const host = machine.add_node({.name = "host"});
  machine.add_worker({.name = "core 0", .node = host});
  machine.add_worker({.name = "core 1", .node = host});
  return machine;
}
detail::Instant at(Duration since_start) { return detail::Instant(since_start); }

TEST(SlowWorkers, ChangeTheirSpeedDuringAKernelAsOftenAsTheyShall) {
  detail::WorkerId const core(1);
  detail::SlowWorkers const slow(
      two_cores(), {{detail::SlowWorkers::From{core, 4, at(20s)}, detail::SlowWorkers::From{core, 2, at(10s)},
                     detail::SlowWorkers::From{core, 1, at(30s)}}});
  EXPECT_EQ(slow.slowed(core, at(0s), 10s), 10s);
  EXPECT_EQ(slow.slowed(core, at(0s), 11s), 12s);
  // 5 s done at 10 s, 10 at 20 s, 12.5 at 30 s.
  EXPECT_EQ(slow.slowed(core, at(5s), 15s), 27500ms);
  EXPECT_EQ(slow.slowed(core, at(12s), 3s), 6s);
  EXPECT_EQ(slow.slowed(core, at(22s), 1s), 4s);
  EXPECT_EQ(slow.slowed(core, at(31s), 7s), 7s);
  EXPECT_EQ(slow.slowed(detail::WorkerId(0), at(15s), 7s), 7s);
  EXPECT_EQ(detail::SlowWorkers().slowed(core, at(15s), 7s), 7s);
}

TEST(SlowWorkers, AreNeverFasterThanTheTimesBeforeAndAfterTheChange) {
  detail::WorkerId const core(0);
  detail::SlowWorkers const slow(two_cores(), {{detail::SlowWorkers::From{core, 3, at(10s)}}});
  for (auto start = 0ms; start < 12s; start += 7ms) {
    auto const time = slow.slowed(core, at(start), 3s);
    EXPECT_GE(time, 3s);
    EXPECT_LE(time, 9s);
    EXPECT_GE(start + time, slow.slowed(core, at(start - 7ms), 3s) + start - 7ms);
  }
}

TEST(SlowWorkers, AreRefusedWithImpossibleFactorsAndNumbers) {
  for (double const factor : {0.0, -1.0, 1e4, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(detail::SlowWorkers(two_cores(), {{detail::SlowWorkers::From{detail::WorkerId(0), factor, at(0s)}}}),
                 InvalidArgument);
  }
  EXPECT_THROW(detail::SlowWorkers(two_cores(), {{detail::SlowWorkers::From{detail::WorkerId(2), 2, at(0s)}}}),
               InvalidArgument);
}

}  // namespace
}  // namespace granary
