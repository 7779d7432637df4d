// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/files/column_selection.hpp>

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/printable.hpp>

namespace granary::detail {
namespace {

constexpr std::size_t longest_excerpt = 60;  // bytes of a text in a message

}  // namespace

ColumnSelection::ColumnSelection(std::string const& path, std::vector<std::string> const& names, std::uint64_t columns)
    : m_path(path), m_names(names), m_is_chosen(columns, false) {}

void ColumnSelection::add(std::string const& column) {
  auto const number = [this](auto name) { return static_cast<std::uint64_t>(name - m_names.begin()); };
  auto const found = column.empty() ? m_names.end() : std::ranges::find(m_names, column);
  if (found != m_names.end()) {
    if (auto const other = std::find(found + 1, m_names.end(), column); other != m_names.end())
      refuse_same(number(found), number(other));
    return add(number(found), column);
  }
  auto const [first, last] = range_of(column);
  for (auto i = first; i <= last; ++i) add(i, column);
}

void ColumnSelection::add_others() {
  for (std::uint64_t i = 0; i < m_is_chosen.size(); ++i) {
    if (!m_is_chosen[i]) add(i, {});
  }
}

std::vector<std::uint64_t> const& ColumnSelection::columns() const {
  std::map<std::string_view, std::uint64_t> known;
  for (auto const column : m_chosen) {
    if (m_names.empty() || m_names[column].empty()) continue;
    auto const [same, is_new] = known.try_emplace(m_names[column], column);
    if (!is_new) refuse_same(same->second, column);
  }
  return m_chosen;
}

void ColumnSelection::refuse_same(std::uint64_t first, std::uint64_t second) const {
  throw InvalidArgument("columns " + std::to_string(first + 1) + " and " + std::to_string(second + 1) + " of " +
                        m_path + " have the same name '" + excerpt(m_names[first], longest_excerpt) +
                        "': choose one of them by its number");
}

void ColumnSelection::add(std::uint64_t number, std::string const& column) {
  if (m_is_chosen[number]) {
    throw InvalidArgument("column " + std::to_string(number + 1) + " of " + m_path +
                          " is chosen twice, the second time as '" + excerpt(column, longest_excerpt) + "'");
  }
  m_is_chosen[number] = true;
  m_chosen.push_back(number);
}

// "3" or "3-5"; the result counts from 0.
std::pair<std::uint64_t, std::uint64_t> ColumnSelection::range_of(std::string const& column) const {
  auto const columns = m_is_chosen.size();
  auto const* const end = column.data() + column.size();
  std::uint64_t first = 0;
  auto parsed = std::from_chars(column.data(), end, first);
  auto last = first;
  if (parsed.ec == std::errc{} && parsed.ptr != end && *parsed.ptr == '-')
    parsed = std::from_chars(parsed.ptr + 1, end, last);
  if (parsed.ec == std::errc::invalid_argument || parsed.ptr != end) {
    throw InvalidArgument(m_path + " has no column '" + excerpt(column, longest_excerpt) + "'; " +
                          (m_names.empty() ? "its columns have no names but the numbers 1 to " + std::to_string(columns)
                                           : "it has " + excerpts(m_names, longest_excerpt)));
  }
  if (parsed.ec != std::errc{} || first == 0 || last > columns || first > last) {
    throw InvalidArgument(m_path + " has columns 1 to " + std::to_string(columns) + ", not " +
                          excerpt(column, longest_excerpt));
  }
  return {first - 1, last - 1};
}

}  // namespace granary::detail
