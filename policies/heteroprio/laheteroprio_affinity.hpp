// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace granary::detail {

/// The six formulas of LAHeteroprio for the memory node whose list a task joins.
enum class GRANARY_EXPORT Affinity : std::uint8_t {
  LaRU,     ///< the node of the worker that released the task
  MC,       ///< the shortest estimated time of transfers
  LS_SDH,   ///< equation 6: the most bytes there
  LS_SDH2,  ///< equation 7: the same, with written bytes squared
  LS_SDHB,  ///< equation 8: the same, with written bytes times theta and the number of written data
  LC_SMWB,  ///< equation 9: the fewest bytes to bring, with written bytes counted up to twice
};
inline constexpr std::size_t affinities = 6;
inline constexpr std::array<char const*, affinities> affinity_names{"LaRU",    "MC",      "LS_SDH",
                                                                    "LS_SDH2", "LS_SDHB", "LC_SMWB"};

/// A datum of a task: bit c of `on` is set when it is present on column c of the grid.
struct GRANARY_EXPORT AffinityDatum {
  Bytes bytes = 0;
  bool written = false;
  std::uint64_t on = 0;
};

/// The score of column `c` for a task with these data, by one of the equations 6 to 9; higher is better, costs are
/// negative. Exact while squares stay below 2^53, so that ties are detected.
[[nodiscard]] GRANARY_EXPORT double affinity_score(Affinity formula, std::span<AffinityDatum const> data,
                                                   std::size_t column, double theta);

/// The columns of highest score, as bits. O(columns data).
[[nodiscard]] GRANARY_EXPORT std::uint64_t best_columns(Affinity formula, std::span<AffinityDatum const> data,
                                                        std::size_t columns, double theta);

/// LAHeteroprio's automatic choice. Each formula has a BMD counter ("best memory node difference"): the number of tasks
/// for which it chooses another node at the pop than at the push. The formula with the lowest counter chooses the next
/// task's node; on a tie the current one stays.
///
/// A formula's choice differs when the node chosen at the push is no longer among its best: a tie that is broken
/// differently is no difference.
class GRANARY_EXPORT AffinityChoice {
 public:
  /// The formulas that compete.
  static constexpr std::array<Affinity, 4> rivals{Affinity::LS_SDHB, Affinity::LS_SDH2, Affinity::LC_SMWB,
                                                  Affinity::LS_SDH};

  /// Without a given formula the choice is automatic.
  explicit AffinityChoice(std::optional<Affinity> stated) : m_stated(stated) {}

  /// The formula for the next task.
  [[nodiscard]] Affinity formula() const { return m_stated.value_or(m_chosen); }
  /// A task was popped; `differs`: the formula now chooses another node.
  void compared(Affinity formula, bool differs) {
    auto& count = m_differences[static_cast<std::size_t>(formula)];
    if (differs) ++count;
  }
  /// Chooses the formula from the counters again.
  void choose() {
    for (Affinity const rival : rivals) {
      if (differences(rival) < differences(m_chosen)) m_chosen = rival;
    }
  }
  /// The BMD counter.
  [[nodiscard]] std::uint64_t differences(Affinity formula) const {
    return m_differences[static_cast<std::size_t>(formula)];
  }

 private:
  std::optional<Affinity> m_stated;
  Affinity m_chosen = rivals.front();
  std::array<std::uint64_t, affinities> m_differences{};
};

}  // namespace granary::detail
