// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "model.hpp"

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/files/column_selection.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace granary::app {
namespace {

using detail::ColumnChoice;
using detail::ColumnSelection;

std::string name_of_column(MatrixInput const& input, std::uint64_t column) {
  auto const names = input.columns();
  return names.empty() || names[column].empty() ? fmt::format("column {}", column + 1) : names[column];
}

void check_shapes(MatrixInput const& data, MatrixInput const& second) {
  if (second.rows != data.rows) {
    throw InvalidArgument(
        fmt::format("{} has {} rows, and the responses in {} have {}", data.name, data.rows, second.name, second.rows));
  }
  if (second.type != data.type) {
    throw InvalidArgument(fmt::format("{} holds {} and {} holds {}: convert one of them", data.name, name_of(data.type),
                                      second.name, name_of(second.type)));
  }
}

// Columns of the data in the order responses, weights, predictors: what is named comes before "all others".
struct Roles {
  std::vector<std::uint64_t> predictors, responses;
  std::optional<std::uint64_t> weights;
};

Roles choose(ModelOptions const& options, MatrixInput const& data) {
  auto const names = data.columns();
  ColumnSelection selection(data.name, names, data.cols);
  for (auto const& column : options.responses) selection.add(column);
  auto const responses = selection.columns().size();
  for (auto const& column : options.weights) selection.add(column);
  auto const named = selection.columns().size();
  if (named > responses + 1) throw InvalidArgument("--weights takes one column, not several");
  for (auto const& column : options.predictors) selection.add(column);
  if (options.predictors.empty()) selection.add_others();
  auto const& all = selection.columns();
  auto const at = [&](std::size_t number) { return all.begin() + static_cast<std::ptrdiff_t>(number); };
  Roles roles{.predictors = {at(named), all.end()}, .responses = {all.begin(), at(responses)}, .weights = {}};
  if (named > responses) roles.weights = all[responses];
  return roles;
}

// Of a CSV file only these columns are read, in this order.
void read_only(CsvInfo& csv, Roles& roles) {
  auto const before = csv;
  csv.fields_read.clear();
  csv.columns.clear();
  auto const keep = [&](std::uint64_t& column) {
    csv.fields_read.push_back(before.fields_read[column]);
    if (!before.columns.empty()) csv.columns.push_back(before.columns[column]);
    column = csv.fields_read.size() - 1;
  };
  for (auto& column : roles.predictors) keep(column);
  for (auto& column : roles.responses) keep(column);
  if (roles.weights) keep(*roles.weights);
}

}  // namespace

Model make_model(ModelOptions const& options, MatrixInput& data, MatrixInput const* second) {
  if (second != nullptr) {
    check_shapes(data, *second);
    if (!options.responses.empty())
      throw InvalidArgument(fmt::format("the responses are the columns of {}: leave out --response", second->name));
  } else if (options.responses.empty()) {
    throw InvalidArgument("name the response: --response COLUMN, or a second file with the responses");
  }
  if (is_complex_type(data.type))
    throw InvalidArgument(fmt::format("{} holds {}: a linear model is of real numbers", data.name, name_of(data.type)));
  auto roles = choose(options, data);
  Model model{.predictors = {},
              .responses = {},
              .intercept = options.intercept,
              .weighted = !options.weights.empty(),
              .choice = {}};
  if (options.intercept) model.predictors.emplace_back("(intercept)");
  for (auto const column : roles.predictors) model.predictors.push_back(name_of_column(data, column));
  for (auto const column : roles.responses) model.responses.push_back(name_of_column(data, column));
  if (data.csv) {
    read_only(*data.csv, roles);
    data.cols = data.csv->cols();
  }
  if (options.intercept) model.choice.columns.push_back(ColumnChoice::ones);
  for (auto const* part : {&roles.predictors, &roles.responses})
    model.choice.columns.insert(model.choice.columns.end(), part->begin(), part->end());
  for (std::uint64_t column = 0; second != nullptr && column < second->cols; ++column) {
    model.responses.push_back(second->cols == 1 && second->columns().empty() ? second->name
                                                                             : name_of_column(*second, column));
    model.choice.columns.push_back(data.cols + column);
  }
  model.choice.weights = roles.weights;
  if (model.predictors.empty())
    throw InvalidArgument(fmt::format("{} has no column that could be a predictor", data.name));
  if (data.rows < model.predictors.size() && !options.fewer_rows) {
    throw InvalidArgument(fmt::format("{} has {} rows for {} coefficients: least squares need at least as many rows",
                                      data.name, data.rows, model.predictors.size()));
  }
  return model;
}

}  // namespace granary::app
