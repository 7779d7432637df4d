// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/heteroprio/laheteroprio_distances.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace granary::laheteroprio_distances_test {

using namespace detail;

namespace {

using testing::ElementsAre;
using Priorities = std::vector<std::uint32_t>;

// LAHeteroprio, Table 2; a bucket that is not used has priority 0, which the table leaves blank before the others.
TEST(LaheteroprioDistances, TableTwo) {
  struct Row {
    Priorities i, j;
    double difference;  // as printed: two digits, not rounded
  };
  Row const rows[] = {
      {{0, 1, 2}, {2, 1, 0}, 0.4},
      {{0, 1, 2}, {0, 0, 1}, 0.2},
      {{0, 1, 2}, {0, 1, 2}, 0},
      {{0, 3, 1, 2}, {0, 1, 2, 3}, 4.0 / 15},
      {{0, 3, 1, 2}, {0, 1, 3, 2}, 4.0 / 15},
      {{0, 3, 1, 2}, {0, 3, 2, 1}, 2.0 / 15},
  };
  for (auto const& row : rows) {
    EXPECT_DOUBLE_EQ(priority_distance(row.i, row.j), 1 - row.difference);
    EXPECT_DOUBLE_EQ(priority_distance(row.j, row.i), 1 - row.difference);
  }
}

TEST(LaheteroprioDistances, PrioritiesAreLevels) {
  EXPECT_THAT(bucket_priorities({{3}, {1, 2}}, 5), ElementsAre(0, 1, 1, 0, 0));
  EXPECT_DOUBLE_EQ(priority_distance(Priorities{}, Priorities{}), 1);
}

TEST(LaheteroprioDistances, TransferDistancesAreTimesOverTheLongest) {
  Machine machine;
  NodeId const host = machine.add_node({.name = "host"});
  NodeId const a = machine.add_node({.name = "a", .kind = NodeKind::Device});
  NodeId const b = machine.add_node({.name = "b", .kind = NodeKind::Device});
  machine.add_link({.from = host, .to = a, .bandwidth = 4e9});
  machine.add_link({.from = a, .to = host, .bandwidth = 2e9});
  machine.add_link_pair(host, b, 1e9);
  machine.add_worker({.name = "w", .node = host});
  Topology const topology(machine);
  std::vector<NodeId> const nodes{host, a, b};
  auto const distances = transfer_distances(topology, nodes);
  // The longest route is from a through the host to b: 1/2 + 1.
  double const longest = 1.5;
  std::vector<double> const expected{0, 0.5 / longest, 1 / longest, 0.25 / longest, 0, 1.25 / longest, 1 / longest, 1.0,
                                     0};
  for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(distances[i], expected[i], 1e-6) << i;
}

TEST(LaheteroprioDistances, ASingleNodeHasDistanceZero) {
  Machine machine;
  machine.add_worker({.name = "w", .node = machine.add_node({.name = "host"})});
  EXPECT_THAT(transfer_distances(Topology(machine), std::vector<NodeId>{NodeId(0)}), ElementsAre(0));
}

TEST(LaheteroprioDistances, EquationTwelveMixesBoth) {
  EXPECT_DOUBLE_EQ(node_distance(0.6, 0.2, 0.5), 0.4);
  EXPECT_DOUBLE_EQ(node_distance(0.6, 0.2, 1), 0.6);
  EXPECT_DOUBLE_EQ(node_distance(0.6, 0.2, 0), 0.2);
}

// The numbers of LAHeteroprio, Table 3: when each level (row) of each column is visited.
std::vector<std::vector<std::size_t>> visits(std::vector<GridStop> const& order, std::size_t levels,
                                             std::size_t columns) {
  std::vector<std::vector<std::size_t>> numbers(levels, std::vector<std::size_t>(columns, 99));
  for (std::size_t n = 0; n < order.size(); ++n) numbers[order[n].level][order[n].column] = n;
  return numbers;
}

// Levels in the order of access: the table lists GPU 0's as G(3,*), G(2,*), G(1,*) from the bottom up.
TEST(LaheteroprioDistances, TableThreeC) {
  auto const order = grid_order(3, 1, std::vector<double>{0.5, 0, 1}, 1, 2);
  EXPECT_THAT(visits(order, 3, 3), ElementsAre(ElementsAre(2, 0, 6), ElementsAre(3, 1, 7), ElementsAre(5, 4, 8)));
}

TEST(LaheteroprioDistances, TableThreeD) {
  auto const order = grid_order(3, 2, std::vector<double>{1, 1, 0}, 1, 2);
  EXPECT_THAT(visits(order, 3, 3), ElementsAre(ElementsAre(2, 6, 0), ElementsAre(3, 7, 1), ElementsAre(5, 8, 4)));
}

// Table 3B visits GPU 1 before GPU 0, though by 3A it is twice as far, and the lists of the sub-group bucket after
// bucket, though l = 2 buckets are to be "queried before going to the next memory node". This is what the text says.
TEST(LaheteroprioDistances, TableThreeBAsTheTextHasIt) {
  auto const order = grid_order(4, 0, std::vector<double>{0, 0.5, 1}, 2, 2);
  EXPECT_THAT(visits(order, 4, 3),
              ElementsAre(ElementsAre(0, 2, 4), ElementsAre(1, 3, 5), ElementsAre(6, 8, 10), ElementsAre(7, 9, 11)));
}

TEST(LaheteroprioDistances, EveryListIsVisitedOnce) {
  for (std::size_t near = 0; near < 5; ++near) {
    for (std::size_t run : {1U, 2U, 3U, 100U}) {
      auto const order = grid_order(5, 2, std::vector<double>{0.3, 0.1, 0, 0.1}, near, run);
      EXPECT_EQ(order.size(), 20U);
      for (auto const& row : visits(order, 5, 4)) EXPECT_THAT(row, testing::Each(testing::Lt(20U)));
      EXPECT_EQ(order.front(), (GridStop{0, 2}));
    }
  }
}

TEST(LaheteroprioDistances, TheFarNodesComeBucketAfterBucket) {
  auto const order = grid_order(2, 0, std::vector<double>{0, 0.5, 1}, 0, 2);
  EXPECT_THAT(order, ElementsAre(GridStop{0, 0}, GridStop{1, 0}, GridStop{0, 1}, GridStop{0, 2}, GridStop{1, 1},
                                 GridStop{1, 2}));
}

}  // namespace
}  // namespace granary::laheteroprio_distances_test
