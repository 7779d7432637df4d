// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/model/distribution.hpp>

#include "support/message_of.hpp"

#include <gtest/gtest.h>

#include <map>

namespace granary::distribution_test {
namespace {

TEST(Distribution, DealsTilesCyclically) {
  Distribution const grid(2, 3);
  EXPECT_EQ(grid.processes(), 6U);
  EXPECT_EQ(grid.owner({.row = 0, .column = 0}), ProcessId(0));
  EXPECT_EQ(grid.owner({.row = 1, .column = 2}), ProcessId(5));
  EXPECT_EQ(grid.owner({.row = 2, .column = 3}), ProcessId(0));
  EXPECT_EQ(grid.owner({.row = 5, .column = 7}), ProcessId(4));
  EXPECT_EQ(grid.owner({}), ProcessId(0)) << "no tile";
}

TEST(Distribution, ChoosesTheGridNearestToASquare) {
  for (auto const& [processes, rows] : std::map<std::uint32_t, std::uint32_t>{
           {1, 1}, {2, 1}, {6, 2}, {7, 1}, {12, 3}, {64, 8}, {65536, 256}, {65521, 1}}) {
    auto const grid = Distribution::for_processes(processes);
    EXPECT_EQ(grid.rows(), rows) << processes;
    EXPECT_EQ(grid.processes(), processes);
  }
}

TEST(Distribution, RefusesGridsOutOfRange) {
  auto const refusal = [](std::uint32_t rows, std::uint32_t columns) {
    return test::message_of([&] { return Distribution(rows, columns); });
  };
  EXPECT_EQ(refusal(0, 3), "a grid of 0 x 3 processes is out of range: it has 1 to 65536");
  EXPECT_EQ(refusal(3, 0), "a grid of 3 x 0 processes is out of range: it has 1 to 65536");
  EXPECT_EQ(refusal(256, 257), "a grid of 256 x 257 processes is out of range: it has 1 to 65536");
  EXPECT_EQ(refusal(65536, 65536), "a grid of 65536 x 65536 processes is out of range: it has 1 to 65536")
      << "although the product overflows";
  EXPECT_EQ(refusal(256, 256), "");
  EXPECT_EQ(test::message_of([] { return Distribution::for_processes(0); }),
            "a grid of 1 x 0 processes is out of range: it has 1 to 65536");
  EXPECT_EQ(test::message_of([] { return Distribution::for_processes(65537); }),
            "a grid of 1 x 65537 processes is out of range: it has 1 to 65536");
}

}  // namespace
}  // namespace granary::distribution_test
