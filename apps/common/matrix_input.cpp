// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "apps/common/matrix_input.hpp"

#include <granary/detail/core/base/checked.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/files/matrix_file.hpp>
#include <granary/detail/linalg/files/open_matrix_source.hpp>
#include <granary/detail/runtime/api/runtime.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace granary::app {

std::unique_ptr<detail::MatrixSource> MatrixInput::open(std::uint64_t tile, MatrixPart part, Runtime& runtime) const {
  return file ? open_matrix_source(*file, tile, part, runtime.session().io(), runtime.options().scratch)
              : open_generated(generated, tile, type);
}

std::vector<std::string> MatrixInput::columns() const {
  if (csv) return csv->columns;
  return file ? file->columns : std::vector<std::string>{};
}

namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

MatrixInput generated_input(std::string const& name, ScalarType type) {
  auto const generated = parse_generated(name);
  static_cast<void>(array_bytes({generated.rows, generated.cols}, size_of(type)));
  return {.name = name,
          .file = std::nullopt,
          .csv = std::nullopt,
          .generated = generated,
          .rows = generated.rows,
          .cols = generated.cols,
          .type = type};
}

// For a misspelt generated matrix such as `genral:2048`, "no file genral" would be a confusing message.
void check_generated(std::string const& name) {
  auto const colon = name.find(':');
  auto const letters = std::string_view(name).substr(0, colon);
  std::error_code ignored;
  if (colon == std::string::npos || !std::ranges::all_of(letters, is_letter)) return;
  // The name of a file, or of a dataset in it, ends with other letters than numbers do.
  constexpr std::string_view of_numbers = "0123456789.+-eEx:";
  if (colon + 1 == name.size() || !is_digit(name[colon + 1]) || std::filesystem::exists(letters, ignored)) return;
  if (name.find_first_not_of(of_numbers, colon) != std::string::npos) return;
  if (!std::filesystem::exists(name, ignored)) static_cast<void>(parse_generated(name));
}

MatrixInput file_input(detail::MatrixFileInfo const& info) {
  return {.name = info.name(),
          .file = info,
          .csv = std::nullopt,
          .generated = {},
          .rows = info.rows,
          .cols = info.cols,
          .type = info.scalar_type};
}

}  // namespace

MatrixInput find_columns(std::string const& name, ScalarType type) {
  check_generated(name);
  return is_generated(name) ? generated_input(name, type) : file_input(open_matrix_file(name));
}

MatrixInput find_matrix(std::string const& name, RunOptions const& options) {
  check_generated(name);
  if ((options.single_precision || options.complex) && !is_generated(name)) {
    throw InvalidArgument(fmt::format("{} applies only to generated matrices; {} is a file",
                                      options.single_precision ? "--float" : "--complex", name));
  }
  auto const real = options.single_precision ? ScalarType::Float32 : ScalarType::Float64;
  auto const complex = options.single_precision ? ScalarType::Complex64 : ScalarType::Complex128;
  return is_generated(name) ? generated_input(name, options.complex ? complex : real)
                            : file_input(open_matrix_file(name));
}

MatrixInput find_table(std::string const& name, RunOptions const& options, CsvOptions const& csv) {
  if (!is_csv_name(name) && csv.separator == 0) {
    if (csv.header) {
      throw InvalidArgument("--header applies to CSV files, and the name of " + name +
                            " does not end in .csv or .tsv: add --separator if it is one");
    }
    return find_matrix(name, options);
  }
  auto const info = open_csv(name, csv);
  return {.name = name,
          .file = std::nullopt,
          .csv = info,
          .generated = {},
          .rows = info.rows,
          .cols = info.cols(),
          .type = ScalarType::Float64};
}

void require_square(MatrixInput const& input) {
  if (input.rows == input.cols) return;
  throw InvalidArgument(
      fmt::format("{} is not square: it has {} rows and {} columns", input.name, input.rows, input.cols));
}

}  // namespace granary::app
