// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <granary/detail/core/base/export.hpp>

namespace granary::detail {

/// A choice of columns of a file, by names or numbers.
class GRANARY_EXPORT ColumnSelection {
 public:
  /// `names` is empty if the file has `columns` columns without names. Both texts outlive the selection.
  ColumnSelection(std::string const& path, std::vector<std::string> const& names, std::uint64_t columns);

  /// Adds a name, a number from 1, or a range of numbers such as "3-5"; a name goes before a number. Throws
  /// InvalidArgument if there is no such column, it was added before, or another one has that name.
  void add(std::string const& column);
  /// Adds the columns that were not added, in their order.
  void add_others();
  /// The columns in the order in which they were added, counted from 0.
  [[nodiscard]] std::vector<std::uint64_t> const& chosen() const { return m_chosen; }
  /// The same. Throws InvalidArgument if two of them have one name.
  [[nodiscard]] std::vector<std::uint64_t> const& columns() const;

 private:
  [[noreturn]] void refuse_same(std::uint64_t first, std::uint64_t second) const;
  void add(std::uint64_t number, std::string const& column);
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> range_of(std::string const& column) const;

  std::string const& m_path;
  std::vector<std::string> const& m_names;
  std::vector<bool> m_is_chosen;
  std::vector<std::uint64_t> m_chosen;
};

}  // namespace granary::detail
