// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/files/market_text.hpp>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include <granary/detail/core/base/checked.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/printable.hpp>

namespace granary {
namespace {

using Symmetry = MatrixMarketInfo::Symmetry;
constexpr std::string_view banner = "%%matrixmarket";
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view take_word(std::string_view& text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  auto const end = std::find_if(text.begin(), text.end(), is_blank);
  auto const word = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(word.size());
  return word;
}

bool has_nothing(std::string_view text) { return take_word(text).empty(); }

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
  info.rows = take_size(reader, rest, "rows", largest_extent);
  info.cols = take_size(reader, rest, "columns", largest_extent);
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
  static_cast<void>(matrix_bytes(info.path, info.rows, info.cols, info.scalar_type));
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

namespace detail {

LineReader::LineReader(std::string const& path) : m_path(path) {
  errno = 0;
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) throw InvalidArgument("cannot open " + path + ": it is a directory");
  m_file.open(path, std::ios::binary);
  if (!m_file) throw InvalidArgument("cannot open " + path + ": " + std::generic_category().message(errno));
}

bool LineReader::next(std::string& line) {
  constexpr std::size_t longest = 4096;
  line.clear();
  auto* source = m_file.rdbuf();
  ++m_line;
  for (;;) {
    auto const c = source->sbumpc();
    if (c == std::char_traits<char>::eof()) return !line.empty();
    ++m_byte;
    if (c == '\n') return true;
    if (line.size() == longest) fail("the line is longer than " + std::to_string(longest) + " characters");
    line.push_back(static_cast<char>(c));
  }
}

void LineReader::skip_to(std::uint64_t byte, std::uint64_t line) {
  m_file.seekg(static_cast<std::streamoff>(byte));
  m_byte = byte;
  m_line = line;
}

void LineReader::fail(std::string const& what) const {
  throw DataError(m_path + ", line " + std::to_string(m_line) + ": " + what);
}

MarketEntries::MarketEntries(MatrixMarketInfo const& info) : m_info(info), m_reader(info.path) {
  m_reader.skip_to(info.header_bytes, info.header_lines);
  if (info.symmetry == Symmetry::Skew) m_row = 1;
}

bool MarketEntries::next_values() {
  while (m_reader.next(m_line)) {
    if (!has_nothing(m_line) && m_line.front() != '%') return true;
  }
  return false;
}

double MarketEntries::number(std::string_view& text) {
  auto word = take_word(text);
  if (word.starts_with('+')) word.remove_prefix(1);
  // Fortran writes 1.5D2.
  std::string with_e;
  if (auto const d = word.find_first_of("dD"); d != std::string_view::npos && d > 0) {
    with_e = std::string(word).replace(d, 1, "e");
    word = with_e;
  }
  double value = 0;
  auto const [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
  bool const out_of_range = code == std::errc::result_out_of_range;
  if (word.empty() || end != word.data() + word.size() || (code != std::errc{} && !out_of_range))
    m_reader.fail("'" + excerpt(m_line, 80) + "' is not an entry of this matrix");
  // 0 means underflow of the text's number, infinity overflow.
  if (out_of_range) value = std::strtod(std::string(word).c_str(), nullptr);
  if (!std::isfinite(value)) m_reader.fail(std::string("the matrix holds ") + (std::isnan(value) ? "NaN" : "infinity"));
  return value;
}

std::uint64_t MarketEntries::index(std::string_view& text, std::uint64_t extent) {
  auto const word = take_word(text);
  std::uint64_t value = 0;
  auto const [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (word.empty() || code != std::errc{} || end != word.data() + word.size())
    m_reader.fail("'" + excerpt(m_line, 80) + "' is not an entry of this matrix");
  if (value == 0 || value > extent)
    m_reader.fail("index " + std::to_string(value) + " is not from 1 to " + std::to_string(extent));
  return value - 1;
}

void MarketEntries::step() {
  if (++m_row < m_info.rows) return;
  ++m_col;
  m_row = m_info.symmetry == Symmetry::General ? 0 : m_info.symmetry == Symmetry::Skew ? m_col + 1 : m_col;
}

MarketEntries::Entry MarketEntries::next() {
  if (!next_values()) {
    m_reader.fail("the file ends after " + std::to_string(m_read) + " of " + std::to_string(m_info.entries) +
                  " entries");
  }
  std::string_view rest = m_line;
  Entry entry{m_row, m_col, {}};
  if (m_info.coordinate) {
    entry.row = index(rest, m_info.rows);
    entry.col = index(rest, m_info.cols);
    auto const place = [&] {
      return "entry (" + std::to_string(entry.row + 1) + ", " + std::to_string(entry.col + 1) + ")";
    };
    if (m_info.symmetry != Symmetry::General && entry.row < entry.col)
      m_reader.fail(place() + " is above the diagonal, but the file holds the lower triangle");
    if (m_info.symmetry == Symmetry::Skew && entry.row == entry.col)
      m_reader.fail(place() + " is on the diagonal of a skew-symmetric matrix");
  } else {
    step();
  }
  double const real = number(rest);
  entry.value = {real, is_complex_type(m_info.scalar_type) ? number(rest) : 0};
  if (!has_nothing(rest)) m_reader.fail("'" + excerpt(m_line, 80) + "' is not an entry of this matrix");
  ++m_read;
  return entry;
}

void MarketEntries::require_end() {
  if (next_values()) m_reader.fail("there is text after the last of " + std::to_string(m_info.entries) + " entries");
}

}  // namespace detail
}  // namespace granary
