// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/policies/planned/find_order.hpp>
#include <granary/detail/policies/planned/growth.hpp>
#include <granary/detail/policies/planned/least_missing.hpp>

#include "order_graphs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace granary {

using namespace detail;

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Rounds over a ring of tiles: each is updated from itself and its neighbours, all of them from the round before.
GraphOfTiles ring(std::uint32_t tiles, std::uint32_t rounds) {
  GraphOfTiles graph(2 * tiles);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    auto const from = round % 2 * tiles;
    for (std::uint32_t i = 0; i < tiles; ++i) {
      graph.task({from + (i + tiles - 1) % tiles, from + i, from + (i + 1) % tiles}, tiles - from + i);
    }
  }
  return graph;
}

// Tasks that read and write some of a few data of different sizes; some data are temporary, some tasks run elsewhere.
OrderGraph random_graph(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  OrderGraph graph;
  for (int i = 0; i < 30; ++i) {
    graph.add_data({.bytes = 1 + random() % 9, .resident = random() % 5 == 0, .temporary = random() % 3 == 0});
  }
  for (int t = 0; t < 200; ++t) {
    std::map<std::uint32_t, OrderGraph::Use> uses;
    for (std::uint64_t u = 0; u < 1 + random() % 4; ++u) {
      auto const data = static_cast<std::uint32_t>(random() % graph.data());
      bool const writes = random() % 3 == 0;
      uses[data] = {.data = data, .reads = !writes || random() % 2 == 0, .writes = writes};
    }
    for (auto const& [data, use] : uses) graph.add_use(use);
    graph.end_task(random() % 6 == 0);
  }
  return graph;
}

// The same rule, looking at everything at each step.
Traffic replay_by_search(OrderGraph const& graph, std::vector<std::uint32_t> const& order, Bytes memory) {
  Traffic traffic;
  std::map<std::uint32_t, bool> there;  // and whether it was changed
  std::set<std::uint32_t> owed;         // left without a write, though tasks elsewhere may read it
  auto const next_use = [&](std::uint32_t data, std::size_t from) {
    for (std::size_t i = from; i < order.size(); ++i) {
      for (auto const& use : graph.uses(order[i])) {
        if (use.data == data && !graph.elsewhere(order[i])) return i;
        if (use.data == data && use.writes) return order.size();
      }
    }
    return order.size();
  };
  for (std::uint32_t data = 0; data < graph.data(); ++data) {
    if (graph[data].resident) there[data] = false;
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    auto const uses = graph.uses(order[i]);
    for (auto const& use : graph.elsewhere(order[i]) ? uses : uses.first(0)) {
      bool const changed =
          owed.erase(use.data) > 0 || (there.contains(use.data) && std::exchange(there[use.data], false));
      if (changed && use.reads) traffic.written += graph.bytes(use.data);
      if (use.writes) there.erase(use.data);
    }
    if (graph.elsewhere(order[i])) continue;
    auto const uses_it = [&](std::uint32_t data) {
      return std::ranges::any_of(uses, [&](auto const& use) { return use.data == data; });
    };
    while (true) {
      Bytes needed = 0;
      for (auto const& [data, changed] : there) needed += graph.bytes(data);
      for (auto const& use : uses) needed += there.contains(use.data) ? 0 : graph.bytes(use.data);
      if (needed <= memory) break;
      std::pair<std::size_t, std::uint32_t> furthest{0, graph.data()};
      for (auto const& [data, changed] : there) {
        if (uses_it(data)) continue;
        auto const next = next_use(data, i);
        if (furthest.second == graph.data() || next >= furthest.first) furthest = {next, data};
      }
      if (furthest.second == graph.data()) break;
      if (there[furthest.second]) {
        bool const lost = graph[furthest.second].temporary && furthest.first == order.size();
        if (lost) owed.insert(furthest.second);
        traffic.written += lost ? 0 : graph.bytes(furthest.second);
      }
      there.erase(furthest.second);
    }
    for (auto const& use : uses) {
      if (!there.contains(use.data) && use.reads) traffic.loaded += graph.bytes(use.data);
      there[use.data] = there[use.data] || use.writes || owed.erase(use.data) > 0;
    }
  }
  for (auto const& [data, changed] : there) {
    if (changed && !graph[data].temporary) traffic.written += graph.bytes(data);
  }
  return traffic;
}

TEST(Segments, are_runs_of_updates_that_nobody_reads_between) {
  GraphOfTiles graph(3);
  graph.task({0}, 1);  // segment 0
  graph.task({0}, 1);
  graph.task({1}, 2);  // segment 1 reads what segment 0 made
  graph.task({0}, 1);  // so this is segment 2
  Segments const segments(graph);
  ASSERT_EQ(segments.count(), 3U);
  EXPECT_THAT(segments.tasks(0), ElementsAre(0, 1));
  EXPECT_THAT(segments.tasks(1), ElementsAre(2));
  EXPECT_THAT(segments.tasks(2), ElementsAre(3));
  EXPECT_THAT(segments.inputs(0), ElementsAre(0));
  EXPECT_EQ(segments.reads(0), 2U);
  EXPECT_THAT(segments.followers(0), ElementsAre(1, 2));
  EXPECT_THAT(segments.followers(1), ElementsAre(2)) << "which overwrites what it read";
  EXPECT_THAT(segments.inputs(1), ElementsAre(segments.outputs(0)[0]));
  EXPECT_THAT(segments.readers(segments.outputs(0)[0]), ElementsAre(1));
  EXPECT_THAT(segments.followers(2), IsEmpty());
}

TEST(Replay, moves_what_the_rule_of_Belady_moves) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    auto const graph = random_graph(seed);
    std::vector<std::uint32_t> order(graph.tasks());
    for (std::uint32_t i = 0; i < graph.tasks(); ++i) order[i] = i;
    auto const found = replay(graph, order, 60);
    auto const expected = replay_by_search(graph, order, 60);
    EXPECT_EQ(found.loaded, expected.loaded) << "seed " << seed;
    EXPECT_EQ(found.written, expected.written) << "seed " << seed;
  }
}

TEST(OrderByMissing, keeps_dependencies_by_every_rule) {
  using Tie = LeastMissingRule::Tie;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    auto const graph = random_graph(seed);
    TaskLinks const links(graph);
    for (auto const tie : {Tie::Submission, Tie::Shallowest, Tie::Deepest, Tie::Newest}) {
      for (std::uint32_t const band : {0, 1, 5}) {
        for (double const part : {0, 1}) {
          auto const order =
              order_by_missing(graph, links, 60, {.band = band, .tie = tie, .outputs = part, .dying = part});
          EXPECT_TRUE(keeps_dependencies(graph, order.tasks)) << "seed " << seed;
        }
      }
    }
  }
}

TEST(OrderByMissing, runs_bands_one_after_the_other) {
  auto const graph = ring(12, 9);
  TaskLinks const links(graph);
  auto const order = order_by_missing(graph, links, 10, {.band = 3});
  auto const band_of = [&](std::uint32_t task) { return links.level(task) / 3; };
  EXPECT_TRUE(std::ranges::is_sorted(order.tasks, {}, band_of));
}

TEST(FindOrder, does_several_rounds_over_a_part_of_a_grid_that_does_not_fit) {
  auto const graph = ring(64, 32);
  std::vector<std::uint32_t> submitted(graph.tasks());
  std::iota(submitted.begin(), submitted.end(), 0U);
  auto const plain = replay(graph, submitted, 40);
  auto const found = find_order(graph, {.memory = 40});
  EXPECT_TRUE(keeps_dependencies(graph, found.tasks));
  EXPECT_LT(4 * found.traffic.all(), plain.all());
}

TEST(FindOrder, lets_what_is_needed_elsewhere_leave_once) {
  OrderGraph graph;
  for (int i = 0; i < 3; ++i) graph.add_data({.bytes = 1, .temporary = i == 1});
  graph.add_use({.data = 0, .reads = true});
  graph.add_use({.data = 1, .writes = true});
  graph.end_task();
  graph.add_use({.data = 1, .reads = true});
  graph.add_use({.data = 2, .writes = true});
  graph.end_task(/*elsewhere=*/true);
  graph.add_use({.data = 1, .reads = true});
  graph.add_use({.data = 2, .reads = true});
  graph.end_task();
  auto const found = find_order(graph, {.memory = 3});
  EXPECT_EQ(found.traffic.loaded, 2U);
  EXPECT_EQ(found.traffic.written, 1U);
}

TEST(FindOrder, keeps_dependencies_and_never_moves_more_than_the_order_of_submission) {
  int better = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    auto const graph = random_graph(seed);
    std::vector<std::uint32_t> submitted(graph.tasks());
    for (std::uint32_t i = 0; i < graph.tasks(); ++i) submitted[i] = i;
    auto const plain = replay(graph, submitted, 60);
    for (std::size_t const memories : {1, 4}) {
      auto const found = find_order(graph, {.memory = 60, .memories = memories});
      EXPECT_TRUE(keeps_dependencies(graph, found.tasks)) << "seed " << seed;
      EXPECT_TRUE(std::ranges::is_sorted(found.blocks));
      if (memories == 1) {
        EXPECT_LE(found.traffic.all(), plain.all()) << "seed " << seed;
      }
      EXPECT_EQ(found.traffic.all(), replay(graph, found.tasks, 60).all());
      better += found.traffic.all() < plain.all() ? 1 : 0;
    }
  }
  EXPECT_GT(better, 20);
}

// The most data that one block of the order writes.
std::size_t most_written(OrderGraph const& graph, FoundOrder const& order) {
  std::map<std::uint32_t, std::set<std::uint32_t>> written;
  for (std::size_t i = 0; i < order.tasks.size(); ++i) {
    for (auto const& use : graph.uses(order.tasks[i])) {
      if (use.writes) written[order.blocks[i]].insert(use.data);
    }
  }
  std::size_t most = 0;
  for (auto const& [block, data] : written) most = std::max(most, data.size());
  return most;
}

TEST(FindOrder, gives_each_of_several_memories_small_blocks) {
  auto const multiplied = product(24);
  auto const alone = find_order(multiplied, {.memory = 432});
  auto const shared = find_order(multiplied, {.memory = 432, .memories = 4});
  EXPECT_TRUE(keeps_dependencies(multiplied, shared.tasks));
  EXPECT_GT(most_written(multiplied, alone), 200U);
  EXPECT_EQ(most_written(multiplied, shared), 24 * 24 / 64U);
  EXPECT_LE(most_written(multiplied, find_order(multiplied, {.memory = 12, .memories = 4})), 6U);
  auto const grid = ring(320, 4);
  auto const grown = find_order(grid, {.memory = 200, .memories = 4});
  EXPECT_TRUE(keeps_dependencies(grid, grown.tasks));
  EXPECT_GT(most_written(grid, find_order(grid, {.memory = 200})), 100U);
  EXPECT_LE(most_written(grid, grown), 2 * 320 / 128U) << "32 blocks for each memory";
}

TEST(FindOrder, tells_whether_most_tasks_have_rows_and_columns) {
  for (std::size_t const memories : {1, 2, 4}) {
    OrderProblem const problem{.memory = 60, .memories = memories};
    for (auto const& graph : {lu(16), cholesky(16), product(12)}) EXPECT_TRUE(find_order(graph, problem).has_plane);
    EXPECT_FALSE(find_order(ring(64, 8), problem).has_plane);
    for (std::uint64_t seed = 1; seed <= 10; ++seed)
      EXPECT_FALSE(find_order(random_graph(seed), problem).has_plane) << "seed " << seed;
  }
}

TEST(FindOrder, of_no_tasks_is_empty) {
  for (std::size_t const memories : {1, 4}) {
    auto const found = find_order(OrderGraph(), {.memory = 60, .memories = memories});
    EXPECT_THAT(found.tasks, IsEmpty());
    EXPECT_FALSE(found.has_plane);
  }
}

TEST(FindOrder, moves_little_more_than_must_be_moved_for_matrices) {
  std::uint32_t const n = 24;
  double const cube = n * n * n;
  for (std::uint64_t const part : {2, 4, 8, 16}) {
    auto const factored = lu(n);
    Bytes const memory = n * n / part;
    auto const found = find_order(factored, {.memory = memory - 4});
    EXPECT_TRUE(keeps_dependencies(factored, found.tasks));
    double const least = std::max(2 * cube / (3 * std::sqrt(memory)), double{n * n});
    EXPECT_LT(static_cast<double>(found.traffic.loaded), 1.55 * least) << "1/" << part;
    EXPECT_LT(static_cast<double>(found.traffic.written), 1.15 * n * n) << "1/" << part;
  }
  for (std::uint64_t const part : {8, 16}) {
    auto const multiplied = product(n);
    Bytes const memory = 3 * n * n / part;
    auto const found = find_order(multiplied, {.memory = memory - 4});
    double const streamed = static_cast<double>(found.traffic.loaded) - n * n;
    EXPECT_LT(streamed, 1.25 * 2 * cube / std::sqrt(memory)) << "1/" << part;
  }
}

}  // namespace
}  // namespace granary
