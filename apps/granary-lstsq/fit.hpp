// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/kernels/tile_view.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/common/report.hpp"
#include "model.hpp"

namespace granary::app {

/// The model of one response.
struct ResponseFit {
  std::vector<double> coefficients;     ///< NaN of predictors that were dropped
  std::vector<double> standard_errors;  ///< likewise; empty with a ridge, and without degrees of freedom
  double residual_norm = 0;             ///< ‖y - X β‖₂, of weighted rows
  /// About the mean if there is an intercept, else about zero; none of a constant response.
  std::optional<double> r_squared = {};
  std::optional<double> standard_error = {};  ///< of the residuals
};

/// A fitted model.
struct Fit {
  std::uint64_t degrees_of_freedom = 0;
  double condition = 0;  ///< LeastSquares::condition
  std::vector<ResponseFit> responses;
};

struct FitOptions {
  double ridge = 0;             ///< λ of λ ‖β‖², without the intercept
  bool drop_dependent = false;  ///< predictors that depend on those before them are left out
  double tolerance = 0;         ///< rank_tolerance of the data's precision
};

/// Fits the model from the upper triangle of [X Y] = Q U, X with `rows` rows. The triangle is overwritten. Throws
/// InvalidArgument, with the names of the columns, if a predictor depends on others, unless it is dropped; NotFinite.
[[nodiscard]] Fit fit_model(Model const& model, std::uint64_t rows, FitOptions const& options,
                            detail::TileView<double> triangle);

/// Adds the fit to a summary.
void add_fit(Report& report, Model const& model, Fit const& fit);

/// CSV with a line for each response and coefficient: response, term, estimate, std_error, t_value.
[[nodiscard]] std::string coefficients_as_csv(Model const& model, Fit const& fit);

}  // namespace granary::app
