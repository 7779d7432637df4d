// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/files/copy_matrix.hpp>

namespace granary {

namespace detail {
class CsvText;
}

/// The separator in this text. Throws InvalidArgument unless the text is a tab or one of `,;|:!#$%&*/<=>?@^_~`: no
/// characters of numbers or names.
GRANARY_EXPORT char checked_separator(std::string_view text);

/// How to read a CSV file.
struct GRANARY_EXPORT CsvOptions {
  /// The columns to read, in this order: names of the header, numbers from 1, or ranges of numbers such as "3-5";
  /// empty: all. A name goes before a number.
  std::vector<std::string> columns = {};
  /// Between fields, see checked_separator; 0: a tab if the first line has one outside quotes, else `;` if
  /// it has one, else `,`.
  char separator = 0;
  /// The first line is a header even if it has numbers. Otherwise it is one if it has a name and no number.
  bool header = false;
  /// Several columns that are read may have one name: the caller chooses among them.
  bool any_names = false;
};

/// A CSV file of numbers: text that can be converted, but not factored directly. The format is RFC 4180's: a line for
/// each row of the matrix.
struct GRANARY_EXPORT CsvInfo {
  std::string path;
  char separator = ',';
  bool header = false;
  std::uint64_t rows = 0;                  ///< without the header
  std::uint64_t fields = 0;                ///< of each line
  std::vector<std::uint64_t> fields_read;  ///< the columns of the matrix: fields of a line, counted from 0
  std::vector<std::string> columns;        ///< their names; empty without a header

  [[nodiscard]] std::uint64_t cols() const { return fields_read.size(); }
};

/// True if the name ends in .csv or .tsv, in small or capital letters.
[[nodiscard]] GRANARY_EXPORT bool is_csv_name(std::string const& path);

/// The fields of one line of CSV with the separator `,`: for a list of columns in an option. Throws InvalidArgument if
/// a quote has no end.
[[nodiscard]] GRANARY_EXPORT std::vector<std::string> split_csv_line(std::string_view line);

/// Reads the first line, and counts the others. Throws InvalidArgument if the file cannot be opened, if a column of the
/// options does not exist, is given twice or has a name that another one has, or if two columns that are read have the
/// same name; DataError if the file has no rows.
[[nodiscard]] GRANARY_EXPORT CsvInfo open_csv(std::string const& path, CsvOptions const& options = {});

/// The rows of a CSV file, in the order of the text.
class GRANARY_EXPORT CsvRows {
 public:
  enum class Values { Finite, Any };

  /// Finite: refuses nan and inf. Throws what open_csv throws.
  CsvRows(CsvInfo const& info, Values values);
  CsvRows(CsvRows const&) = delete;
  CsvRows& operator=(CsvRows const&) = delete;
  ~CsvRows();

  /// Writes the next row to values[0], values[1], ...: info.cols() of them. Throws DataError with line and column if
  /// the line has another number of fields than the first one, or a field that is read is empty or not a number.
  void next(double* values);
  /// Throws DataError if there is another line.
  void require_end();
  /// DataError about the element in that column of the last row.
  [[noreturn]] void fail(std::uint64_t column, std::string const& what) const;

 private:
  void read_field(std::uint64_t field, double& value);
  [[noreturn]] void fail_at(std::uint64_t line, std::uint64_t field, std::string const& what) const;

  CsvInfo m_info;
  Values m_values;
  std::unique_ptr<detail::CsvText> m_text;
  std::vector<std::uint64_t> m_column_of;  // for each field, the column; cols(): not read
  std::uint64_t m_line = 0;
};

/// Writes the matrix into an output of its extents, in the order of the text, which is read once. The elements are
/// rounded if the output is single precision. Needs memory for one row of tiles, csv_memory(); with twice as much it
/// reads and writes at the same time. Does not commit. Throws InvalidArgument if `memory` is less; what CsvRows throws,
/// also for nan and inf.
GRANARY_EXPORT void read_csv_into(CsvInfo const& info, detail::MatrixOutput& output, Bytes memory,
                                  detail::Between const& between = {});

/// Bytes of one row of tiles.
[[nodiscard]] GRANARY_EXPORT Bytes csv_memory(detail::TileGrid const& grid, ScalarType type);

}  // namespace granary
