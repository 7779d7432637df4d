// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/units.hpp>

#include "apps/child.hpp"
#include "support/seeds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

namespace granary {
namespace {

class ResidentMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    if (test::Seeds::sanitized) GTEST_SKIP() << "sanitizers take memory of their own";
  }
};

testing::ChildResult visit_tiles(std::string const& scheduler, std::string const& work, std::uint64_t order,
                                 std::uint64_t passes, Bytes limit) {
  return testing::run_child(GRANARY_TEST_MANY_TILES,
                            {scheduler, std::to_string(order), std::to_string(passes), std::to_string(limit), work});
}

// A million tasks and 125,250 tiles, the triangle of a matrix of 500 x 500 tiles, of which a thousand fit in memory.
TEST_F(ResidentMemory, FollowsTheLimitAndTheTilesAndNotTheTasks) {
  constexpr std::uint64_t order = 500;
  constexpr std::uint64_t passes = 8;
  constexpr Bytes tiles = order * (order + 1) / 2;
  constexpr Bytes tile_bytes = 4_KiB;  // bytes in memory, rounded up
  constexpr Bytes limit = 1000 * tile_bytes;
  auto const start = visit_tiles("darts", "read", 1, 1, limit);
  ASSERT_EQ(start.status, 0) << start.err;
  // Memory is allocated in blocks, so a tile and a task take more.
  for (auto const& [scheduler, bytes_per_tile] :
       {std::pair("darts", Bytes{256}), std::pair("superblock", Bytes{512})}) {
    auto const result = visit_tiles(scheduler, "read", order, passes, limit);
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.out, std::to_string(tiles * passes) + "\n");
    auto const taken = static_cast<Bytes>(result.peak_kibibytes - start.peak_kibibytes) * 1024;
    EXPECT_LE(taken, limit + 64_MiB + 2 * tile_bytes + bytes_per_tile * tiles) << scheduler;
  }
}

// What the documents promise, for an application. By hand, GRANARY_TEST_CASES=12 for 12 orders up to 750.
TEST_F(ResidentMemory, OfUpdatedTilesIsWhatTheDocumentsPromise) {
  char const* const asked = std::getenv("GRANARY_TEST_CASES");
  auto const cases = std::min(12UL, asked == nullptr ? 1UL : std::stoul(asked));
  constexpr Bytes tile_bytes = 4_KiB;
  constexpr Bytes limit = 1000 * tile_bytes;
  auto const start = visit_tiles("darts", "update", 2, 1, limit);
  ASSERT_EQ(start.status, 0) << start.err;
  for (std::uint64_t order = 200; order < 200 + 50 * cases; order += 50) {
    Bytes const tiles = order * (order + 1) / 2;
    std::uint64_t const steps = cases > 1 ? 8 : 2;
    for (auto const& [scheduler, own] :
         {std::pair("auto", 160_MiB), std::pair("darts", 64_MiB), std::pair("eager", 64_MiB),
          std::pair("planned", 128_MiB), std::pair("prio", 64_MiB), std::pair("superblock", 64_MiB)}) {
      auto const result = visit_tiles(scheduler, "update", order, steps, limit);
      ASSERT_EQ(result.status, 0) << result.err;
      auto const taken = static_cast<Bytes>(result.peak_kibibytes - start.peak_kibibytes) * 1024;
      EXPECT_LE(taken, limit + own + 2 * tile_bytes + 1_KiB * tiles)
          << scheduler << " with " << order << " tiles per row";
    }
  }
}

// Trial runs are as large as the planner of the run, and are made by a thread that has its own part of the heap. As
// many tasks as may live wait for the first choice, and each of the others comes after 128 tasks, if these took another
// time than was believed.
TEST_F(ResidentMemory, DoesNotGrowWithTheChoicesOfAuto) {
  constexpr std::uint64_t order = 100;
  constexpr std::uint64_t steps = 26;  // 96,876 tasks
  constexpr Bytes limit = 1000 * 4_KiB;
  // The median of some runs: beside other load, how the threads take turns decides how their parts of the heap grow.
  // The smallest would hide a growth that few choices cause.
  auto const visit = [&](char const* budget) {
    auto const scheduler = std::string("auto:candidates=planned+darts:tasks=") + budget;
    std::array<Bytes, 3> peaks{};
    for (auto& peak : peaks) {
      auto const result = visit_tiles(scheduler, "held", order, steps, limit);
      EXPECT_EQ(result.status, 0) << result.err;
      peak = static_cast<Bytes>(result.peak_kibibytes) * 1024;
    }
    std::ranges::sort(peaks);
    return peaks[1];
  };
  auto const of_one = visit("200000");
  EXPECT_LE(visit("1200000"), of_one + 16_MiB);
}

}  // namespace
}  // namespace granary
