// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/policies/order/bands.hpp>
#include <granary/policies/order/coordinates.hpp>
#include <granary/policies/order/find_order.hpp>
#include <granary/policies/order/growth.hpp>
#include <granary/policies/order/least_missing.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

namespace granary {
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

// Those that were best where memory holds half of the data, and on stencils, trees and random graphs.
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

// Rules for bands that are tried: by their estimates, and with neighbours of the best one.
constexpr std::size_t first_bands = 8;
constexpr std::size_t most_bands = 16;

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

GrowthRule rule_of(Trial const& trial, OrderProblem const& problem, double written) {
  auto const memory = static_cast<double>(problem.memory);
  GrowthRule rule{.charge_outputs = trial.charge_outputs,
                  .begin_beside = trial.begin_beside,
                  .streamed = trial.streamed,
                  .room = trial.fill * memory,
                  .most_data = std::numeric_limits<double>::max()};
  // A little more than an equal part, since rows and columns join whole.
  if (trial.more_parts >= 0) rule.most_data = 1.001 * written / (std::ceil(written / memory) + trial.more_parts);
  if (problem.parts > 1) rule.most_data = std::min(rule.most_data, written / problem.parts);
  return rule;
}

// A list of tasks is cut where the data that were used since the last cut no longer fit the memory.
std::vector<std::uint32_t> cut(OrderGraph const& graph, std::span<std::uint32_t const> tasks, Bytes memory) {
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
    m_best.tasks.resize(graph.tasks());
    std::iota(m_best.tasks.begin(), m_best.tasks.end(), 0U);
    m_best.traffic = replay(graph, m_best.tasks, problem.memory);
    m_best.blocks = cut(graph, m_best.tasks, problem.memory);
  }

  void grow(Trial const& trial) {
    if (!may_go_on()) return;
    auto const blocks = grow_blocks(m_graph, m_segments, rule_of(trial, m_problem, m_written));
    take_if_better(blocks);
  }

  // Of the rules for bands, those that are estimated to move the fewest bytes; then neighbours of the best one while
  // they are better. Whether they are better than all others up to now.
  bool cut_in_bands() {
    Coordinates const coordinates(m_graph, m_segments);
    if (2 * coordinates.tasks() < m_graph.tasks()) return false;
    auto const memory = static_cast<double>(m_problem.memory);
    std::vector<std::pair<double, BandRule>> rules;
    for (auto const& rule : band_rules(m_graph, m_segments, coordinates, memory)) {
      auto const blocks = cut_bands(m_segments, coordinates, rule);
      m_work += blocks.work;
      rules.emplace_back(estimated_bytes(m_graph, m_segments, blocks, memory), rule);
    }
    std::ranges::sort(rules);
    std::vector<BandRule> tried;
    auto const better = [&](BandRule const& rule) {
      if (tried.size() >= most_bands || !may_go_on() || std::ranges::find(tried, rule) != tried.end()) return false;
      tried.push_back(rule);
      return take_if_better(cut_bands(m_segments, coordinates, rule));
    };
    std::optional<BandRule> best;
    auto const before = m_best.traffic.all();
    for (std::size_t i = 0; i < std::min(rules.size(), first_bands); ++i) {
      if (better(rules[i].second)) best = rules[i].second;
    }
    while (best) {
      auto const near = neighbours(*std::exchange(best, {}), coordinates);
      auto const found = std::ranges::find_if(near, better);
      if (found != near.end()) best = *found;
    }
    return m_best.traffic.all() < before;
  }

  void list(LeastMissingRule const& rule) {
    if (!may_go_on()) return;
    if (!m_links) m_links.emplace(m_graph);
    auto order = order_by_missing(m_graph, *m_links, m_problem.memory, rule);
    m_work += order.work;
    if (auto const traffic = better(order.tasks)) {
      m_best.blocks = cut(m_graph, order.tasks, m_problem.memory);
      m_best.tasks = std::move(order.tasks);
      m_best.traffic = *traffic;
    }
  }

  FoundOrder take() { return std::move(m_best); }

 private:
  [[nodiscard]] bool may_go_on() const { return m_work <= m_problem.effort * m_graph.all_uses(); }
  bool take_if_better(Blocks const& blocks) {
    m_work += blocks.work + 16 * m_graph.all_uses();
    auto order = order_of(m_graph, m_segments, blocks);
    auto const traffic = better(order);
    if (traffic) m_best = {std::move(order), blocks_of(m_segments, blocks), *traffic};
    return traffic.has_value();
  }
  std::optional<Traffic> better(std::vector<std::uint32_t> const& order) {
    m_work += 16 * m_graph.all_uses();
    auto const traffic = replay(m_graph, order, m_problem.memory);
    return traffic.all() < m_best.traffic.all() ? std::optional(traffic) : std::nullopt;
  }

  OrderGraph const& m_graph;
  OrderProblem const& m_problem;
  Segments m_segments;
  std::optional<TaskLinks> m_links;
  double m_written;
  std::uint64_t m_work = 0;
  FoundOrder m_best;
};

}  // namespace

FoundOrder find_order(OrderGraph const& graph, OrderProblem const& problem) {
  Search search(graph, problem);
  std::span<Trial const> growing = trials;
  std::span<LeastMissingRule const> listing = list_rules;
  if (problem.parts > 1) {
    // Bands and lists have no blocks that several memories could share out.
    listing = {};
  } else if (search.cut_in_bands()) {
    // The graph has the form of a matrix.
    for (auto const& trial : growing.first(2)) search.grow(trial);
    listing = listing.first(1);
    growing = {};
  }
  for (auto const& rule : listing) search.list(rule);
  for (auto const& trial : growing) search.grow(trial);
  return search.take();
}

}  // namespace granary
