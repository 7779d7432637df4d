// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "info.hpp"

#include <granary/detail/core/base/printable.hpp>
#include <granary/detail/linalg/files/csv_file.hpp>
#include <granary/detail/linalg/files/matrix_file.hpp>
#include <granary/detail/linalg/files/matrix_market.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace granary::app {
namespace {

using Json = nlohmann::ordered_json;
using Arrangement = detail::MatrixFileInfo::Arrangement;

std::string arrangement_of(detail::MatrixFileInfo const& info) {
  bool const vector = info.dimensions == 1;
  auto chunks = info.chunk_rows == 0 ? std::string()
                : vector             ? fmt::format("chunks of {}", info.chunk_rows)
                                     : fmt::format("chunks of {} x {}", info.chunk_rows, info.chunk_cols);
  if (info.arrangement == Arrangement::Chunked) return chunks;
  if (info.arrangement == Arrangement::ThroughHdf5)
    return chunks.empty() ? "read through HDF5" : chunks + ", read through HDF5";
  auto const* const order = vector ? "contiguous" : info.column_major ? "column by column" : "row by row";
  return fmt::format("{}{}", order, info.swapped ? ", other byte order" : "");
}

struct Line {
  std::string name;
  std::uint64_t rows;
  std::uint64_t cols;
  ScalarType type;
  std::string arrangement;
  unsigned dimensions = 2;
  std::vector<std::string> columns = {};  // their names
};

Json json_of(Line const& line) {
  Json json{{"name", line.name},
            {"rows", line.rows},
            {"cols", line.cols},
            {"type", name_of(line.type)},
            {"bytes", detail::matrix_bytes(line.name, line.rows, line.cols, line.type)},
            {"dimensions", line.dimensions},
            {"arrangement", line.arrangement}};
  if (!line.columns.empty()) json["columns"] = line.columns;
  return json;
}

// For people.
std::string names_of(std::vector<std::string> const& columns) {
  return columns.empty() ? "" : ", columns " + excerpts(columns, std::string::npos);
}

std::string text_of(Line const& line) {
  auto const shape =
      line.dimensions == 1 ? fmt::format("vector of {}", line.rows) : fmt::format("{} x {}", line.rows, line.cols);
  return fmt::format("{}: {} {}, {}, {}{}\n", line.name, shape, name_of(line.type),
                     format_bytes(detail::matrix_bytes(line.name, line.rows, line.cols, line.type)), line.arrangement,
                     names_of(line.columns));
}

Line line_of(CsvInfo const& info) {
  auto const separator = info.separator == '\t' ? "tab" : fmt::format("'{}'", info.separator);
  return {info.path,
          info.rows,
          info.cols(),
          ScalarType::Float64,
          fmt::format("CSV, separator {}, {}", separator, info.header ? "with a header" : "without a header"),
          2,
          info.columns};
}

Line line_of(detail::MatrixFileInfo const& info) {
  return {info.name(), info.rows, info.cols, info.scalar_type, arrangement_of(info), info.dimensions, info.columns};
}

Line line_of(MatrixMarketInfo const& info) {
  return {info.path, info.rows, info.cols, info.scalar_type,
          fmt::format("Matrix Market {}, {}, {} entries", info.coordinate ? "coordinate" : "array",
                      name_of(info.symmetry), info.entries)};
}

}  // namespace

std::string describe_file(InfoOptions const& options) {
  std::vector<Line> lines;
  std::vector<std::string> others;
  if (is_csv_name(options.input)) {
    lines.push_back(line_of(open_csv(options.input)));
  } else if (is_matrix_market(options.input)) {
    lines.push_back(line_of(open_matrix_market(options.input)));
  } else {
    auto listing = list_matrices(options.input);
    others = std::move(listing.others);
    for (auto const& info : listing.matrices) lines.push_back(line_of(info));
  }
  if (options.json) {
    Json matrices = Json::array();
    for (auto const& line : lines) matrices.push_back(json_of(line));
    return Json{{"matrices", matrices}, {"others", others}}.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  std::string text;
  for (auto const& line : lines) text += text_of(line);
  for (auto const& other : others) text += "not a matrix: " + other + "\n";
  return printable_lines(text.empty() ? options.input + " holds no dataset\n" : text);
}

}  // namespace granary::app
