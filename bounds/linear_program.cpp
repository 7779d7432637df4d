// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/bounds/linear_program.hpp>
#include <granary/detail/core/base/error.hpp>

#include <ClpSimplex.hpp>
#include <CoinPackedMatrix.hpp>

#include <string>

namespace granary {

namespace {

double clp_bound(double bound) {
  if (bound == LinearProgram::infinity) return COIN_DBL_MAX;
  return bound == -LinearProgram::infinity ? -COIN_DBL_MAX : bound;
}

}  // namespace

LinearSolution solve(LinearProgram const& program) {
  std::vector<int> rows;
  std::vector<int> columns;
  std::vector<double> coefficients;
  std::vector<double> row_lower, row_upper;
  for (std::size_t r = 0; r < program.rows.size(); ++r) {
    row_lower.push_back(clp_bound(program.rows[r].lower));
    row_upper.push_back(clp_bound(program.rows[r].upper));
    for (auto const& entry : program.rows[r].entries) {
      rows.push_back(static_cast<int>(r));
      columns.push_back(static_cast<int>(entry.column));
      coefficients.push_back(entry.coefficient);
    }
  }
  std::vector<double> lower, upper, cost;
  for (auto const& column : program.columns) {
    lower.push_back(clp_bound(column.lower));
    upper.push_back(clp_bound(column.upper));
    cost.push_back(column.cost);
  }
  CoinPackedMatrix matrix(true, rows.data(), columns.data(), coefficients.data(),
                          static_cast<CoinBigIndex>(coefficients.size()));
  matrix.setDimensions(static_cast<int>(program.rows.size()), static_cast<int>(program.columns.size()));
  ClpSimplex simplex;
  simplex.setLogLevel(0);
  simplex.loadProblem(matrix, lower.data(), upper.data(), cost.data(), row_lower.data(), row_upper.data());
  simplex.dual();
  if (!simplex.isProvenOptimal()) {
    throw InternalError("Clp found no optimum of a linear program of " + std::to_string(program.rows.size()) +
                        " rows and " + std::to_string(program.columns.size()) + " columns: status " +
                        std::to_string(simplex.status()));
  }
  LinearSolution solution;
  solution.objective = simplex.objectiveValue();
  auto const* values = simplex.primalColumnSolution();
  solution.columns.assign(values, values + program.columns.size());
  auto const* duals = simplex.dualRowSolution();
  solution.duals.assign(duals, duals + program.rows.size());
  return solution;
}

}  // namespace granary
