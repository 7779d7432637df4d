// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/coherence_oracle.hpp"
#include "support/random_graph.hpp"
#include "support/random_machine.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace granary::test {
namespace {

constexpr std::uint32_t rows = 3;
constexpr std::uint32_t cols = 4;

// A rectangle of the family's matrix, often the whole, a row or a column.
std::vector<std::uint32_t> random_rectangle(std::uint32_t family, detail::Random& random) {
  auto const range = [&](std::uint32_t extent) {
    if (random.chance(0.4)) return std::pair(0U, extent);
    auto const first = static_cast<std::uint32_t>(random.below(extent));
    auto const length = random.chance(0.5) ? 1 : 1 + static_cast<std::uint32_t>(random.below(extent - first));
    return std::pair(first, first + length);
  };
  auto const [top, bottom] = range(rows);
  auto const [left, right] = range(cols);
  std::vector<std::uint32_t> cells;
  for (auto i = top; i < bottom; ++i) {
    for (auto j = left; j < right; ++j) cells.push_back(family * CoherenceOracle::family + i * cols + j);
  }
  return cells;
}

bool meet(std::vector<std::uint32_t> const& a, std::vector<std::uint32_t> const& b) {
  return std::ranges::any_of(a, [&](std::uint32_t cell) { return std::ranges::find(b, cell) != b.end(); });
}

// Drops accesses to data that share cells with an earlier one of the task, if one of the two is written.
void separate(SubmitGraphTask& task, std::vector<std::vector<std::uint32_t>> const& cells) {
  auto const accesses = std::exchange(task.accesses, {});
  auto const writes_it = [&](std::uint32_t datum) {
    return std::ranges::any_of(accesses,
                               [&](auto const& access) { return access.first == datum && writes(access.second); });
  };
  for (auto const& access : accesses) {
    bool const clashes = std::ranges::any_of(task.accesses, [&](auto const& kept) {
      return kept.first != access.first && (writes_it(kept.first) || writes_it(access.first)) &&
             meet(cells[kept.first], cells[access.first]);
    });
    if (!clashes) task.accesses.push_back(access);
  }
}

}  // namespace

void share_bytes(RandomGraph& graph, detail::Machine const& machine, detail::Random& random) {
  struct Family {
    NodeId home;
    std::uint64_t left;  // data that it still gets
  };
  std::vector<Family> families;
  std::vector<std::vector<std::uint32_t>> cells;
  for (auto& operation : graph.operations) {
    if (auto* const datum = std::get_if<RegisterData>(&operation)) {
      if (random.chance(0.85)) {
        if (families.empty() || families.back().left == 0) {
          auto const node = NodeId(static_cast<std::uint32_t>(random.below(machine.nodes.size())));
          families.push_back({node, 2 + random.below(7)});
        }
        // Data that are registered late join an earlier family.
        bool const late = cells.size() > 12;
        auto const number = static_cast<std::uint32_t>(late ? random.below(families.size()) : families.size() - 1);
        if (!late) --families.back().left;
        auto& description = datum->description;
        description.origin = description.home = families[number].home;
        description.origin_is_home = true;
        description.may_return = true;
        description.in_place = has_workers(machine, description.home);
        datum->cells = random_rectangle(number, random);
      }
      cells.push_back(datum->cells);
    } else if (auto* const task = std::get_if<SubmitGraphTask>(&operation)) {
      separate(*task, cells);
    }
  }
}

}  // namespace granary::test
