// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/planned/bands.hpp>
#include <granary/detail/policies/planned/coordinates.hpp>
#include <granary/detail/policies/planned/find_order.hpp>
#include <granary/detail/policies/planned/growth.hpp>
#include <granary/detail/policies/planned/least_missing.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <utility>

namespace granary::detail {
namespace {

struct Trial {
  bool charge_outputs;
  bool begin_beside;
  double streamed;
  double fill;     // of the memory
  int more_parts;  // how many more blocks than must be; negative: as large as they may be
};

// The first ones won most often on factorizations and products of 24 to 96 tiles.
constexpr std::array<Trial, 16> trials{{{true, true, 0.5, 1, 0},
                                        {false, false, 1, 0.7, -1},
                                        {true, true, 1, 1, -1},
                                        {false, false, 0.5, 1, 3},
                                        {true, true, 0.5, 1, 4},
                                        {false, false, 1, 0.8, -1},
                                        {true, false, 0.5, 0.9, -1},
                                        {false, false, 0.5, 1, -1},
                                        {true, true, 1, 1, 0},
                                        {true, true, 0.5, 0.6, -1},
                                        {false, true, 1, 0.8, -1},
                                        {false, false, 0.5, 1, 5},
                                        {true, true, 0.5, 1, 2},
                                        {false, false, 0.5, 1, 11},
                                        {true, true, 0.5, 1, 1},
                                        {true, false, 1, 0.6, -1}}};

// The best rules where memory holds half of the data, and on stencils, trees and random graphs.
using Tie = LeastMissingRule::Tie;
constexpr std::array<LeastMissingRule, 11> list_rules{{{.tie = Tie::Shallowest, .outputs = 1, .dying = 1},
                                                       {.tie = Tie::Submission},
                                                       {.tie = Tie::Deepest},
                                                       {.tie = Tie::Submission, .dying = 1},
                                                       {.tie = Tie::Submission, .outputs = 1, .dying = 1},
                                                       {.band = 2, .tie = Tie::Submission, .outputs = 1, .dying = 1},
                                                       {.band = 4, .tie = Tie::Deepest},
                                                       {.band = 6, .tie = Tie::Deepest},
                                                       {.band = 8, .tie = Tie::Deepest},
                                                       {.band = 12, .tie = Tie::Deepest},
                                                       {.band = 16, .tie = Tie::Deepest}}};

// Rules for bands that are tried: by their estimates, and then neighbours of the best one.
constexpr std::size_t first_bands = 8;
constexpr std::size_t next_bands = 12;

double bytes_written(OrderGraph const& graph) {
  std::vector<bool> written(graph.data());
  double bytes = 0;
  for (std::uint32_t task = 0; task < graph.tasks(); ++task) {
    for (auto const& use : graph.uses(task)) {
      if (!use.writes || written[use.data]) continue;
      written[use.data] = true;
      bytes += static_cast<double>(graph.bytes(use.data));
    }
  }
  return bytes;
}

// If memories share the tasks: the part of a memory for a block, and the lowest number of blocks for each memory.
constexpr double grown_fill = 0.5;
constexpr double grown_blocks = 32;

GrowthRule rule_of(Trial const& trial, OrderProblem const& problem, double written) {
  auto const memory = static_cast<double>(problem.memory);
  GrowthRule rule{.charge_outputs = trial.charge_outputs,
                  .begin_beside = trial.begin_beside,
                  .streamed = trial.streamed,
                  .room = trial.fill * memory,
                  .most_data = std::numeric_limits<double>::max()};
  // A little more than an equal part, since rows and columns join whole.
  if (trial.more_parts >= 0) rule.most_data = 1.001 * written / (std::ceil(written / memory) + trial.more_parts);
  if (problem.memories > 1) {
    rule.room *= grown_fill;
    rule.most_data = std::min(rule.most_data, written / (grown_blocks * static_cast<double>(problem.memories)));
  }
  return rule;
}

// A list of tasks is cut where the data that were used since the last cut no longer fit the memory.
std::vector<std::uint32_t> cut_list(OrderGraph const& graph, std::span<std::uint32_t const> tasks, Bytes memory) {
  std::vector<std::uint32_t> result;
  result.reserve(tasks.size());
  std::vector<std::uint32_t> block_of_use(graph.data(), std::numeric_limits<std::uint32_t>::max());
  std::uint32_t block = 0;
  Bytes used = 0;
  for (auto const task : tasks) {
    if (used > memory) {
      ++block;
      used = 0;
    }
    for (auto const& use : graph.uses(task)) {
      if (std::exchange(block_of_use[use.data], block) != block) used += graph.bytes(use.data);
    }
    result.push_back(block);
  }
  return result;
}

std::vector<std::uint32_t> blocks_of(Segments const& segments, Blocks const& blocks) {
  std::vector<std::uint32_t> result;
  for (std::uint32_t block = 0; block < blocks.segments.size(); ++block) {
    for (auto const segment : blocks.segments[block])
      result.resize(result.size() + segments.tasks(segment).size(), block);
  }
  return result;
}

class Search {
 public:
  Search(OrderGraph const& graph, OrderProblem const& problem)
      : m_graph(graph), m_problem(problem), m_segments(graph), m_written(bytes_written(graph)) {
    for (std::uint32_t task = 0; task < graph.tasks() && !m_commutes; ++task)
      m_commutes = std::ranges::any_of(graph.uses(task), &OrderGraph::Use::commutes);
  }

  // The order of submission.
  void keep() {
    m_best.tasks.resize(m_graph.tasks());
    std::iota(m_best.tasks.begin(), m_best.tasks.end(), 0U);
    m_best.traffic = replay(m_graph, m_best.tasks, m_problem.memory);
    m_best.blocks = cut_list(m_graph, m_best.tasks, m_problem.memory);
  }

  void grow(Trial const& trial) {
    if (!may_go_on()) return;
    auto const blocks = grow_blocks(m_graph, m_segments, rule_of(trial, m_problem, m_written));
    take_if_better(blocks);
  }

  // The squares in which several memories share a matrix; false if the graph has not this form.
  bool cut_in_squares() {
    if (!has_plane()) return false;
    auto const memory = static_cast<double>(m_problem.memory);
    cut(shared_squares(m_graph, m_segments, *m_coordinates, memory, m_problem.memories, m_problem.least_side));
    return true;
  }

  // Of the rules for bands, those that are estimated to move the fewest bytes. Whether one is better than all orders up
  // to now.
  bool cut_in_bands() {
    if (!has_plane()) return false;
    auto const before = m_best.traffic.all();
    auto const memory = static_cast<double>(m_problem.memory);
    std::vector<std::pair<double, BandRule>> rules;
    for (auto const& rule : band_rules(m_graph, m_segments, *m_coordinates, memory)) {
      auto const blocks = cut_bands(m_segments, *m_coordinates, rule);
      m_work += 2 * blocks.work;
      rules.emplace_back(estimated_bytes(m_graph, m_segments, blocks, memory), rule);
    }
    std::ranges::sort(rules);
    for (std::size_t i = 0; i < std::min(rules.size(), first_bands); ++i) cut(rules[i].second);
    return m_best.traffic.all() < before;
  }

  // Goes on to better neighbours of the best rule for bands.
  void shift_bands(std::size_t most) {
    auto const last = m_cut.size() + most;
    for (bool better = true; better;) {
      auto const near = neighbours(m_rule, *m_coordinates);
      better = std::ranges::any_of(near, [&](BandRule const& rule) { return m_cut.size() < last && cut(rule); });
    }
  }

  void list(LeastMissingRule const& rule) {
    if (!may_go_on()) return;
    if (!m_links) m_links.emplace(m_graph);
    auto order = order_by_missing(m_graph, *m_links, m_problem.memory, rule);
    m_work += order.work;
    auto const traffic = traffic_of(order.tasks);
    if (traffic.all() >= m_best.traffic.all()) return;
    m_best.blocks = cut_list(m_graph, order.tasks, m_problem.memory);
    m_best.tasks = std::move(order.tasks);
    m_best.traffic = traffic;
  }

  FoundOrder take() {
    m_best.has_plane = m_has_plane;
    return std::move(m_best);
  }

 private:
  [[nodiscard]] bool may_go_on() const { return m_work <= m_problem.effort * m_graph.all_uses(); }
  // True if most tasks have a place in the plane of coordinates.
  bool has_plane() {
    m_coordinates.emplace(m_graph, m_segments);
    m_has_plane = m_coordinates->tasks() > 0 && 2 * m_coordinates->tasks() >= m_graph.tasks();
    return m_has_plane;
  }
  // Cuts by the rule; returns true if it is better than all rules before.
  bool cut(BandRule const& rule) {
    if (!may_go_on() || !m_cut.insert(rule).second) return false;
    auto const bytes = take_if_better(cut_bands(m_segments, *m_coordinates, rule)).all();
    if (bytes >= m_rule_bytes) return false;
    m_rule = rule;
    m_rule_bytes = bytes;
    return true;
  }
  Traffic take_if_better(Blocks const& blocks) {
    m_work += blocks.work + 16 * m_graph.all_uses();
    auto order = order_of(m_graph, m_segments, blocks, m_commutes);
    auto const traffic = traffic_of(order);
    if (traffic.all() < m_best.traffic.all()) m_best = {std::move(order), blocks_of(m_segments, blocks), traffic};
    return traffic;
  }
  Traffic traffic_of(std::vector<std::uint32_t> const& order) {
    m_work += 16 * m_graph.all_uses();
    return replay(m_graph, order, m_problem.memory);
  }

  OrderGraph const& m_graph;
  OrderProblem const& m_problem;
  Segments m_segments;
  std::optional<TaskLinks> m_links;
  std::optional<Coordinates> m_coordinates;
  std::set<BandRule> m_cut;  // that were tried
  BandRule m_rule;           // the best of them
  Bytes m_rule_bytes = std::numeric_limits<Bytes>::max();
  double m_written;
  bool m_commutes = false;  // some tasks do
  bool m_has_plane = false;
  std::uint64_t m_work = 0;
  FoundOrder m_best{.tasks = {}, .blocks = {}, .traffic = {.loaded = std::numeric_limits<Bytes>::max()}};
};

}  // namespace

FoundOrder find_order(OrderGraph const& graph, OrderProblem const& problem) {
  Search search(graph, problem);
  if (problem.memories > 1) {
    if (search.cut_in_squares()) return search.take();
    for (auto const& trial : trials) search.grow(trial);
    return search.take();
  }
  search.keep();
  if (search.cut_in_bands()) {
    // The graph has the form of a matrix.
    search.shift_bands(next_bands);
    for (auto const& trial : std::span(trials).first(2)) search.grow(trial);
    search.list(list_rules.front());
    search.shift_bands(std::numeric_limits<std::size_t>::max() / 2);
    return search.take();
  }
  for (auto const& rule : list_rules) search.list(rule);
  for (auto const& trial : trials) search.grow(trial);
  return search.take();
}

}  // namespace granary::detail
