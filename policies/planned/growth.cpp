// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/planned/growth.hpp>

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace granary::detail {
namespace {

// The number of segments that may begin a block of which the one nearest to the last block is chosen.
constexpr std::size_t most_seeds = 256;

class Growth {
 public:
  Growth(OrderGraph const& graph, Segments const& segments, GrowthRule const& rule)
      : m_graph(graph),
        m_segments(segments),
        m_rule(rule),
        m_state(segments.count()),
        m_values(segments.values()),
        m_data(graph.data(), 0) {
    for (std::uint32_t segment = 0; segment < segments.count(); ++segment) {
      m_state[segment].waits_for = static_cast<std::uint32_t>(segments.predecessors(segment).size());
      if (m_state[segment].waits_for == 0) m_open.push(segment);
    }
    for (std::uint32_t data = 0; data < graph.data(); ++data) m_largest = std::max(m_largest, bytes_of(data));
  }

  Blocks run() {
    while (begin()) {
      while (step()) {
      }
      m_blocks.segments.end_list();
    }
    return std::move(m_blocks);
  }

 private:
  struct State {
    std::uint32_t waits_for = 0;  // predecessors in no block
    bool taken = false;           // is in a block
    std::uint32_t block = 0;      // the last one with which it shared an input
    std::uint32_t lacks = 0;      // inputs that this block lacks
    std::uint32_t trial = 0;      // the last one that brought inputs of it
    std::uint32_t brought = 0;    // how many
    std::uint32_t joined = 0;     // the last trial that it joined
  };
  struct Value {
    std::uint32_t block = 0;  // the last one that has it
    std::uint32_t trial = 0;  // the last one that brought it
    std::uint32_t step = 0;   // the last one in which a candidate lacked it first
  };
  struct Trial {
    std::vector<std::uint32_t> segments;
    double worth = -1;
    double data = 0;    // bytes written
    double inputs = 0;  // bytes brought
    double steps = 1;
  };

  [[nodiscard]] double bytes_of(std::uint32_t data) const { return static_cast<double>(m_graph.bytes(data)); }
  [[nodiscard]] bool has(std::uint32_t value) const { return m_values[value].block == m_block; }
  [[nodiscard]] std::uint32_t lacks(std::uint32_t segment) const {
    auto const& state = m_state[segment];
    return state.block == m_block ? state.lacks : static_cast<std::uint32_t>(m_segments.inputs(segment).size());
  }

  bool begin() {
    std::vector<std::uint32_t> seeds;
    while (!m_open.empty() && seeds.size() < (m_rule.begin_beside ? most_seeds : 1)) {
      if (!m_state[m_open.top()].taken) seeds.push_back(m_open.top());
      m_open.pop();
    }
    if (seeds.empty()) return false;
    auto seed = seeds.front();
    double nearest = 0;
    for (auto const other : seeds) {
      auto const inputs = m_segments.inputs(other);
      auto const shared = std::ranges::count_if(inputs, [&](std::uint32_t value) { return m_block > 0 && has(value); });
      double const part = inputs.empty() ? 0 : static_cast<double>(shared) / static_cast<double>(inputs.size());
      if (part > nearest) {
        nearest = part;
        seed = other;
      }
    }
    for (auto const other : seeds) m_open.push(other);
    ++m_block;
    m_written = m_brought = 0;
    m_steps = 1;
    m_candidates.clear();
    take(seed);
    return true;
  }

  // Adds the best candidate with what it brings; false if it does not fit, or there is none.
  bool step() {
    ++m_step;
    Trial best;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < m_candidates.size(); ++i) {
      auto const candidate = m_candidates[i];
      if (m_state[candidate].taken) continue;
      m_candidates[kept++] = candidate;
      if (m_state[candidate].waits_for > 0 || alike(candidate)) continue;
      try_out(candidate);
      if (m_trial.worth > best.worth) std::swap(best, m_trial);
    }
    m_candidates.resize(kept);
    if (best.worth < 0) return false;
    if (fits(best)) {
      for (auto const segment : best.segments) take(segment);
      return true;
    }
    if (m_written >= m_rule.room / 2) return false;
    auto const alone = of_one(best.segments.front());
    if (!fits(alone)) return false;
    take(best.segments.front());
    return true;
  }

  // True if another candidate of this step lacks the same value first: they bring nearly the same values.
  bool alike(std::uint32_t candidate) {
    auto const inputs = m_segments.inputs(candidate);
    auto const first = std::ranges::find_if(inputs, [&](std::uint32_t value) { return !has(value); });
    return first != inputs.end() && std::exchange(m_values[*first].step, m_step) == m_step;
  }

  void try_out(std::uint32_t candidate) {
    ++m_trials;
    m_trial = {};
    m_trial.segments.push_back(candidate);
    m_state[candidate].joined = m_trials;
    double values = 0;
    double reads = 0;
    for (auto const value : m_segments.inputs(candidate)) {
      if (has(value)) continue;
      m_trial.inputs += bytes_of(m_segments.datum(value));
      ++values;
      bring(value);
    }
    for (std::size_t i = 0; i < m_trial.segments.size(); ++i) {
      auto const segment = m_trial.segments[i];
      reads += m_segments.reads(segment);
      m_trial.steps = std::max(m_trial.steps, static_cast<double>(m_segments.tasks(segment).size()));
      for (auto const follower : m_segments.followers(segment)) --m_state[follower].waits_for;
      for (auto const value : m_segments.outputs(segment)) {
        m_trial.data += new_bytes(m_segments.datum(value));
        bring(value);
      }
      for (auto const follower : m_segments.followers(segment)) join_if_able(follower);
      m_blocks.work += 2 * m_segments.followers(segment).size();
    }
    for (auto const segment : m_trial.segments) {
      for (auto const follower : m_segments.followers(segment)) ++m_state[follower].waits_for;
    }
    auto const charged = m_rule.charge_outputs ? values + static_cast<double>(m_trial.segments.size()) : values;
    m_trial.worth = reads / std::max(charged, 1e-9);
  }

  void bring(std::uint32_t value) {
    if (has(value) || std::exchange(m_values[value].trial, m_trials) == m_trials) return;
    auto const readers = m_segments.readers(value);
    m_blocks.work += readers.size();
    for (auto const reader : readers) {
      auto& state = m_state[reader];
      if (std::exchange(state.trial, m_trials) != m_trials) state.brought = 0;
      ++state.brought;
      join_if_able(reader);
    }
  }

  void join_if_able(std::uint32_t segment) {
    auto& state = m_state[segment];
    if (state.taken || state.waits_for > 0 || state.joined == m_trials) return;
    if ((state.trial == m_trials ? state.brought : 0) < lacks(segment)) return;
    state.joined = m_trials;
    m_trial.segments.push_back(segment);
  }

  [[nodiscard]] Trial of_one(std::uint32_t segment) const {
    Trial trial;
    trial.steps = static_cast<double>(m_segments.tasks(segment).size());
    for (auto const value : m_segments.inputs(segment)) {
      if (!has(value)) trial.inputs += bytes_of(m_segments.datum(value));
    }
    for (auto const value : m_segments.outputs(segment)) trial.data += new_bytes(m_segments.datum(value));
    return trial;
  }

  // A datum that the block writes several times is in memory once.
  [[nodiscard]] double new_bytes(std::uint32_t data) const { return m_data[data] == m_block ? 0 : bytes_of(data); }

  [[nodiscard]] bool fits(Trial const& trial) const {
    double const data = m_written + trial.data;
    double const streamed = m_rule.streamed * (m_brought + trial.inputs) / std::max(m_steps, trial.steps);
    return data <= m_rule.most_data && data + streamed + m_largest <= m_rule.room;
  }

  void take(std::uint32_t segment) {
    m_state[segment].taken = true;
    m_blocks.segments.push(segment);
    m_steps = std::max(m_steps, static_cast<double>(m_segments.tasks(segment).size()));
    for (auto const value : m_segments.inputs(segment)) {
      if (!has(value)) m_brought += bytes_of(m_segments.datum(value));
      enter(value);
    }
    for (auto const value : m_segments.outputs(segment)) {
      auto const data = m_segments.datum(value);
      m_written += new_bytes(data);
      m_data[data] = m_block;
      enter(value);
    }
    for (auto const follower : m_segments.followers(segment)) {
      if (--m_state[follower].waits_for == 0) m_open.push(follower);
    }
  }

  void enter(std::uint32_t value) {
    if (std::exchange(m_values[value].block, m_block) == m_block) return;
    for (auto const reader : m_segments.readers(value)) {
      auto& state = m_state[reader];
      if (state.taken) continue;
      if (std::exchange(state.block, m_block) != m_block) {
        state.lacks = static_cast<std::uint32_t>(m_segments.inputs(reader).size());
        m_candidates.push_back(reader);
      }
      --state.lacks;
    }
  }

  OrderGraph const& m_graph;
  Segments const& m_segments;
  GrowthRule const& m_rule;
  std::vector<State> m_state;
  std::vector<Value> m_values;
  std::vector<std::uint32_t> m_data;  // the last block that writes the datum
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> m_open;
  std::vector<std::uint32_t> m_candidates;  // share an input with the block; some wait for others, or are taken
  Blocks m_blocks;
  Trial m_trial;
  std::uint32_t m_block = 0;
  std::uint32_t m_step = 0;
  std::uint32_t m_trials = 0;
  double m_largest = 0;  // bytes of the largest datum
  double m_written = 0;  // by the block
  double m_brought = 0;
  double m_steps = 1;
};

// The level of each task in its block; what a task uses of other blocks is there before.
class Levels {
 public:
  explicit Levels(OrderGraph const& graph) : m_graph(graph), m_data(graph.data()) {}

  std::uint32_t level(std::uint32_t task, std::uint32_t block) {
    std::uint32_t level = 0;
    for (auto const& use : m_graph.uses(task)) {
      auto& datum = m_data[use.data];
      if (datum.block != block) datum = {.block = block};
      level = std::max({level, datum.written, use.writes ? datum.read : 0});
    }
    for (auto const& use : m_graph.uses(task)) {
      auto& datum = m_data[use.data];
      (use.writes ? datum.written : datum.read) = std::max(use.writes ? datum.written : datum.read, level + 1);
    }
    return level;
  }

 private:
  struct Datum {
    std::uint32_t block = 0xffffffffU;
    std::uint32_t written = 0;  // the first level at which the value can be read
    std::uint32_t read = 0;     // the first level at which it can be overwritten
  };
  OrderGraph const& m_graph;
  std::vector<Datum> m_data;
};

// Reverses tasks of a segment that may run in the opposite order: they change its datum alike, and read values that are
// there before the block begins.
class Reversal {
 public:
  Reversal(OrderGraph const& graph, Segments const& segments)
      : m_graph(graph), m_segments(segments), m_made(graph.data(), 0) {}

  void begin(std::span<std::uint32_t const> block) {
    ++m_block;
    for (auto const segment : block) {
      for (auto const value : m_segments.outputs(segment)) m_made[m_segments.datum(value)] = m_block;
    }
  }
  // Valid until the next call.
  std::span<std::uint32_t const> turned(std::uint32_t segment) {
    auto const tasks = m_segments.tasks(segment);
    m_tasks.assign(tasks.begin(), tasks.end());
    for (auto begin = m_tasks.begin(); begin != m_tasks.end();) {
      auto const end = std::find_if_not(begin, m_tasks.end(), [&](std::uint32_t task) { return may_turn(task); });
      std::reverse(begin, end);
      begin = end == m_tasks.end() ? end : end + 1;
    }
    return m_tasks;
  }

 private:
  [[nodiscard]] bool may_turn(std::uint32_t task) const {
    return std::ranges::all_of(m_graph.uses(task), [&](OrderGraph::Use const& use) {
      return use.writes ? use.commutes : m_made[use.data] != m_block;
    });
  }

  OrderGraph const& m_graph;
  Segments const& m_segments;
  std::vector<std::uint32_t> m_made;  // the last of the blocks that makes a value of the datum
  std::uint32_t m_block = 0;
  std::vector<std::uint32_t> m_tasks;
};

}  // namespace

Blocks grow_blocks(OrderGraph const& graph, Segments const& segments, GrowthRule const& rule) {
  return Growth(graph, segments, rule).run();
}

std::vector<std::uint32_t> order_of(OrderGraph const& graph, Segments const& segments, Blocks const& blocks,
                                    bool turns) {
  std::vector<std::uint32_t> order;
  order.reserve(graph.tasks());
  Levels levels(graph);
  Reversal reversal(graph, segments);
  struct Step {
    std::uint32_t place;  // in the order of submission
    std::uint32_t task;
  };
  std::vector<Step> steps;
  std::vector<std::pair<std::uint32_t, Step>> by_level;
  for (std::uint32_t block = 0; block < blocks.segments.size(); ++block) {
    steps.clear();
    bool const reversed = turns && block % 2 == 1;
    if (reversed) reversal.begin(blocks.segments[block]);
    for (auto const segment : blocks.segments[block]) {
      auto const own = segments.tasks(segment);
      auto const turned = reversed ? reversal.turned(segment) : own;
      for (std::size_t i = 0; i < own.size(); ++i) steps.push_back({own[i], turned[i]});
    }
    std::ranges::sort(steps, {}, &Step::place);
    by_level.clear();
    for (auto const& step : steps) by_level.emplace_back(levels.level(step.task, block), step);
    std::ranges::sort(by_level, {}, [](auto const& entry) { return std::pair(entry.first, entry.second.place); });
    for (auto const& [level, step] : by_level) order.push_back(step.task);
  }
  return order;
}

}  // namespace granary::detail
