// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/export.hpp>

#include <cstdint>
#include <vector>

namespace granary {

/// Least squares have no unique solution: a column is zero, or a combination of others up to rounding.
///
/// ```cpp
/// granary::RankDeficient const error(3, {1, 2});
/// assert(error.column() == 3);
/// assert(std::string(error.what()).starts_with("column 3 is a linear combination of the columns 1 and 2"));
/// ```
class GRANARY_EXPORT RankDeficient : public Error {
 public:
  /// Columns are counted from 1; `others` is empty for a column of zeros.
  RankDeficient(std::uint64_t column, std::vector<std::uint64_t> others);
  /// Of columns before it that are not known.
  explicit RankDeficient(std::uint64_t column);

  /// The first column that depends on those before it, counted from 1.
  [[nodiscard]] std::uint64_t column() const { return m_column; }
  /// Those that it is a combination of; empty if it is zero, or if they are not known.
  [[nodiscard]] std::vector<std::uint64_t> const& others() const { return m_others; }

 private:
  std::uint64_t m_column;
  std::vector<std::uint64_t> m_others;
};

}  // namespace granary
