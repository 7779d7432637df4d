// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>

#include <cstddef>
#include <limits>
#include <vector>

namespace granary {

/// Minimise the sum of cost * column under lower <= row <= upper, with every column between its bounds.
struct GRANARY_EXPORT LinearProgram {
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  struct Column {
    double lower = 0;
    double upper = infinity;
    double cost = 0;
  };
  struct Entry {
    std::size_t column;
    double coefficient;
  };
  struct Row {
    double lower = -infinity;
    double upper = infinity;
    std::vector<Entry> entries;  ///< at most one per column
  };
  std::vector<Column> columns;
  std::vector<Row> rows;

  std::size_t add_column(Column column) {
    columns.push_back(column);
    return columns.size() - 1;
  }
};

struct GRANARY_EXPORT LinearSolution {
  double objective = 0;
  std::vector<double> columns;
  std::vector<double> duals;  ///< by row: increase of the objective per unit of the row's bound
};

/// Solves with Clp's dual simplex. Throws InternalError if it finds no optimum: granary's programs all have one.
[[nodiscard]] GRANARY_EXPORT LinearSolution solve(LinearProgram const& program);

}  // namespace granary
