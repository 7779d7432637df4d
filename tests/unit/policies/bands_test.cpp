// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/planned/bands.hpp>
#include <granary/detail/policies/planned/coordinates.hpp>
#include <granary/detail/policies/planned/find_order.hpp>
#include <granary/detail/policies/planned/replay.hpp>

#include "order_graphs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <set>
#include <vector>

namespace granary {

using namespace detail;

namespace {

using testing::ElementsAre;
using testing::Pair;

// The segments of a row have one coordinate in common that no other row has, and the same of columns. Which kind of
// lines is called rows depends on the order of the tasks.
template <class Tile>
void expect_a_matrix(OrderGraph const& graph, Coordinates const& coordinates, Segments const& segments, Tile&& tile) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> rows;
  std::set<std::pair<std::uint32_t, std::uint32_t>> columns;
  for (std::uint32_t segment = 0; segment < segments.count(); ++segment) {
    auto const& place = coordinates.of(segment);
    if (place[0] == Coordinates::none) continue;
    auto const [row, column] = tile(segments.datum(segments.outputs(segment)[0]));
    rows.emplace(row, place[0]);
    columns.emplace(column, place[1]);
  }
  EXPECT_EQ(rows.size(), coordinates.extents()[0]);
  EXPECT_EQ(columns.size(), coordinates.extents()[1]);
  EXPECT_GT(coordinates.tasks(), graph.tasks() * 90 / 100);
}

TEST(Coordinates, are_the_rows_and_columns_of_a_product) {
  std::uint32_t const n = 8;
  auto const graph = product(n);
  Segments const segments(graph);
  Coordinates const coordinates(graph, segments);
  EXPECT_THAT(coordinates.extents(), ElementsAre(n, n));
  expect_a_matrix(graph, coordinates, segments,
                  [&](std::uint32_t data) { return std::pair((data - 2 * n * n) / n, data % n); });
}

TEST(Coordinates, are_the_rows_and_columns_of_a_factorization_but_the_first_ones) {
  std::uint32_t const n = 16;
  auto const graph = lu(n);
  Segments const segments(graph);
  Coordinates const coordinates(graph, segments);
  EXPECT_THAT(coordinates.extents(), ElementsAre(n - 2, n - 2));
  expect_a_matrix(graph, coordinates, segments, [&](std::uint32_t data) { return std::pair(data % n, data / n); });
}

TEST(Coordinates, of_a_symmetric_factorization_are_of_one_kind) {
  std::uint32_t const n = 16;
  auto const graph = cholesky(n);
  Segments const segments(graph);
  Coordinates const coordinates(graph, segments);
  EXPECT_EQ(coordinates.extents()[0], coordinates.extents()[1]);
  EXPECT_GE(coordinates.extents()[0], n - 2);
  for (std::uint32_t segment = 0; segment < segments.count(); ++segment)
    EXPECT_LE(coordinates.of(segment)[0], coordinates.of(segment)[1]);
}

TEST(Coordinates, are_unknown_where_values_are_read_once) {
  GraphOfTiles graph(20);
  for (std::uint32_t i = 0; i < 10; ++i) graph.task({i}, 10 + i);
  Segments const segments(graph);
  Coordinates const coordinates(graph, segments);
  EXPECT_EQ(coordinates.tasks(), 0U);
  EXPECT_THAT(band_rules(graph, segments, coordinates, 10), testing::IsEmpty());
}

TEST(Bands, keep_dependencies_by_every_rule) {
  for (auto const& graph : {lu(12), cholesky(12), product(6)}) {
    Segments const segments(graph);
    Coordinates const coordinates(graph, segments);
    auto const rules = band_rules(graph, segments, coordinates, 30);
    ASSERT_FALSE(rules.empty());
    std::set<BandRule> all(rules.begin(), rules.end());
    EXPECT_EQ(all.size(), rules.size()) << "each rule once";
    for (auto const& rule : rules) {
      for (auto const& next : neighbours(rule, coordinates)) all.insert(next);
    }
    for (auto const& rule : all) {
      EXPECT_TRUE(std::ranges::is_sorted(rule.bands, std::ranges::less_equal{}, &BandRule::Band::end));
      EXPECT_EQ(rule.bands.back().end, coordinates.extents()[rule.axis]);
      auto const blocks = cut_bands(segments, coordinates, rule);
      EXPECT_TRUE(keeps_dependencies(graph, order_of(graph, segments, blocks)))
          << rule.axis << ' ' << rule.bands.size() << ' ' << rule.bands[0].end << ' ' << rule.bands[0].length;
    }
  }
}

// The first rows of an LU factorization, column by column, need the factor's triangle again and again.
TEST(Bands, that_lead_load_nothing_twice_where_the_triangle_fits) {
  std::uint32_t const n = 16;
  GraphOfTiles graph(n * n);  // the first half of the rows of lu(n)
  std::uint32_t const rows = n / 2;
  for (std::uint32_t k = 0; k < rows; ++k) {
    graph.task({}, k * n + k);
    for (std::uint32_t j = k + 1; j < n; ++j) graph.task({k * n + k}, k * n + j);
    for (std::uint32_t i = k + 1; i < rows; ++i) graph.task({k * n + k}, i * n + k);
    for (std::uint32_t i = k + 1; i < rows; ++i) {
      for (std::uint32_t j = k + 1; j < n; ++j) graph.task({i * n + k, k * n + j}, i * n + j);
    }
  }
  Segments const segments(graph);
  Coordinates const coordinates(graph, segments);
  auto const lead = coordinates.extents()[1];
  auto const blocks = cut_bands(segments, coordinates, {.axis = 1, .bands = {{lead, 1}}});
  Bytes const memory = rows * (rows + 1) / 2 + 2 * rows;
  EXPECT_EQ(replay(graph, order_of(graph, segments, blocks), memory).loaded, rows * n);
}

TEST(Bands, are_estimated_by_what_stays_in_memory) {
  GraphOfTiles graph(4);
  graph.task({0}, 1);
  graph.task({0}, 2);
  graph.task({0}, 3);
  Segments const segments(graph);
  Blocks blocks;
  for (std::uint32_t segment = 0; segment < segments.count(); ++segment) {
    blocks.segments.push(segment);
    blocks.segments.end_list();
  }
  EXPECT_EQ(estimated_bytes(graph, segments, blocks, 2), 4) << "datum 0 stays";
  EXPECT_EQ(estimated_bytes(graph, segments, blocks, 1), 6);
}

// A product of so many rows and columns of tiles, whose results have one byte each: the whole plane.
struct Plane {
  Plane(std::uint32_t rows, std::uint32_t columns) : graph(product_of(rows, columns)) {}
  static GraphOfTiles product_of(std::uint32_t rows, std::uint32_t columns) {
    std::uint32_t const depth = 4;
    auto const inputs = depth * (rows + columns);
    GraphOfTiles made(inputs + rows * columns);
    for (std::uint32_t i = 0; i < rows; ++i) {
      for (std::uint32_t j = 0; j < columns; ++j) {
        for (std::uint32_t k = 0; k < depth; ++k)
          made.task({i * depth + k, (rows + j) * depth + k}, inputs + i * columns + j);
      }
    }
    return made;
  }
  [[nodiscard]] BandRule squares(double memory, std::size_t memories, double least_side = 1) const {
    return shared_squares(graph, segments, coordinates, memory, memories, least_side);
  }

  GraphOfTiles graph;
  Segments segments{graph};
  Coordinates coordinates{graph, segments};
};

TEST(SharedSquares, give_each_memory_sixteen_blocks) {
  Plane const plane(32, 32);
  ASSERT_THAT(plane.coordinates.extents(), ElementsAre(32, 32));
  BandRule rule{.axis = 0, .bands = {}};
  for (std::uint32_t end = 4; end <= 32; end += 4) rule.bands.push_back({end, 4});
  EXPECT_EQ(plane.squares(1e6, 4), rule) << "8 x 8 blocks for 4 memories";
  rule.bands.clear();
  for (std::uint32_t end = 2; end <= 32; end += 2) rule.bands.push_back({end, 2});
  EXPECT_EQ(plane.squares(1e6, 16), rule) << "16 x 16 blocks";
}

TEST(SharedSquares, fill_half_of_a_memory_at_most_and_end_with_the_plane) {
  for (auto const& [rows, columns] :
       std::vector<std::pair<std::uint32_t, std::uint32_t>>{{20, 31}, {31, 20}, {1, 60}, {2, 2}}) {
    Plane const plane(rows, columns);
    for (double const memory : {1.0, 4.0, 9.0, 18.0, 22.0, 50.0, 51.0, 1000.0}) {
      auto const rule = plane.squares(memory, 1);
      ASSERT_FALSE(rule.bands.empty());
      std::uint32_t begin = 0;
      for (auto const& [end, length] : rule.bands) {
        ASSERT_GT(end, begin);
        ASSERT_GT(length, 0U);
        EXPECT_LE((end - begin) * length, std::max(1.0, memory / 2)) << rows << " x " << columns << ", " << memory;
        begin = end;
      }
      EXPECT_EQ(begin, plane.coordinates.extents()[rule.axis]);
    }
  }
}

TEST(SharedSquares, of_a_large_plane_in_small_memories_are_squares) {
  Plane const plane(30, 30);
  BandRule rule{.axis = 0, .bands = {}};
  for (std::uint32_t end = 3; end <= 30; end += 3) rule.bands.push_back({end, 3});
  EXPECT_EQ(plane.squares(18, 1), rule) << "half of a memory is 9 tiles";
  rule.bands.clear();
  for (std::uint32_t end = 3; end <= 30; end += 3) rule.bands.push_back({end, 4});
  EXPECT_EQ(plane.squares(24, 1), rule) << "12 tiles: as near to a square as 12 allow";
}

TEST(SharedSquares, are_larger_where_links_are_slow_and_memory_has_room) {
  Plane const plane(32, 32);
  BandRule rule{.axis = 0, .bands = {}};
  for (std::uint32_t end = 8; end <= 32; end += 8) rule.bands.push_back({end, 8});
  EXPECT_EQ(plane.squares(1e6, 4, 8), rule);
  EXPECT_EQ(plane.squares(32, 4, 8), plane.squares(32, 4)) << "half of a memory is 16 tiles";
  EXPECT_EQ(plane.squares(1e6, 4, 2), plane.squares(1e6, 4));
}

TEST(SharedSquares, are_as_long_as_needed_where_there_is_a_single_row) {
  Plane const plane(1, 128);
  ASSERT_THAT(plane.coordinates.extents(), ElementsAre(1, 128));
  EXPECT_THAT(plane.squares(1e6, 2).bands, ElementsAre(BandRule::Band{1, 4}));
}

TEST(SharedSquares, of_a_small_plane_are_single_tiles) {
  Plane const plane(3, 3);
  ASSERT_THAT(plane.coordinates.extents(), ElementsAre(3, 3));
  EXPECT_THAT(plane.squares(1e6, 4).bands,
              ElementsAre(BandRule::Band{1, 1}, BandRule::Band{2, 1}, BandRule::Band{3, 1}));
}

// The updates of a tile in any order.
TEST(FindOrder, turns_the_order_of_updates_that_commute_and_moves_no_more) {
  std::uint32_t const n = 24;
  auto const kept = find_order(lu(n), {.memory = n * n / 16});
  auto const graph = lu(n, /*commuting=*/true);
  auto const found = find_order(graph, {.memory = n * n / 16});
  EXPECT_LT(found.traffic.all(), kept.traffic.all());
  EXPECT_FALSE(keeps_dependencies(lu(n), found.tasks));
  EXPECT_TRUE(keeps_dependencies(graph, found.tasks));
}

TEST(FindOrder, moves_less_than_orders_that_ignore_symmetry_must) {
  std::uint32_t const n = 24;
  auto const graph = cholesky(n);
  Bytes const memory = n * (n + 1) / 2 / 4;
  auto const found = find_order(graph, {.memory = memory - 4});
  double const symmetric = n * n * n / (3 * std::sqrt(2.0 * static_cast<double>(memory)));
  EXPECT_LT(static_cast<double>(found.traffic.loaded), 1.6 * symmetric);
}

}  // namespace
}  // namespace granary
