// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/algorithms/qr_tree.hpp>

namespace granary::detail {
namespace {

// Of the rows on top of domains: `tops[n]` is the n-th one.
void join(QrTree::Top top, std::vector<std::uint64_t> const& tops, std::vector<Elimination>& all) {
  auto const eliminate = [&](std::size_t pivot, std::size_t row) { all.push_back({tops[pivot], tops[row], true}); };
  switch (top) {
    case QrTree::Top::Flat:
      for (std::size_t row = 1; row < tops.size(); ++row) eliminate(0, row);
      break;
    case QrTree::Top::Binary:
      for (std::size_t step = 1; step < tops.size(); step *= 2) {
        for (std::size_t pivot = 0; pivot + step < tops.size(); pivot += 2 * step) eliminate(pivot, pivot + step);
      }
      break;
    case QrTree::Top::Greedy:
      for (std::size_t left = tops.size(); left > 1; left -= left / 2) {
        for (std::size_t row = left - left / 2; row < left; ++row) eliminate(row - left / 2, row);
      }
      break;
  }
}

}  // namespace

std::vector<Elimination> eliminations(QrTree const& tree, std::uint64_t rows) {
  std::vector<Elimination> all;
  std::vector<std::uint64_t> tops;
  for (std::uint64_t row = 0; row < rows; ++row) {
    if (on_top(tree, row)) {
      tops.push_back(row);
    } else {
      all.push_back({tops.back(), row, false});
    }
  }
  join(tree.top, tops, all);
  return all;
}

}  // namespace granary::detail
