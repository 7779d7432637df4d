// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/heteroprio/laheteroprio_affinity.hpp>

namespace granary::detail {

double affinity_score(Affinity formula, std::span<AffinityDatum const> data, std::size_t column, double theta) {
  double read_here = 0;
  double written_here = 0;
  double squares_here = 0;
  double written_count_here = 0;
  double read_away = 0;
  double written_away = 0;
  double written_count = 0;
  for (auto const& datum : data) {
    double const bytes = static_cast<double>(datum.bytes);
    bool const here = ((datum.on >> column) & 1U) != 0;
    if (datum.written) {
      ++written_count;
      if (here) ++written_count_here;
      (here ? written_here : written_away) += bytes;
      if (here) squares_here += bytes * bytes;
    } else {
      (here ? read_here : read_away) += bytes;
    }
  }
  double const count = static_cast<double>(data.size());
  switch (formula) {
    case Affinity::LS_SDH:
      return read_here + written_here;
    case Affinity::LS_SDH2:
      return read_here + squares_here;
    case Affinity::LS_SDHB:
      return read_here + theta * written_count_here * written_here;
    case Affinity::LC_SMWB:
      // Multiplied by the number of data, which is the same for all columns: integers do not round.
      return -(read_away * count + written_away * (2 * count - written_count));
    case Affinity::LaRU:
    case Affinity::MC:
      break;
  }
  return 0;
}

std::uint64_t best_columns(Affinity formula, std::span<AffinityDatum const> data, std::size_t columns, double theta) {
  std::uint64_t best = 0;
  double highest = 0;
  for (std::size_t c = 0; c < columns; ++c) {
    double const score = affinity_score(formula, data, c, theta);
    if (best != 0 && score < highest) continue;
    if (best == 0 || score > highest) best = 0;
    highest = score;
    best |= std::uint64_t{1} << c;
  }
  return best;
}

}  // namespace granary::detail
