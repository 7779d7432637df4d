// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/runtime/read_csv.hpp>

namespace granary {

CsvTable read_csv(std::string const& path, CsvOptions const& options) {
  auto const info = open_csv(path, options);
  CsvTable table{.values = decltype(CsvTable::values)(Kokkos::view_alloc(Kokkos::WithoutInitializing, path), info.rows,
                                                      info.cols()),
                 .columns = info.columns};
  CsvRows rows(info, CsvRows::Values::Any);
  std::vector<double> row(info.cols());
  for (std::uint64_t i = 0; i < info.rows; ++i) {
    rows.next(row.data());
    for (std::uint64_t j = 0; j < row.size(); ++j) table.values(i, j) = row[j];
  }
  rows.require_end();
  return table;
}

}  // namespace granary
