// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/policies/planned/order_graph.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace granary {

using namespace detail;

struct GraphOfTiles : OrderGraph {
  explicit GraphOfTiles(std::uint32_t tiles) {
    for (std::uint32_t i = 0; i < tiles; ++i) add_data({.bytes = 1});
  }
  void task(std::vector<std::uint32_t> const& inputs, std::uint32_t result, bool commutes = false) {
    for (auto const input : inputs) add_use({.data = input, .reads = true});
    add_use({.data = result, .reads = true, .writes = true, .commutes = commutes});
    end_task();
  }
};

inline GraphOfTiles lu(std::uint32_t n, bool commuting = false) {
  GraphOfTiles graph(n * n);
  for (std::uint32_t k = 0; k < n; ++k) {
    graph.task({}, k * n + k);
    for (std::uint32_t i = k + 1; i < n; ++i) {
      graph.task({k * n + k}, k * n + i);
      graph.task({k * n + k}, i * n + k);
    }
    for (std::uint32_t i = k + 1; i < n; ++i) {
      for (std::uint32_t j = k + 1; j < n; ++j) graph.task({i * n + k, k * n + j}, i * n + j, commuting);
    }
  }
  return graph;
}

// Each chain of updates one after the other, as a plain triple loop submits it.
inline GraphOfTiles product(std::uint32_t n) {
  GraphOfTiles graph(3 * n * n);
  for (std::uint32_t i = 0; i < n; ++i) {
    for (std::uint32_t j = 0; j < n; ++j) {
      for (std::uint32_t k = 0; k < n; ++k) graph.task({i * n + k, n * n + k * n + j}, 2 * n * n + i * n + j);
    }
  }
  return graph;
}

inline GraphOfTiles cholesky(std::uint32_t n) {
  auto const tile = [](std::uint32_t i, std::uint32_t j) { return i * (i + 1) / 2 + j; };
  GraphOfTiles graph(n * (n + 1) / 2);
  for (std::uint32_t k = 0; k < n; ++k) {
    graph.task({}, tile(k, k));
    for (std::uint32_t i = k + 1; i < n; ++i) graph.task({tile(k, k)}, tile(i, k));
    for (std::uint32_t j = k + 1; j < n; ++j) {
      graph.task({tile(j, k)}, tile(j, j));
      for (std::uint32_t i = j + 1; i < n; ++i) graph.task({tile(i, k), tile(j, k)}, tile(i, j));
    }
  }
  return graph;
}

// Whether each task comes once, and two that access a datum, one of which writes it, in the order of submission, unless
// they commute. No task may stand between two that commute.
inline bool keeps_dependencies(OrderGraph const& graph, std::vector<std::uint32_t> const& order) {
  std::vector<std::uint32_t> position(graph.tasks(), graph.tasks());
  for (std::uint32_t i = 0; i < order.size(); ++i) position[order[i]] = i;
  if (order.size() != graph.tasks() || std::ranges::find(position, graph.tasks()) != position.end()) return false;
  for (std::uint32_t later = 0; later < graph.tasks(); ++later) {
    for (std::uint32_t earlier = 0; earlier < later; ++earlier) {
      if (position[earlier] < position[later]) continue;
      for (auto const& a : graph.uses(earlier)) {
        for (auto const& b : graph.uses(later)) {
          bool const in_any_order = a.commutes && b.commutes;
          if (a.data == b.data && (a.writes || b.writes) && !in_any_order) return false;
        }
      }
    }
  }
  return true;
}

}  // namespace granary
