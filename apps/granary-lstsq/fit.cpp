// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fit.hpp"

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/printable.hpp>
#include <granary/detail/linalg/algorithms/least_squares.hpp>
#include <granary/detail/linalg/kernels/elementwise_kernels.hpp>
#include <granary/detail/linalg/kernels/fold_rows.hpp>
#include <granary/detail/linalg/kernels/stored_tile.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace granary::app {
namespace {

using detail::TileView;

// Longer tables are for files.
constexpr std::size_t most_lines = 50;

struct Columns {
  Columns(int rows, int cols) : values(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols)) {
    view = {values.data(), rows, cols, std::max(1, rows)};
  }
  std::vector<double> values;
  TileView<double> view;
};

double norm_of(TileView<double const> const& part) { return kernels::sum_of_squares<double>({}, part).root(); }

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

[[noreturn]] void refuse(Model const& model, RankDeficient const& error) {
  auto const name = [&](std::uint64_t column) { return "'" + excerpt(model.predictors[column - 1], 60) + "'"; };
  constexpr std::size_t most = 8;
  auto const& others = error.others();
  std::string what = "zero in every row";
  if (!others.empty()) {
    what = others.size() == 1 ? "a multiple of " : "a linear combination of ";
    for (std::size_t i = 0; i < std::min(most, others.size()); ++i)
      what += (i == 0 ? "" : i + 1 == others.size() ? " and " : ", ") + name(others[i]);
    if (others.size() > most) what += fmt::format(" and {} others", others.size() - most);
  }
  throw InvalidArgument(
      fmt::format("the predictor {} is {}: leave it out, or add --ridge", name(error.column()), what));
}

// The inverse of R, whose rows have the norms of the standard errors in units of σ.
Columns inverse_of(TileView<double const> const& r) {
  Columns inverse(r.rows, r.cols);
  kernels::copy<double, double>(MatrixPart::Upper, false, r, inverse.view);
  static_cast<void>(kernels::trtri(Uplo::Upper, Diag::NonUnit, inverse.view));
  return inverse;
}

// "a, b": as RFC 4180 asks.
std::string csv_field(std::string const& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char const c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

Fit fit_model(Model const& model, std::uint64_t rows, double ridge, double tolerance, TileView<double> triangle) {
  auto const p = static_cast<int>(model.predictors.size()), k = static_cast<int>(model.responses.size());
  Fit fit{.degrees_of_freedom = rows - model.predictors.size(), .condition = 0, .responses = {}};
  // The squares of a response about its mean are those below the first row, which has the share of the ones.
  int const first = model.intercept ? 1 : 0;
  std::vector<double> totals, sizes;
  for (int c = 0; c < k; ++c) {
    totals.push_back(norm_of(kernels::sub<double const>(triangle, first, p + c, p + c + 1 - first, 1)));
    sizes.push_back(norm_of(kernels::sub<double const>(triangle, 0, p + c, p + c + 1, 1)));
  }
  if (ridge > 0) add_ridge(triangle, p, model.intercept, ridge);
  Columns beta(p, k);
  LeastSquares solution;
  try {
    solution = detail::solve_triangle<double>(triangle, tolerance, beta.view);
  } catch (RankDeficient const& error) {
    refuse(model, error);
  }
  fit.condition = solution.condition;
  auto const inverse = inverse_of(kernels::sub<double const>(triangle, 0, 0, p, p));
  for (int c = 0; c < k; ++c) {
    ResponseFit response;
    double penalty = 0;
    for (int j = 0; j < p; ++j) {
      response.coefficients.push_back(beta.view(j, c));
      if (j >= first) penalty += beta.view(j, c) * beta.view(j, c);
    }
    double const norm = solution.residual_norms[static_cast<std::size_t>(c)];
    response.residual_norm = ridge > 0 ? std::sqrt(std::max(0.0, norm * norm - ridge * penalty)) : norm;
    double const total = totals[static_cast<std::size_t>(c)], part = response.residual_norm / total;
    // What is left of a constant column is rounding.
    if (total > tolerance * sizes[static_cast<std::size_t>(c)]) response.r_squared = 1 - part * part;
    if (ridge == 0 && fit.degrees_of_freedom > 0) {
      response.standard_error = response.residual_norm / std::sqrt(static_cast<double>(fit.degrees_of_freedom));
      for (int j = 0; j < p; ++j) {
        response.standard_errors.push_back(*response.standard_error *
                                           norm_of(kernels::sub<double const>(inverse.view, j, j, 1, p - j)));
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
      auto text = fmt::format("{:>15.8g}", estimate);
      if (has_errors) {
        double const error = response.standard_errors[j];
        text += fmt::format(" {:>12.4g} {:>10.4g}", error, estimate / error);
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
      text += fmt::format("{},{},{:.17g}", csv_field(model.responses[c]), csv_field(model.predictors[j]), estimate);
      text += response.standard_errors.empty() ? ",,\n"
                                               : fmt::format(",{:.17g},{:.17g}\n", response.standard_errors[j],
                                                             estimate / response.standard_errors[j]);
    }
  }
  return text;
}

}  // namespace granary::app
