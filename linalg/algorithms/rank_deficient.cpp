// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error_kinds.hpp>
#include <granary/detail/linalg/algorithms/rank_deficient.hpp>

#include <sstream>
#include <string>
#include <utility>

namespace granary {
namespace {

// In every program that can throw it.
[[maybe_unused]] bool const knows_rank_deficient = [] {
  add_error_kind<RankDeficient>(
      "RankDeficient",
      [](RankDeficient const& error) {
        std::ostringstream text;
        text << error.column();
        for (auto const other : error.others()) text << ' ' << other;
        // A zero stands for columns that are not known.
        if (std::string(error.what()) == RankDeficient(error.column()).what()) text << " 0";
        return text.str();
      },
      [](std::string const& text) {
        std::istringstream numbers(text);
        std::uint64_t column = 0;
        numbers >> column;
        std::vector<std::uint64_t> others;
        for (std::uint64_t other = 0; numbers >> other;) others.push_back(other);
        return others == std::vector<std::uint64_t>{0} ? RankDeficient(column)
                                                       : RankDeficient(column, std::move(others));
      });
  return true;
}();

std::string text_of(std::uint64_t column, std::vector<std::uint64_t> const& others) {
  auto text = "column " + std::to_string(column);
  if (others.empty()) return text + " is zero: the columns do not determine a unique solution";
  text += " is ";
  text += others.size() == 1 ? "a multiple of column " : "a linear combination of the columns ";
  // A message names a few.
  constexpr std::size_t most = 8;
  for (std::size_t i = 0; i < std::min(most, others.size()); ++i) {
    if (i > 0) text += i + 1 == others.size() ? " and " : ", ";
    text += std::to_string(others[i]);
  }
  if (others.size() > most) text += " and " + std::to_string(others.size() - most) + " others";
  return text + ": they do not determine a unique solution";
}

}  // namespace

RankDeficient::RankDeficient(std::uint64_t column, std::vector<std::uint64_t> others)
    : Error(text_of(column, others)), m_column(column), m_others(std::move(others)) {}

RankDeficient::RankDeficient(std::uint64_t column)
    : Error("column " + std::to_string(column) +
            " is a linear combination of those before it: they do not determine a unique solution"),
      m_column(column) {}

}  // namespace granary
