// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fit.hpp"

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/printable.hpp>
#include <granary/detail/linalg/algorithms/least_squares.hpp>
#include <granary/detail/linalg/kernels/fold_rows.hpp>
#include <granary/detail/linalg/kernels/owned_tile.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace granary::app {
namespace {

using detail::TileView;

// Longer tables are for files.
constexpr std::size_t most_lines = 50;

using Columns = kernels::OwnedTile<double>;
using kernels::norm_of;

// Rows √λ e_j, whose sum of squares is the penalty.
void add_ridge(TileView<double> const& triangle, int predictors, bool intercept, double ridge) {
  int const first = intercept ? 1 : 0;
  std::vector<double> workspace(kernels::fold_workspace<double>(triangle.cols));
  kernels::fold_rows<double>(
      triangle, predictors - first,
      [&](int row, TileView<double> slice) {
        kernels::set(MatrixPart::All, 0.0, 0.0, slice);
        for (int i = 0; i < slice.rows; ++i) slice(i, first + row + i) = std::sqrt(ridge);
      },
      workspace.data());
}

// The triangle of the same rows without one column.
Columns without_column(TileView<double const> const& triangle, int column) {
  int const order = triangle.cols - 1;
  Columns rest(order, order);
  std::vector<double> workspace(kernels::fold_workspace<double>(order));
  kernels::fold_rows<double>(
      rest.view, triangle.rows,
      [&](int first, TileView<double> slice) {
        for (int j = 0; j < order; ++j) {
          int const from = j < column ? j : j + 1;
          for (int i = 0; i < slice.rows; ++i) slice(i, j) = first + i <= from ? triangle(first + i, from) : 0;
        }
      },
      workspace.data());
  return rest;
}

[[noreturn]] void refuse(Model const& model, std::vector<int> const& kept, FitOptions const& options,
                         RankDeficient const& error) {
  auto const name = [&](std::uint64_t column) {
    return "'" + excerpt(model.predictors[static_cast<std::size_t>(kept[column - 1])], 60) + "'";
  };
  constexpr std::size_t most = 8;
  auto const& others = error.others();
  std::string what = model.weighted ? "zero in every row of a weight above 0" : "zero in every row";
  if (!others.empty()) {
    what = others.size() == 1 ? "a multiple of " : "a linear combination of ";
    for (std::size_t i = 0; i < std::min(most, others.size()); ++i)
      what += (i == 0 ? "" : i + 1 == others.size() ? " and " : ", ") + name(others[i]);
    if (others.size() > most) what += fmt::format(" and {} others", others.size() - most);
  }
  throw InvalidArgument(fmt::format("the predictor {} is {}: {}", name(error.column()), what,
                                    options.ridge > 0        ? "leave it out, or use a larger --ridge"
                                    : options.drop_dependent ? "no predictor is left"
                                                             : "leave it out, or add --drop-dependent or --ridge"));
}

Columns copy_of(TileView<double const> const& a) {
  Columns copied(a.rows, a.cols);
  kernels::copy<double, double>(MatrixPart::All, false, a, copied.view);
  return copied;
}

// ‖y - X β‖₂ from the triangle of [X Y], y in the given column; NaN in β counts as zero.
double residual_norm(TileView<double const> const& triangle, std::vector<double> const& beta, int column) {
  Columns rest(column + 1, 1);
  for (int i = 0; i <= column; ++i) {
    double sum = triangle(i, column);
    for (int j = i; j < static_cast<int>(beta.size()); ++j) {
      double const factor = beta[static_cast<std::size_t>(j)];
      if (!std::isnan(factor)) sum -= triangle(i, j) * factor;
    }
    rest.view(i, 0) = sum;
  }
  return norm_of(rest.view);
}

// The standard errors in units of σ: the norms of the rows of R⁻¹. Columns of R get norm 1 first, since their units may
// be far apart.
std::vector<double> unit_errors(TileView<double const> const& r) {
  kernels::UnitColumns<double> const columns(r);
  auto const& inverse = columns.unit.view;
  static_cast<void>(kernels::trtri(Uplo::Upper, Diag::NonUnit, inverse));
  std::vector<double> errors;
  for (int j = 0; j < r.cols; ++j)
    errors.push_back(norm_of(kernels::sub(inverse, j, j, 1, r.cols - j)) / columns.norms[static_cast<std::size_t>(j)]);
  return errors;
}

// "a, b": as RFC 4180 asks.
std::string csv_field(std::string const& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char const c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

Fit fit_model(Model const& model, std::uint64_t rows, FitOptions const& options, TileView<double> triangle) {
  auto const p = static_cast<int>(model.predictors.size()), k = static_cast<int>(model.responses.size());
  // The squares of a response about its mean are those below the first row, which has the share of the ones.
  int const first = model.intercept ? 1 : 0;
  std::vector<double> totals, sizes;
  for (int c = 0; c < k; ++c) {
    totals.push_back(norm_of(kernels::sub<double const>(triangle, first, p + c, p + c + 1 - first, 1)));
    sizes.push_back(norm_of(kernels::sub<double const>(triangle, 0, p + c, p + c + 1, 1)));
  }
  // Without the ridge, for the residuals.
  Columns const before = options.ridge > 0 ? copy_of(triangle) : Columns(0, 0);
  if (options.ridge > 0) add_ridge(triangle, p, model.intercept, options.ridge);
  std::vector<int> kept(model.predictors.size());
  std::iota(kept.begin(), kept.end(), 0);
  Columns reduced(0, 0), beta(p, k);
  auto upper = triangle;
  LeastSquares solution;
  for (bool solved = false; !solved;) {
    try {
      solution = detail::solve_triangle<double>(upper, options.tolerance, beta.view);
      solved = true;
    } catch (RankDeficient const& error) {
      if (!options.drop_dependent || kept.size() == 1) refuse(model, kept, options, error);
      auto const column = static_cast<int>(error.column()) - 1;
      reduced = without_column(upper, column);
      upper = reduced.view;
      kept.erase(kept.begin() + column);
      beta = Columns(static_cast<int>(kept.size()), k);
    }
  }
  int const order = static_cast<int>(kept.size());
  Fit fit{.degrees_of_freedom = rows - std::min<std::uint64_t>(rows, kept.size()),
          .condition = solution.condition,
          .responses = {}};
  auto const errors = unit_errors(kernels::sub<double const>(upper, 0, 0, order, order));
  for (int c = 0; c < k; ++c) {
    ResponseFit response;
    response.coefficients.assign(model.predictors.size(), std::numeric_limits<double>::quiet_NaN());
    for (int j = 0; j < order; ++j)
      response.coefficients[static_cast<std::size_t>(kept[static_cast<std::size_t>(j)])] = beta.view(j, c);
    response.residual_norm = options.ridge > 0 ? residual_norm(before.view, response.coefficients, p + c)
                                               : solution.residual_norms[static_cast<std::size_t>(c)];
    double const total = totals[static_cast<std::size_t>(c)], part = response.residual_norm / total;
    // What is left of a constant column is rounding.
    if (total > options.tolerance * sizes[static_cast<std::size_t>(c)]) response.r_squared = 1 - part * part;
    if (options.ridge == 0 && fit.degrees_of_freedom > 0) {
      response.standard_error = response.residual_norm / std::sqrt(static_cast<double>(fit.degrees_of_freedom));
      response.standard_errors.assign(model.predictors.size(), std::numeric_limits<double>::quiet_NaN());
      for (int j = 0; j < order; ++j) {
        response.standard_errors[static_cast<std::size_t>(kept[static_cast<std::size_t>(j)])] =
            *response.standard_error * errors[static_cast<std::size_t>(j)];
      }
    }
    fit.responses.push_back(std::move(response));
  }
  return fit;
}

void add_fit(Report& report, Model const& model, Fit const& fit) {
  auto list = nlohmann::ordered_json::array();
  for (std::size_t c = 0; c < fit.responses.size(); ++c) {
    auto const& response = fit.responses[c];
    bool const has_errors = !response.standard_errors.empty();
    report.line("response", excerpt(model.responses[c], 60));
    report.line("", has_errors ? fmt::format("{:>15} {:>12} {:>10}", "estimate", "std. error", "t value")
                               : fmt::format("{:>15}", "estimate"));
    for (std::size_t j = 0; j < std::min(most_lines, model.predictors.size()); ++j) {
      double const estimate = response.coefficients[j];
      bool const dropped = std::isnan(estimate);
      auto text = dropped ? fmt::format("{:>15}", "dropped") : fmt::format("{:>15.8g}", estimate);
      if (has_errors && !dropped) {
        double const error = response.standard_errors[j];
        text += fmt::format(" {:>12.4g}", error);
        if (error > 0) text += fmt::format(" {:>10.4g}", estimate / error);
      }
      report.line("  " + excerpt(model.predictors[j], 20), text);
    }
    if (model.predictors.size() > most_lines) {
      report.line("",
                  fmt::format("and {} more: --coefficients FILE.csv has all", model.predictors.size() - most_lines));
    }
    if (response.standard_error) {
      report.line("residual error",
                  fmt::format("{:.6g} on {} degrees of freedom", *response.standard_error, fit.degrees_of_freedom));
    }
    report.line("R squared", response.r_squared
                                 ? fmt::format("{:.6f}{}", *response.r_squared, model.intercept ? "" : ", about zero")
                                 : "none: the response is constant");
    nlohmann::ordered_json one{{"response", model.responses[c]}, {"coefficients", response.coefficients}};
    if (has_errors) one["standard_errors"] = response.standard_errors;
    if (response.standard_error) one["residual_standard_error"] = *response.standard_error;
    one["residual_norm"] = response.residual_norm;
    if (response.r_squared) one["r_squared"] = *response.r_squared;
    list.push_back(std::move(one));
  }
  report.line("condition", fmt::format("{:.3g}, of columns of norm 1", fit.condition));
  report.value("predictors", model.predictors);
  report.value("degrees_of_freedom", fit.degrees_of_freedom);
  report.value("condition", fit.condition);
  report.value("fits", list);
}

std::string coefficients_as_csv(Model const& model, Fit const& fit) {
  std::string text = "response,term,estimate,std_error,t_value\n";
  for (std::size_t c = 0; c < fit.responses.size(); ++c) {
    auto const& response = fit.responses[c];
    for (std::size_t j = 0; j < model.predictors.size(); ++j) {
      double const estimate = response.coefficients[j];
      text += csv_field(model.responses[c]) + "," + csv_field(model.predictors[j]) + ",";
      if (!std::isnan(estimate)) text += fmt::format("{:.17g}", estimate);
      double const error = response.standard_errors.empty() ? 0 : response.standard_errors[j];
      text += response.standard_errors.empty() || std::isnan(estimate) ? "," : fmt::format(",{:.17g}", error);
      text += error > 0 ? fmt::format(",{:.17g}\n", estimate / error) : ",\n";
    }
  }
  return text;
}

}  // namespace granary::app
