// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/policies/planned/order_graph.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace granary::detail {

/// Lists of numbers, one after the other.
class GRANARY_EXPORT NumberLists {
 public:
  [[nodiscard]] std::span<std::uint32_t const> operator[](std::size_t list) const {
    return std::span(m_numbers).subspan(m_ends[list], m_ends[list + 1] - m_ends[list]);
  }
  [[nodiscard]] std::size_t size() const { return m_ends.size() - 1; }
  void push(std::uint32_t number) { m_numbers.push_back(number); }
  void end_list() { m_ends.push_back(m_numbers.size()); }

  struct Entry {
    std::uint32_t list;
    std::uint32_t number;
    auto operator<=>(Entry const&) const = default;
  };
  /// The lists of which these are the entries: each list in ascending order, each number once.
  static NumberLists of(std::vector<Entry> entries, std::size_t lists);
  /// The lists with their entries in the order in which these are given.
  static NumberLists in_order(std::span<Entry const> entries, std::size_t lists);

 private:
  static NumberLists of_sorted(std::span<Entry const> entries, std::size_t lists);

  std::vector<std::uint32_t> m_numbers;
  std::vector<std::size_t> m_ends{0};
};

/// The graph cut into *segments*: maximal runs of tasks that write one datum, its *primary* one, such that nobody else
/// depends on any of them before the last: all updates of a tile of a matrix, as a rule. A segment can run from its
/// first task to its last without a break, so blocks are made of segments. Segments depend on each other without
/// circles: one that another depends on gets no further task.
///
/// A *value* is what a segment reads or makes: of each datum the first value, and one for each segment that writes it.
/// O(uses log uses).
class GRANARY_EXPORT Segments {
 public:
  explicit Segments(OrderGraph const& graph);

  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(m_tasks.size()); }
  [[nodiscard]] std::uint32_t values() const { return static_cast<std::uint32_t>(m_value_data.size()); }
  /// In the order of submission.
  [[nodiscard]] std::span<std::uint32_t const> tasks(std::uint32_t segment) const { return m_tasks[segment]; }
  /// The values that its tasks read and do not write.
  [[nodiscard]] std::span<std::uint32_t const> inputs(std::uint32_t segment) const { return m_inputs[segment]; }
  [[nodiscard]] std::span<std::uint32_t const> outputs(std::uint32_t segment) const { return m_outputs[segment]; }
  /// The segments that have this value as an input.
  [[nodiscard]] std::span<std::uint32_t const> readers(std::uint32_t value) const { return m_readers[value]; }
  /// The segments that depend on this one.
  [[nodiscard]] std::span<std::uint32_t const> followers(std::uint32_t segment) const { return m_followers[segment]; }
  /// The segments on which it depends.
  [[nodiscard]] std::span<std::uint32_t const> predecessors(std::uint32_t segment) const {
    return m_predecessors[segment];
  }
  /// How often its tasks read inputs.
  [[nodiscard]] std::uint32_t reads(std::uint32_t segment) const { return m_reads[segment]; }
  [[nodiscard]] std::uint32_t datum(std::uint32_t value) const { return m_value_data[value]; }

 private:
  NumberLists m_tasks;
  NumberLists m_inputs;
  NumberLists m_outputs;
  NumberLists m_readers;
  NumberLists m_followers;
  NumberLists m_predecessors;
  std::vector<std::uint32_t> m_reads;
  std::vector<std::uint32_t> m_value_data;
};

}  // namespace granary::detail
