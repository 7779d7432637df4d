// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "info.hpp"

#include <granary/core/base/printable.hpp>
#include <granary/linalg/files/matrix_market.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace granary::app {
namespace {

using Json = nlohmann::ordered_json;
using Arrangement = MatrixFileInfo::Arrangement;

std::string arrangement_of(MatrixFileInfo const& info) {
  auto chunks =
      info.chunk_rows == 0 ? std::string() : fmt::format("chunks of {} x {}", info.chunk_rows, info.chunk_cols);
  if (info.arrangement == Arrangement::Chunked) return chunks;
  if (info.arrangement == Arrangement::ThroughHdf5)
    return chunks.empty() ? "read through HDF5" : chunks + ", read through HDF5";
  return fmt::format("{} by {}{}", info.column_major ? "column" : "row", info.column_major ? "column" : "row",
                     info.swapped ? ", other byte order" : "");
}

struct Line {
  std::string name;
  std::uint64_t rows;
  std::uint64_t cols;
  ScalarType type;
  std::string arrangement;
};

Json json_of(Line const& line) {
  return {{"name", line.name},
          {"rows", line.rows},
          {"cols", line.cols},
          {"type", name_of(line.type)},
          {"bytes", matrix_bytes(line.name, line.rows, line.cols, line.type)},
          {"arrangement", line.arrangement}};
}

std::string text_of(Line const& line) {
  return fmt::format("{}: {} x {} {}, {}, {}\n", line.name, line.rows, line.cols, name_of(line.type),
                     format_bytes(matrix_bytes(line.name, line.rows, line.cols, line.type)), line.arrangement);
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
  if (is_matrix_market(options.input)) {
    lines.push_back(line_of(open_matrix_market(options.input)));
  } else {
    auto listing = list_matrices(options.input);
    others = std::move(listing.others);
    for (auto const& info : listing.matrices)
      lines.push_back({info.name(), info.rows, info.cols, info.scalar_type, arrangement_of(info)});
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
