// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/files/market_header.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include <granary/detail/core/base/checked.hpp>
#include <granary/detail/core/base/printable.hpp>
#include <granary/detail/linalg/files/market_text.hpp>
#include <granary/detail/linalg/files/matrix_file_info.hpp>

namespace granary {
namespace {

using detail::has_nothing;
using detail::take_word;
using Symmetry = MatrixMarketInfo::Symmetry;
constexpr std::string_view banner = "%%matrixmarket";
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

void read_banner(detail::LineReader& reader, MatrixMarketInfo& info) {
  std::string line;
  if (!reader.next(line)) reader.fail("a Matrix Market file starts with a line %%MatrixMarket");
  line = lower_case(line);
  std::string_view rest = line;
  if (rest.starts_with(byte_order_mark)) rest.remove_prefix(byte_order_mark.size());
  if (take_word(rest) != banner) reader.fail("a Matrix Market file starts with a line %%MatrixMarket");
  auto const holds = take_word(rest);
  auto const format = take_word(rest);
  auto const field = take_word(rest);
  auto const symmetry = take_word(rest);
  if (holds != "matrix") reader.fail("the file holds a '" + excerpt(holds, 40) + "', not a matrix");
  if (format != "array" && format != "coordinate")
    reader.fail("the format is '" + excerpt(format, 40) + "', neither array nor coordinate");
  info.coordinate = format == "coordinate";
  if (field == "complex") {
    info.scalar_type = ScalarType::Complex128;
  } else if (field != "real" && field != "double" && field != "integer") {
    reader.fail("the element type is '" + excerpt(field, 40) + "', not real, integer or complex");
  }
  info.integer = field == "integer";
  for (auto const known : {Symmetry::General, Symmetry::Symmetric, Symmetry::Hermitian, Symmetry::Skew}) {
    if (symmetry != name_of(known)) continue;
    info.symmetry = known;
    return;
  }
  reader.fail("the symmetry is '" + excerpt(symmetry, 40) + "', not general, symmetric, skew-symmetric or hermitian");
}

std::uint64_t take_size(detail::LineReader& reader, std::string_view& text, std::string const& what,
                        std::uint64_t most) {
  auto const word = take_word(text);
  std::uint64_t size = 0;
  auto const [end, code] = std::from_chars(word.data(), word.data() + word.size(), size);
  if (word.empty()) reader.fail("the size line has no number of " + what);
  if (code != std::errc{} || end != word.data() + word.size() || size > most) {
    reader.fail("the number of " + what + " is '" + excerpt(word, 40) + "', not a whole number up to " +
                std::to_string(most));
  }
  return size;
}

void read_sizes(detail::LineReader& reader, MatrixMarketInfo& info) {
  std::string line;
  do {
    if (!reader.next(line)) reader.fail("the file ends before its size line");
  } while (line.starts_with('%') || has_nothing(line));
  std::string_view rest = line;
  info.rows = take_size(reader, rest, "rows", detail::largest_extent);
  info.cols = take_size(reader, rest, "columns", detail::largest_extent);
  if (info.rows == 0 || info.cols == 0) {
    reader.fail("the matrix is empty: it has " + std::to_string(info.rows) + " x " + std::to_string(info.cols) +
                " elements");
  }
  if (info.symmetry != Symmetry::General && info.rows != info.cols) {
    reader.fail(std::string("a matrix that is ") + name_of(info.symmetry) + " is square, not " +
                std::to_string(info.rows) + " x " + std::to_string(info.cols));
  }
  auto const n = info.rows;
  info.entries = info.coordinate                      ? take_size(reader, rest, "entries", largest_size)
                 : info.symmetry == Symmetry::General ? info.rows * info.cols
                 : info.symmetry == Symmetry::Skew    ? n * (n - 1) / 2
                                                      : n * (n + 1) / 2;
  if (!has_nothing(rest)) {
    reader.fail("the size line '" + excerpt(line, 80) + "' has more than " + (info.coordinate ? "3" : "2") +
                " numbers");
  }
  static_cast<void>(detail::matrix_bytes(info.path, info.rows, info.cols, info.scalar_type));
}

}  // namespace

bool is_matrix_market(std::string const& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  std::ifstream file(path, std::ios::binary);
  std::string start(byte_order_mark.size() + banner.size(), '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  if (start.starts_with(byte_order_mark)) start.erase(0, byte_order_mark.size());
  return lower_case(start).starts_with(banner);
}

MatrixMarketInfo open_matrix_market(std::string const& path) {
  MatrixMarketInfo info;
  info.path = path;
  detail::LineReader reader(path);
  read_banner(reader, info);
  read_sizes(reader, info);
  info.header_bytes = reader.byte();
  info.header_lines = reader.line();
  return info;
}

}  // namespace granary
