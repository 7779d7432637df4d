// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/files/csv_file.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/printable.hpp>
#include <granary/detail/linalg/files/column_selection.hpp>
#include <granary/detail/linalg/files/csv_text.hpp>
#include <granary/detail/linalg/files/matrix_file_info.hpp>
#include <granary/detail/linalg/files/scalar_dispatch.hpp>
#include <granary/detail/linalg/files/tile_memory.hpp>

namespace granary {
namespace {

using detail::CsvText;
using detail::CsvValue;
using Names = std::vector<std::string>;

constexpr std::size_t longest_excerpt = 60;  // bytes of a text in a message
constexpr std::uint64_t rows_between = 1024;
constexpr Bytes longest_header = 64_MiB;

Names read_first_line(CsvText& text) {
  Names fields;
  Bytes bytes = 0;
  while (text.has_field()) {
    fields.emplace_back(text.field());
    bytes += fields.back().size() + sizeof(std::string);
    if (bytes > longest_header)
      text.fail("the fields of the first line take more than " + format_bytes(longest_header));
  }
  return fields;
}

bool is_header(Names const& fields) {
  bool has_text = false;
  for (auto const& field : fields) {
    double ignored = 0;
    auto const value = detail::parse_field(field, ignored);
    if (value == CsvValue::Number || value == CsvValue::TooLarge) return false;
    has_text = has_text || value == CsvValue::Text;
  }
  return has_text;
}

void require_extent(std::string const& path, std::uint64_t extent, std::string const& what) {
  if (extent <= detail::largest_extent) return;
  throw DataError(path + " has " + std::to_string(extent) + " " + what + "; at most " +
                  std::to_string(detail::largest_extent) + " can be read");
}

// Rows of tiles of an output, in memory.
class Strip {
 public:
  explicit Strip(detail::MatrixOutput& output)
      : m_output(output),
        m_stride(round_up(output.largest_tile_bytes(), detail::io_alignment)),
        m_memory(detail::allocate_tiles(output.tiling().tile_cols() * m_stride)) {}

  // The row r of the strip, in the tile column j.
  template <class T>
  [[nodiscard]] T* row(std::uint64_t r, std::uint64_t j) {
    return reinterpret_cast<T*>(m_memory.get() + j * m_stride) + r * m_output.tiling().cols_in(j);
  }
  // Waits for the last write.
  void begin() { m_pending.require(0); }
  void write(std::uint64_t i) {
    for (std::uint64_t j = 0; j < m_output.tiling().tile_cols(); ++j) {
      auto const slot = m_output.tiling().slot(i, j);
      m_output.write_async(slot, m_memory.get() + j * m_stride, m_output.tile_bytes(slot), m_pending.one());
    }
  }

 private:
  detail::MatrixOutput& m_output;
  Bytes m_stride;
  detail::TileMemory m_memory;
  detail::PendingIo m_pending;  // ends before the memory
};

// Scatters a row of the matrix into the tiles of a strip.
template <class T>
void put_row(std::vector<double> const& values, Strip& strip, std::uint64_t r, detail::TileGrid const& grid,
             CsvRows const& rows) {
  for (std::uint64_t j = 0; j < grid.tile_cols(); ++j) {
    auto* const to = strip.row<T>(r, j);
    for (std::uint64_t c = 0; c < grid.cols_in(j); ++c) {
      auto const value = values[grid.first(j) + c];
      to[c] = detail::convert_scalar<T>(value);
      if (!std::isfinite(std::real(to[c])))
        rows.fail(grid.first(j) + c, "the number is too large for single precision");
    }
  }
}

template <class T>
void read_into(CsvInfo const& info, detail::MatrixOutput& output, Bytes memory, detail::Between const& between) {
  auto const& grid = output.tiling();
  std::vector<std::unique_ptr<Strip>> strips;
  auto const count = std::min<std::uint64_t>(memory / csv_memory(grid, output.scalar_type()), 2);
  while (strips.size() < std::min(count, grid.tile_rows())) strips.push_back(std::make_unique<Strip>(output));
  CsvRows rows(info, CsvRows::Values::Finite);
  std::vector<double> values(grid.cols);
  for (std::uint64_t i = 0; i < grid.tile_rows(); ++i) {
    auto& strip = *strips[i % strips.size()];
    strip.begin();
    for (std::uint64_t r = 0; r < grid.rows_in(i); ++r) {
      if (between && r % rows_between == 0) between();
      rows.next(values.data());
      put_row<T>(values, strip, r, grid, rows);
    }
    strip.write(i);
  }
  for (auto const& strip : strips) strip->begin();
  rows.require_end();
}

}  // namespace

bool is_csv_name(std::string const& path) {
  auto ending = std::filesystem::path(path).extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending == ".csv" || ending == ".tsv";
}

std::vector<std::string> split_csv_line(std::string_view line) {
  Names fields(1);
  bool quoted = false;
  for (std::size_t k = 0; k < line.size(); ++k) {
    if (line[k] == '"') {
      bool const doubled = quoted && k + 1 < line.size() && line[k + 1] == '"';
      if (doubled) fields.back() += line[k++];
      if (!doubled) quoted = !quoted;
    } else if (line[k] == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += line[k];
    }
  }
  if (quoted) throw InvalidArgument("a quote has no end in the columns '" + excerpt(line, longest_excerpt) + "'");
  return fields;
}

char checked_separator(std::string_view text) {
  constexpr std::string_view possible = ",;|:!#$%&*/<=>?@^_~";
  if (text == "\t" || (text.size() == 1 && possible.find(text) != possible.npos)) return text.front();
  throw InvalidArgument("the separator is '" + excerpt(text, longest_excerpt) + "', neither tab nor one of " +
                        std::string(possible));
}

CsvInfo open_csv(std::string const& path, CsvOptions const& options) {
  if (options.separator != 0) checked_separator({&options.separator, 1});
  CsvText text(path, ',');
  CsvInfo info;
  info.path = path;
  info.separator = options.separator != 0 ? options.separator : text.detect_separator();
  text.set_separator(info.separator);
  if (!text.next_record()) throw DataError(path + " has no rows: it is empty");
  auto const first = read_first_line(text);
  info.header = options.header || is_header(first);
  info.fields = first.size();
  info.rows = detail::count_records(path) - (info.header ? 1 : 0);
  if (info.rows == 0) throw DataError(path + " has no rows below its header");
  require_extent(path, info.rows, "rows");
  auto const names = info.header ? first : Names{};
  detail::ColumnSelection selection(path, names, info.fields);
  for (auto const& column : options.columns) selection.add(column);
  if (options.columns.empty()) selection.add_others();
  info.fields_read = options.any_names ? selection.chosen() : selection.columns();
  require_extent(path, info.cols(), "columns");
  if (info.header) {
    for (auto const field : info.fields_read) info.columns.push_back(names[field]);
  }
  return info;
}

CsvRows::CsvRows(CsvInfo const& info, Values values)
    : m_info(info),
      m_values(values),
      m_text(std::make_unique<CsvText>(info.path, info.separator)),
      m_column_of(info.fields, info.cols()) {
  for (std::uint64_t column = 0; column < info.cols(); ++column) m_column_of[info.fields_read[column]] = column;
  if (!info.header || !m_text->next_record()) return;
  while (m_text->has_field()) static_cast<void>(m_text->field());
}

CsvRows::~CsvRows() = default;

void CsvRows::next(double* values) {
  if (!m_text->next_record()) throw DataError(m_info.path + " became shorter while it was read");
  m_line = m_text->line();
  for (std::uint64_t field = 0; field < m_info.fields && m_text->has_field(); ++field) {
    if (m_column_of[field] == m_info.cols()) {
      static_cast<void>(m_text->field());
    } else {
      read_field(field, values[m_column_of[field]]);
    }
  }
  if (m_text->fields() == m_info.fields && !m_text->has_field()) return;
  while (m_text->has_field()) static_cast<void>(m_text->field());
  throw DataError(m_info.path + ", line " + std::to_string(m_line) + ": the number of fields is " +
                  std::to_string(m_text->fields()) + ", and " + std::to_string(m_info.fields) + " in the first line");
}

void CsvRows::read_field(std::uint64_t field, double& value) {
  auto const line = m_text->line();
  if (!m_text->plain_number(value)) {
    auto const text = m_text->field();
    auto const quoted = "'" + excerpt(text, longest_excerpt) + "'";
    switch (detail::parse_field(text, value)) {
      case CsvValue::Number:
        break;
      case CsvValue::Hole:
        fail_at(line, field, text.empty() ? "the value is missing" : "the value is missing: " + quoted);
      case CsvValue::TooLarge:
        fail_at(line, field, quoted + " is too large for a double");
      case CsvValue::Text:
        fail_at(line, field,
                quoted + " is not a number" +
                    (line == 1                     ? "; a header that has numbers too needs --header"
                     : text.find(',') != text.npos ? "; decimals are written with a point"
                                                   : ""));
    }
  }
  if (m_values == Values::Any || std::isfinite(value)) return;
  fail_at(line, field, std::string("the value is ") + (std::isnan(value) ? "NaN" : "infinity"));
}

void CsvRows::require_end() {
  if (m_text->next_record()) throw DataError(m_info.path + " became longer while it was read");
}

void CsvRows::fail(std::uint64_t column, std::string const& what) const {
  fail_at(m_line, m_info.fields_read[column], what);
}

void CsvRows::fail_at(std::uint64_t line, std::uint64_t field, std::string const& what) const {
  auto const name = m_info.columns.empty() ? std::string()
                                           : " (" + excerpt(m_info.columns[m_column_of[field]], longest_excerpt) + ")";
  throw DataError(m_info.path + ", line " + std::to_string(line) + ", column " + std::to_string(field + 1) + name +
                  ": " + what);
}

Bytes csv_memory(detail::TileGrid const& grid, ScalarType type) {
  return grid.tile_cols() * round_up(grid.largest_tile() * size_of(type), detail::io_alignment);
}

void read_csv_into(CsvInfo const& info, detail::MatrixOutput& output, Bytes memory, detail::Between const& between) {
  auto const& grid = output.tiling();
  if (info.rows != grid.rows || info.cols() != grid.cols) {
    throw InvalidArgument(info.path + " has " + std::to_string(info.rows) + " x " + std::to_string(info.cols()) +
                          " elements, and the output " + std::to_string(grid.rows) + " x " + std::to_string(grid.cols));
  }
  auto const needed = csv_memory(grid, output.scalar_type());
  if (needed > memory) {
    throw InvalidArgument("a row of tiles of " + std::to_string(grid.rows_in(0)) + " x " + std::to_string(grid.cols) +
                          " elements needs " + format_bytes(needed) + ", more than the memory limit of " +
                          format_bytes(memory));
  }
  detail::with_scalar(output.scalar_type(),
                      [&](auto zero) { read_into<decltype(zero)>(info, output, memory, between); });
}

}  // namespace granary
