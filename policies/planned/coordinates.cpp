// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/planned/coordinates.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

namespace granary::detail {
namespace {

// Of the values that a segment reads before another one, so many may be of the same line: the tasks of a chain read one
// value of each line in turn.
constexpr std::size_t most_lines_read = 3;
// There are two kinds of lines if at most 1/16 of what segments read says otherwise.
constexpr std::size_t most_wrong = 16;

/// Disjoint sets of numbers; each number is on one of the two sides of its set.
class TwoSidedSets {
 public:
  explicit TwoSidedSets(std::size_t size) : m_parent(size), m_side(size) {
    std::iota(m_parent.begin(), m_parent.end(), 0U);
  }

  /// The number that names the set, and whether this one is on the other side than that one.
  std::pair<std::uint32_t, bool> find(std::uint32_t number) {
    bool side = false;
    auto root = number;
    for (; m_parent[root] != root; root = m_parent[root]) side = side != m_side[root];
    bool rest = side;
    for (auto at = number; m_parent[at] != at;) {
      bool const own = m_side[at];
      m_side[at] = rest;
      rest = rest != own;
      at = std::exchange(m_parent[at], root);
    }
    return {root, side};
  }
  /// Joins their sets such that they are on one side or not; false if they are in one set already, otherwise.
  bool join(std::uint32_t a, std::uint32_t b, bool other_side) {
    auto const [root_a, side_a] = find(a);
    auto const [root_b, side_b] = find(b);
    bool const differ = (side_a != side_b) != other_side;
    if (root_a == root_b) return !differ;
    m_parent[std::max(root_a, root_b)] = std::min(root_a, root_b);
    m_side[std::max(root_a, root_b)] = differ;
    return true;
  }

 private:
  std::vector<std::uint32_t> m_parent;
  std::vector<bool> m_side;
};

/// True if at least two thirds of the segments that read one of the values read both: the values of a row on both sides
/// of the diagonal have half of their readers in common, and are of a row and of a column.
bool alike(std::span<std::uint32_t const> a, std::span<std::uint32_t const> b) {
  if (std::min(a.size(), b.size()) * 3 < 2 * std::max(a.size(), b.size())) return false;
  std::size_t both = 0;
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    if (*i == *j) {
      ++both;
      ++i;
      ++j;
    } else if (*i < *j) {
      ++i;
    } else {
      ++j;
    }
  }
  return both * 3 >= 2 * (a.size() + b.size() - both);
}

/// The sets of values that are lines.
TwoSidedSets lines_of(OrderGraph const& graph, Segments const& segments) {
  TwoSidedSets lines(segments.values());
  constexpr auto none = Coordinates::none;
  std::vector<std::uint32_t> input(graph.data(), none);  // of the segment, by datum
  std::vector<std::uint32_t> sequence;                   // its inputs in the order of reading
  for (std::uint32_t segment = 0; segment < segments.count(); ++segment) {
    for (auto const value : segments.inputs(segment)) input[segments.datum(value)] = value;
    sequence.clear();
    for (auto const task : segments.tasks(segment)) {
      for (auto const& use : graph.uses(task)) {
        if (auto const value = std::exchange(input[use.data], none); value != none) sequence.push_back(value);
      }
    }
    for (std::size_t i = 1; i < sequence.size(); ++i) {
      auto const readers = segments.readers(sequence[i]);
      // A few readers are enough: all readers in a line have the same values before this one.
      if (segment != readers.front() && segment != readers[readers.size() / 2] && segment != readers.back()) continue;
      for (std::size_t before = 1; before <= std::min(i, most_lines_read); ++before) {
        auto const other = sequence[i - before];
        if (alike(readers, segments.readers(other))) lines.join(sequence[i], other, false);
      }
    }
  }
  return lines;
}

/// The two lines of which a segment reads most values, the one of more values first.
struct MainLines {
  Coordinates::Place lines{Coordinates::none, Coordinates::none};
  std::uint32_t least = 0;  // values that it reads of the second one
};

/// The main lines of each segment. A value alone is no line.
std::vector<MainLines> main_lines(Segments const& segments, TwoSidedSets& lines) {
  std::vector<std::uint32_t> sizes(segments.values(), 0);
  for (std::uint32_t value = 0; value < segments.values(); ++value) ++sizes[lines.find(value).first];
  std::vector<MainLines> result(segments.count());
  std::vector<std::uint32_t> read;
  for (std::uint32_t segment = 0; segment < segments.count(); ++segment) {
    read.clear();
    for (auto const value : segments.inputs(segment)) {
      if (auto const line = lines.find(value).first; sizes[line] > 1) read.push_back(line);
    }
    std::ranges::sort(read);
    std::array<std::uint32_t, 2> most{0, 0};
    for (auto begin = read.begin(); begin != read.end();) {
      auto const end = std::upper_bound(begin, read.end(), *begin);
      auto const count = static_cast<std::uint32_t>(end - begin);
      auto& [first, second] = result[segment].lines;
      if (count > most[0]) {
        second = std::exchange(first, *begin);
        most = {count, most[0]};
      } else if (count > most[1]) {
        second = *begin;
        most[1] = count;
      }
      begin = end;
    }
    result[segment].least = most[1];
  }
  return result;
}

/// The sides of lines, such that segments have lines of both; those that read most of both decide. Nothing if more than
/// a part of the segments, by what they read, have not.
std::optional<TwoSidedSets> kinds_of(std::vector<MainLines> const& main, std::uint32_t values) {
  std::vector<std::uint32_t> by_weight;
  for (std::uint32_t segment = 0; segment < main.size(); ++segment) {
    if (main[segment].least > 0) by_weight.push_back(segment);
  }
  std::ranges::stable_sort(by_weight, std::ranges::greater{},
                           [&](std::uint32_t segment) { return main[segment].least; });
  TwoSidedSets kinds(values);
  std::size_t all = 0;
  std::size_t wrong = 0;
  for (auto const segment : by_weight) {
    auto const& [lines, least] = main[segment];
    all += least;
    wrong += kinds.join(lines[0], lines[1], true) ? 0 : least;
  }
  return wrong * most_wrong <= all ? std::optional(std::move(kinds)) : std::nullopt;
}

}  // namespace

Coordinates::Coordinates(OrderGraph const& graph, Segments const& segments) : m_places(segments.count(), {none, none}) {
  auto lines = lines_of(graph, segments);
  auto const main = main_lines(segments, lines);
  auto kinds = kinds_of(main, segments.values());
  std::vector<std::uint32_t> numbers(segments.values(), none);
  for (std::uint32_t segment = 0; segment < segments.count(); ++segment) {
    auto [row, column] = main[segment].lines;
    if (!kinds && column == none) column = row;
    if (row == none || column == none) continue;
    if (kinds && kinds->find(row).second == kinds->find(column).second) continue;
    if (kinds && kinds->find(row).second) std::swap(row, column);
    for (auto* const line : {&row, &column}) {
      auto& number = numbers[*line];
      if (number == none) number = m_extents[kinds && line == &column ? 1 : 0]++;
      *line = number;
    }
    if (!kinds) std::tie(row, column) = std::pair(std::min(row, column), std::max(row, column));
    m_places[segment] = {row, column};
    m_tasks += segments.tasks(segment).size();
  }
  if (!kinds) m_extents[1] = m_extents[0];
}

}  // namespace granary::detail
