// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/policies/order/bands.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace granary {
namespace {

// The number of leading bands, and the part of the memory that the factor's part for each of them takes.
struct Leading {
  std::uint32_t leads;
  double fill;
};
constexpr std::array<Leading, 5> leadings{{{0, 0}, {1, 0.7}, {1, 0.95}, {2, 0.85}, {3, 0.85}}};
// Of the memory, the least part that a block's results take. The longer side of a block is at most so many times the
// shorter one. The number of lengths for each number of bands.
constexpr double least_fill = 0.45;
constexpr double most_aspect = 3;
constexpr int most_lengths = 3;
// A neighbour's number differs by one, or by this part.
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

// Adds the rules of equal bands after this lead.
void add_equal_bands(BandRule rule, std::uint32_t lines, std::uint32_t across, double most_segments,
                     std::vector<BandRule>& rules) {
  for (rule.bands = 1; rule.bands <= lines; ++rule.bands) {
    double const width = std::ceil(static_cast<double>(lines) / rule.bands);
    double const all = across * width / most_segments;
    double const fewest = std::max(1.0, std::ceil(all));
    std::uint32_t last = 0;
    for (double blocks = fewest; blocks <= std::ceil(all / least_fill) && blocks < fewest + most_lengths; ++blocks) {
      rule.length = static_cast<std::uint32_t>(std::ceil(across / blocks));
      bool const square = width <= most_aspect * rule.length && rule.length <= most_aspect * width;
      if (square && rule.length != last) rules.push_back(rule);
      last = rule.length;
    }
  }
}

// The band of a line.
std::uint32_t band_of(BandRule const& rule, std::uint32_t line, std::uint32_t lines) {
  if (line < rule.lead) {
    double const part = (line + 0.5) / rule.lead;
    return std::min(rule.leads - 1, static_cast<std::uint32_t>(part * part * rule.leads));
  }
  auto const place = static_cast<std::uint64_t>(line - rule.lead) * rule.bands;
  return rule.leads + static_cast<std::uint32_t>(place / (lines - rule.lead));
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
    for (auto const& [leads, fill] : leadings) {
      auto const lead = static_cast<std::uint32_t>(std::min(std::sqrt(2 * fill * leads * most_segments), 1e9));
      if (lead < leads || lead >= lines) continue;
      add_equal_bands({.axis = axis, .leads = leads, .lead = lead}, lines - lead, coordinates.extents()[1 - axis],
                      most_segments, rules);
    }
  }
  return rules;
}

std::vector<BandRule> neighbours(BandRule const& rule, Coordinates const& coordinates) {
  std::vector<BandRule> result;
  auto const vary = [&](std::uint32_t BandRule::*number, std::uint32_t step, std::uint32_t most) {
    for (bool const more : {true, false}) {
      BandRule next = rule;
      if (more ? rule.*number + step > most : rule.*number <= step) continue;
      next.*number = more ? rule.*number + step : rule.*number - step;
      if (next.lead >= next.leads) result.push_back(next);
    }
  };
  auto const lines = coordinates.extents()[rule.axis];
  auto const across = coordinates.extents()[1 - rule.axis];
  vary(&BandRule::length, std::max(1U, rule.length / small_part), across);
  if (rule.leads > 0) {
    vary(&BandRule::lead, std::max(1U, rule.lead / small_part), lines - 1);
    vary(&BandRule::leads, 1, rule.lead);
  }
  vary(&BandRule::bands, 1, lines - rule.lead);
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
    auto const band = band_of(rule, place[rule.axis], coordinates.extents()[rule.axis]);
    entries.push_back({band, place[1 - rule.axis] / (band < rule.leads ? 1 : rule.length), segment});
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

}  // namespace granary
