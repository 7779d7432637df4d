// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/backends/kokkos_core.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/files/csv_file.hpp>

#include <string>
#include <vector>

namespace granary {

/// Columns of numbers in the application's memory.
struct GRANARY_EXPORT CsvTable {
  /// A row for each line of the file without the header, a column for each one that was read. A column is contiguous.
  Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> values;
  std::vector<std::string> columns;  ///< the names of the columns; empty without a header
};

/// Reads columns of a CSV file, all or the columns of the options; docs/matrix-files.md describes the format. nan and
/// inf are read as such. Kokkos must be initialized. The memory is the application's, 8 bytes for each number; the text
/// is read twice, at first to count its lines. Throws InvalidArgument if the file cannot be opened or a column does not
/// exist; DataError with line and column for a value that is missing or not a number, and for a line with another
/// number of fields than the first one.
///
/// ```cpp
/// #include <fstream>
/// std::ofstream("points.csv") << "name,x,y,value\nA,0,1,2.5\nB,3,4,-1e2\n";
/// auto const points = granary::read_csv("points.csv", {"x", "y", "value"});
/// assert(points.values.extent(0) == 2 && points.columns[2] == "value");
/// assert(points.values(1, 2) == -100);
/// ```
[[nodiscard]] GRANARY_EXPORT CsvTable read_csv(std::string const& path, CsvOptions const& options = {});

/// The same, of columns by their names, numbers from 1, or ranges of numbers such as "3-5".
[[nodiscard]] inline CsvTable read_csv(std::string const& path, std::vector<std::string> const& columns) {
  return read_csv(path, CsvOptions{.columns = columns});
}

}  // namespace granary
