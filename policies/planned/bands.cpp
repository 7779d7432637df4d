// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/planned/bands.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace granary::detail {
namespace {

// The number of bands of single lines, and the part of the memory that the inputs of each of them take.
struct Leading {
  std::uint32_t bands;
  double fill;
};
constexpr std::array<Leading, 5> leadings{{{0, 0}, {1, 0.7}, {1, 0.95}, {2, 0.85}, {3, 0.85}}};
// Of the memory, the least part that a block's results take. The longer side of a block is at most so many times the
// shorter one. The number of lengths for each number of bands.
constexpr double least_fill = 0.45;
constexpr double most_aspect = 3;
constexpr int most_lengths = 3;
// If memories share the tasks: the part of a memory for a block's results, and the number of blocks for each memory.
constexpr double shared_fill = 0.5;
constexpr double shared_blocks = 16;
// A neighbour's length or width differs by one, or by this part.
constexpr std::uint32_t small_part = 16;

// The number of segments whose results fit in the memory; 0 if no segment has coordinates.
double segments_in(OrderGraph const& graph, Segments const& segments, Coordinates const& coordinates, double memory) {
  double bytes = 0;
  double placed = 0;
  for (std::uint32_t segment = 0; segment < segments.count(); ++segment) {
    if (coordinates.of(segment)[0] == Coordinates::none) continue;
    ++placed;
    for (auto const value : segments.outputs(segment)) bytes += static_cast<double>(graph.bytes(segments.datum(value)));
  }
  return memory * placed / std::max(bytes, 1.0);
}

// Adds the rules of equal bands after these.
void add_equal_bands(BandRule const& lead, std::uint32_t end, std::uint32_t across, double most_segments,
                     std::vector<BandRule>& rules) {
  auto const begin = lead.bands.empty() ? 0 : lead.bands.back().end;
  auto const lines = end - begin;
  for (std::uint32_t bands = 1; bands <= lines; ++bands) {
    double const width = std::ceil(static_cast<double>(lines) / bands);
    double const all = across * width / most_segments;
    double const fewest = std::max(1.0, std::ceil(all));
    std::uint32_t last = 0;
    for (double blocks = fewest; blocks <= std::ceil(all / least_fill) && blocks < fewest + most_lengths; ++blocks) {
      auto const length = static_cast<std::uint32_t>(std::ceil(across / blocks));
      bool const square = width <= most_aspect * length && length <= most_aspect * width;
      if (!square || length == std::exchange(last, length)) continue;
      rules.push_back(lead);
      for (std::uint64_t band = 1; band <= bands; ++band)
        rules.back().bands.push_back({begin + static_cast<std::uint32_t>((band * lines + bands - 1) / bands), length});
    }
  }
}

// Puts segments in blocks, each after those on which it depends.
class Taker {
 public:
  explicit Taker(Segments const& segments)
      : m_segments(segments), m_taken(segments.count()), m_seen(segments.count(), 0) {}

  void take(std::uint32_t segment) {
    if (m_taken[segment]) return;
    m_stack.assign(1, segment);
    while (!m_stack.empty()) {
      auto const top = m_stack.back();
      auto const wanted = m_segments.predecessors(top);
      auto& seen = m_seen[top];
      while (seen < wanted.size() && m_taken[wanted[seen]]) ++seen;
      if (seen < wanted.size()) {
        m_stack.push_back(wanted[seen]);
        continue;
      }
      m_taken[top] = true;
      blocks.segments.push(top);
      blocks.work += wanted.size() + m_segments.inputs(top).size();
      m_stack.pop_back();
    }
  }

  Blocks blocks;

 private:
  Segments const& m_segments;
  std::vector<bool> m_taken;
  std::vector<std::uint32_t> m_seen;  // predecessors that are taken
  std::vector<std::uint32_t> m_stack;
};

}  // namespace

std::vector<BandRule> band_rules(OrderGraph const& graph, Segments const& segments, Coordinates const& coordinates,
                                 double memory) {
  double const most_segments = segments_in(graph, segments, coordinates, memory);
  std::vector<BandRule> rules;
  if (most_segments == 0) return rules;
  for (std::uint32_t axis = 0; axis < 2; ++axis) {
    auto const lines = coordinates.extents()[axis];
    for (auto const& [bands, fill] : leadings) {
      // The inputs of the lines up to here are a triangle.
      auto const end_of = [&](std::uint32_t band) { return std::floor(std::sqrt(2 * fill * band * most_segments)); };
      if (end_of(bands) < bands || end_of(bands) >= lines) continue;
      BandRule lead{.axis = axis, .bands = {}};
      for (std::uint32_t band = 1; band <= bands; ++band)
        lead.bands.push_back({static_cast<std::uint32_t>(end_of(band)), 1});
      add_equal_bands(lead, lines, coordinates.extents()[1 - axis], most_segments, rules);
    }
  }
  return rules;
}

BandRule shared_squares(OrderGraph const& graph, Segments const& segments, Coordinates const& coordinates,
                        double memory, std::size_t memories, double least_side) {
  auto const [rows, columns] = coordinates.extents();
  double const most = std::max(1.0, shared_fill * segments_in(graph, segments, coordinates, memory));
  double const part = std::max(static_cast<double>(rows) * columns / (shared_blocks * static_cast<double>(memories)),
                               least_side * least_side);
  double const side = std::min(std::round(std::sqrt(part)), std::floor(std::sqrt(most)));
  double const width = std::clamp(side, 1.0, static_cast<double>(rows));
  // Nearly square, unless there are fewer rows.
  double const longest = width == rows ? columns : width + 1;
  double const length =
      std::clamp(std::round(std::min(part, most) / width), 1.0, std::min(longest, std::floor(most / width)));
  auto const equal = [](std::uint32_t lines, double wanted) {
    return static_cast<std::uint32_t>(std::ceil(lines / wanted));
  };
  auto const bands = equal(rows, width);
  BandRule rule{.axis = 0, .bands = {}};
  for (std::uint64_t band = 1; band <= bands; ++band)
    rule.bands.push_back({static_cast<std::uint32_t>(band * rows / bands), equal(columns, equal(columns, length))});
  return rule;
}

std::vector<BandRule> neighbours(BandRule const& rule, Coordinates const& coordinates) {
  std::vector<BandRule> result;
  auto const across = coordinates.extents()[1 - rule.axis];
  std::uint32_t begin = 0;
  for (std::size_t i = 0; i < rule.bands.size(); ++i) {
    auto const [end, length] = rule.bands[i];
    auto const add = [&](BandRule::Band band) {
      result.push_back(rule);
      result.back().bands[i] = band;
    };
    auto const step = std::max(1U, length / small_part);
    if (length + step <= across) add({end, length + step});
    if (length > step) add({end, length - step});
    if (i + 1 < rule.bands.size()) {
      auto const shift = std::max(1U, (end - begin) / small_part);
      if (end + shift < rule.bands[i + 1].end) add({end + shift, length});
      if (end - begin > shift) add({end - shift, length});
      result.push_back(rule);
      result.back().bands.erase(result.back().bands.begin() + static_cast<std::ptrdiff_t>(i));
    }
    begin = end;
  }
  return result;
}

Blocks cut_bands(Segments const& segments, Coordinates const& coordinates, BandRule const& rule) {
  struct Entry {
    std::uint32_t band, block, segment;
    auto operator<=>(Entry const&) const = default;
  };
  std::vector<Entry> entries;
  for (std::uint32_t segment = 0; segment < segments.count(); ++segment) {
    auto const& place = coordinates.of(segment);
    if (place[0] == Coordinates::none) continue;
    auto const band = std::ranges::upper_bound(rule.bands, place[rule.axis], {}, &BandRule::Band::end);
    auto const number = static_cast<std::uint32_t>(band - rule.bands.begin());
    entries.push_back({number, place[1 - rule.axis] / band->length, segment});
  }
  std::ranges::sort(entries);
  Taker taker(segments);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    taker.take(entries[i].segment);
    bool const ends =
        i + 1 == entries.size() || entries[i + 1].band != entries[i].band || entries[i + 1].block != entries[i].block;
    if (ends) taker.blocks.segments.end_list();
  }
  for (std::uint32_t segment = 0; segment < segments.count(); ++segment) taker.take(segment);
  taker.blocks.segments.end_list();
  return std::move(taker.blocks);
}

double estimated_bytes(OrderGraph const& graph, Segments const& segments, Blocks const& blocks, double memory) {
  std::vector<std::uint32_t> last(segments.values(), 0);  // block that used the value, from 1
  double all = 0;
  bool fits = false;  // the data of the block before
  for (std::uint32_t block = 1; block <= blocks.segments.size(); ++block) {
    double used = 0;
    for (auto const segment : blocks.segments[block - 1]) {
      for (auto const values : {segments.outputs(segment), segments.inputs(segment)}) {
        for (auto const value : values) {
          auto const before = std::exchange(last[value], block);
          if (before == block) continue;
          auto const bytes = static_cast<double>(graph.bytes(segments.datum(value)));
          used += bytes;
          if (!fits || before + 1 != block || block == 1) all += bytes;
        }
      }
    }
    fits = used <= memory;
  }
  return all;
}

}  // namespace granary::detail
