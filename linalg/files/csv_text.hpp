// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <granary/detail/outofcore/file.hpp>

namespace granary::detail {

/// The fields of a text as in RFC 4180: records are lines, fields may be quoted, and a quoted field may contain
/// separators, line ends and doubled quotes. Lines end with LF or CR LF. A byte order mark of UTF-8 at the beginning
/// and spaces around a field are skipped. Empty lines are allowed at the end only. Reads pieces of 1 MiB.
class CsvText {
 public:
  static constexpr std::size_t longest_field = 4096;

  /// Throws InvalidArgument if the file cannot be opened or is not a regular file.
  CsvText(std::string const& path, char separator);

  /// The separator of the first line: a tab if it has one outside quotes, else `;` if it has one, else `,`.
  [[nodiscard]] char detect_separator();
  void set_separator(char separator) { m_separator = separator; }

  /// Goes to the next record, after the last field of the one before. False at the end of the text. Throws DataError
  /// for an empty line between records, IoError.
  [[nodiscard]] bool next_record();
  /// True if the record has another field.
  [[nodiscard]] bool has_field() const { return m_has_field; }
  /// The next field, valid until the next call. Throws DataError for a field of more than 4096 bytes, and for misplaced
  /// quotes.
  [[nodiscard]] std::string_view field();
  /// Reads the next field if it is a plain finite or infinite number, the usual case; otherwise false, and field()
  /// reads it.
  [[nodiscard]] bool plain_number(double& value);

  [[nodiscard]] std::uint64_t line() const { return m_line; }
  /// The fields read of this record.
  [[nodiscard]] std::uint64_t fields() const { return m_fields; }
  /// DataError `<path>, line 7: <what>`.
  [[noreturn]] void fail(std::string const& what) const;

 private:
  void require(std::size_t bytes);
  void skip_spaces();
  [[nodiscard]] bool at_line_end(char const* at) const;
  void end_field();
  [[nodiscard]] std::string_view quoted_field();

  std::string m_path;
  std::shared_ptr<File const> m_file;
  std::vector<char> m_buffer;
  char const* m_next = nullptr;
  char const* m_end = nullptr;  // a byte 0 follows
  std::uint64_t m_offset = 0;   // of what is not in the buffer yet
  bool m_all_read = false;
  char m_separator;
  bool m_has_field = false;
  std::uint64_t m_line = 1;
  std::uint64_t m_fields = 0;
  std::string m_text;  // of a quoted field
};

/// The records of a text, counted from its line ends outside quotes, at about the speed of memory. Throws IoError.
[[nodiscard]] std::uint64_t count_records(std::string const& path);

enum class CsvValue { Number, Hole, Text, TooLarge };
/// Classifies a field; a hole is an empty field or NA, N/A, null or NULL. Numbers are decimal, with a point, in any
/// locale; nan and inf are numbers. Sets `value` if it is a number.
[[nodiscard]] CsvValue parse_field(std::string_view text, double& value);

}  // namespace granary::detail
