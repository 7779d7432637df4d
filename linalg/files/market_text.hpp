// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

namespace granary::detail {

/// The next word of a line, between blanks, which is removed from the text; empty if there is none.
[[nodiscard]] std::string_view take_word(std::string_view& text);

/// True if a line has blanks alone.
[[nodiscard]] bool has_nothing(std::string_view text);

/// Reads a text line by line, with lines of bounded length.
class LineReader {
 public:
  /// Throws InvalidArgument if the file cannot be opened.
  explicit LineReader(std::string const& path);

  /// The next line; false at the end. Throws DataError for a line of more than 4096 characters, IoError.
  [[nodiscard]] bool next(std::string& line);
  void skip_to(std::uint64_t byte, std::uint64_t line);
  [[nodiscard]] std::uint64_t line() const { return m_line; }
  [[nodiscard]] std::uint64_t byte() const { return m_byte; }
  /// DataError `<path>, line 7: <what>`.
  [[noreturn]] void fail(std::string const& what) const;

 private:
  std::string m_path;
  std::ifstream m_file;
  std::uint64_t m_line = 0;
  std::uint64_t m_byte = 0;
};

}  // namespace granary::detail
