// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/policies/order/find_order.hpp>
#include <granary/policies/order/growth.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

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

std::vector<std::uint32_t> blocks_of(Segments const& segments, Blocks const& blocks) {
  std::vector<std::uint32_t> result;
  for (std::uint32_t block = 0; block < blocks.segments.size(); ++block) {
    for (auto const segment : blocks.segments[block])
      result.resize(result.size() + segments.tasks(segment).size(), block);
  }
  return result;
}

}  // namespace

FoundOrder find_order(OrderGraph const& graph, OrderProblem const& problem) {
  FoundOrder best;
  best.tasks.resize(graph.tasks());
  std::iota(best.tasks.begin(), best.tasks.end(), 0U);
  best.traffic = replay(graph, best.tasks, problem.memory);
  best.blocks.resize(graph.tasks(), 0);
  Segments const segments(graph);
  double const written = bytes_written(graph);
  std::uint64_t work = 0;
  for (auto const& trial : trials) {
    if (work > problem.effort * graph.all_uses()) break;
    auto const blocks = grow_blocks(graph, segments, rule_of(trial, problem, written));
    work += blocks.work + 32 * graph.all_uses();
    auto order = order_of(graph, segments, blocks);
    auto const traffic = replay(graph, order, problem.memory);
    if (traffic.all() >= best.traffic.all()) continue;
    best = {std::move(order), blocks_of(segments, blocks), traffic};
  }
  return best;
}

}  // namespace granary
