// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <string_view>

#include <granary/detail/linalg/files/market_header.hpp>
#include <granary/detail/linalg/files/market_text.hpp>

namespace granary::detail {

/// The entries of a Matrix Market file, in the order of the text.
class MarketEntries {
 public:
  struct Entry {
    std::uint64_t row;
    std::uint64_t col;
    std::complex<double> value;
  };

  explicit MarketEntries(MatrixMarketInfo const& info);

  [[nodiscard]] bool more() const { return m_read < m_info.entries; }
  /// Arrays: the column of the next entry.
  [[nodiscard]] std::uint64_t column() const { return m_col; }
  /// Throws DataError if the entry is missing, malformed, not finite, out of range, or above the diagonal of a file
  /// that holds a triangle.
  [[nodiscard]] Entry next();
  /// Throws DataError if there is text after the last entry.
  void require_end();

 private:
  [[nodiscard]] bool next_values();
  double number(std::string_view& text);
  std::uint64_t index(std::string_view& text, std::uint64_t extent);
  void step();

  MatrixMarketInfo m_info;
  LineReader m_reader;
  std::string m_line;
  std::uint64_t m_read = 0;
  std::uint64_t m_row = 0;
  std::uint64_t m_col = 0;
};

}  // namespace granary::detail
