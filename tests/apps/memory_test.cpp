// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/base/units.hpp>

#include "apps/child.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

namespace granary {
namespace {

testing::ChildResult read_tiles(std::string const& scheduler, std::uint64_t order, std::uint64_t passes, Bytes limit) {
  return testing::run_child(GRANARY_TEST_MANY_TILES,
                            {scheduler, std::to_string(order), std::to_string(passes), std::to_string(limit)});
}

// A million tasks and 125,250 tiles, the triangle of a matrix of 500 x 500 tiles, of which a thousand fit in memory.
TEST(ResidentMemory, FollowsTheLimitAndTheTilesAndNotTheTasks) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers take memory of their own";
#endif
  constexpr std::uint64_t order = 500;
  constexpr std::uint64_t passes = 8;
  constexpr Bytes tiles = order * (order + 1) / 2;
  constexpr Bytes tile_bytes = 4_KiB;  // bytes in memory, rounded up
  constexpr Bytes limit = 1000 * tile_bytes;
  auto const start = read_tiles("darts", 1, 1, limit);
  ASSERT_EQ(start.status, 0) << start.err;
  // Memory is allocated in blocks, so a tile and a task take more.
  for (auto const& [scheduler, bytes_per_tile] :
       {std::pair("darts", Bytes{256}), std::pair("superblock", Bytes{512})}) {
    auto const result = read_tiles(scheduler, order, passes, limit);
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.out, std::to_string(tiles * passes) + "\n");
    auto const taken = static_cast<Bytes>(result.peak_kibibytes - start.peak_kibibytes) * 1024;
    EXPECT_LE(taken, limit + 64_MiB + 2 * tile_bytes + bytes_per_tile * tiles) << scheduler;
  }
}

}  // namespace
}  // namespace granary
