// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/files/market_entries.hpp>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <system_error>

#include <granary/detail/core/base/printable.hpp>

namespace granary::detail {
namespace {

using Symmetry = MatrixMarketInfo::Symmetry;

}  // namespace

MarketEntries::MarketEntries(MatrixMarketInfo const& info) : m_info(info), m_reader(info.path) {
  m_reader.skip_to(info.header_bytes, info.header_lines);
  if (info.symmetry == Symmetry::Skew) m_row = 1;
}

bool MarketEntries::next_values() {
  while (m_reader.next(m_line)) {
    if (!has_nothing(m_line) && m_line.front() != '%') return true;
  }
  return false;
}

double MarketEntries::number(std::string_view& text) {
  auto word = take_word(text);
  if (word.starts_with('+')) word.remove_prefix(1);
  // Fortran writes 1.5D2.
  std::string with_e;
  if (auto const d = word.find_first_of("dD"); d != std::string_view::npos && d > 0) {
    with_e = std::string(word).replace(d, 1, "e");
    word = with_e;
  }
  double value = 0;
  auto const [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
  bool const out_of_range = code == std::errc::result_out_of_range;
  if (word.empty() || end != word.data() + word.size() || (code != std::errc{} && !out_of_range))
    m_reader.fail("'" + excerpt(m_line, 80) + "' is not an entry of this matrix");
  // 0 means underflow of the text's number, infinity overflow.
  if (out_of_range) value = std::strtod(std::string(word).c_str(), nullptr);
  if (!std::isfinite(value)) m_reader.fail(std::string("the matrix holds ") + (std::isnan(value) ? "NaN" : "infinity"));
  return value;
}

std::uint64_t MarketEntries::index(std::string_view& text, std::uint64_t extent) {
  auto const word = take_word(text);
  std::uint64_t value = 0;
  auto const [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (word.empty() || code != std::errc{} || end != word.data() + word.size())
    m_reader.fail("'" + excerpt(m_line, 80) + "' is not an entry of this matrix");
  if (value == 0 || value > extent)
    m_reader.fail("index " + std::to_string(value) + " is not from 1 to " + std::to_string(extent));
  return value - 1;
}

void MarketEntries::step() {
  if (++m_row < m_info.rows) return;
  ++m_col;
  m_row = m_info.symmetry == Symmetry::General ? 0 : m_info.symmetry == Symmetry::Skew ? m_col + 1 : m_col;
}

MarketEntries::Entry MarketEntries::next() {
  if (!next_values()) {
    m_reader.fail("the file ends after " + std::to_string(m_read) + " of " + std::to_string(m_info.entries) +
                  " entries");
  }
  std::string_view rest = m_line;
  Entry entry{m_row, m_col, {}};
  if (m_info.coordinate) {
    entry.row = index(rest, m_info.rows);
    entry.col = index(rest, m_info.cols);
    auto const place = [&] {
      return "entry (" + std::to_string(entry.row + 1) + ", " + std::to_string(entry.col + 1) + ")";
    };
    if (m_info.symmetry != Symmetry::General && entry.row < entry.col)
      m_reader.fail(place() + " is above the diagonal, but the file holds the lower triangle");
    if (m_info.symmetry == Symmetry::Skew && entry.row == entry.col)
      m_reader.fail(place() + " is on the diagonal of a skew-symmetric matrix");
  } else {
    step();
  }
  double const real = number(rest);
  entry.value = {real, is_complex_type(m_info.scalar_type) ? number(rest) : 0};
  if (!has_nothing(rest)) m_reader.fail("'" + excerpt(m_line, 80) + "' is not an entry of this matrix");
  ++m_read;
  return entry;
}

void MarketEntries::require_end() {
  if (next_values()) m_reader.fail("there is text after the last of " + std::to_string(m_info.entries) + " entries");
}

}  // namespace granary::detail
