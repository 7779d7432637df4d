// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/files/csv_text.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <system_error>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/partial_file.hpp>

namespace granary::detail {
namespace {

constexpr std::size_t piece = std::size_t{1} << 20U;
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

std::shared_ptr<File const> open_text(std::string const& path) {
  if (is_special_file(path)) throw InvalidArgument("cannot open " + path + ": it is not a regular file");
  auto file = File::open_for_reading(path);
  ::posix_fadvise(file->descriptor(false), 0, 0, POSIX_FADV_SEQUENTIAL);
  return file;
}

// Up to `bytes` bytes; fewer only at the end of the file.
std::size_t read_piece(File const& file, char* to, std::size_t bytes, std::uint64_t offset) {
  std::size_t got = 0;
  while (got < bytes) {
    auto const count = ::pread(file.descriptor(false), to + got, bytes - got, static_cast<off_t>(offset + got));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw IoError("cannot read", file.name(), offset + got, errno);
    if (count == 0) break;
    got += static_cast<std::size_t>(count);
  }
  return got;
}

bool is_line_end(char c) { return c == '\n' || c == '\r'; }

std::string_view without_spaces(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace

CsvText::CsvText(std::string const& path, char separator)
    : m_path(path), m_file(open_text(path)), m_buffer(piece + 1), m_separator(separator) {
  m_next = m_end = m_buffer.data();
  require(byte_order_mark.size());
  if (std::string_view(m_next, static_cast<std::size_t>(m_end - m_next)).starts_with(byte_order_mark))
    m_next += byte_order_mark.size();
}

// Has that many bytes in the buffer, or all that remain.
void CsvText::require(std::size_t bytes) {
  auto const present = static_cast<std::size_t>(m_end - m_next);
  if (present >= bytes || m_all_read) return;
  std::memmove(m_buffer.data(), m_next, present);
  auto const got = read_piece(*m_file, m_buffer.data() + present, piece - present, m_offset);
  m_offset += got;
  m_all_read = got < piece - present;
  m_next = m_buffer.data();
  m_buffer[present + got] = '\0';
  m_end = m_buffer.data() + present + got;
}

char CsvText::detect_separator() {
  require(piece);
  bool quoted = false;
  bool semicolon = false;
  for (auto const* at = m_next; at != m_end && (quoted || *at != '\n'); ++at) {
    if (*at == '"') quoted = !quoted;
    if (quoted) continue;
    if (*at == '\t') return '\t';
    semicolon = semicolon || *at == ';';
  }
  return semicolon ? ';' : ',';
}

bool CsvText::at_line_end(char const* at) const {
  if (*at == '\n' || at == m_end) return true;
  return *at == '\r' && (at + 1 == m_end || at[1] == '\n');
}

bool CsvText::next_record() {
  m_fields = 0;
  require(2);
  if (m_next != m_end && at_line_end(m_next)) {
    auto const empty = m_line;
    while (m_next != m_end && is_line_end(*m_next)) {
      ++m_next;
      require(2);
    }
    if (m_next != m_end) {
      m_line = empty;
      fail("the line is empty");
    }
  }
  m_has_field = m_next != m_end;
  return m_has_field;
}

void CsvText::skip_spaces() {
  for (;;) {
    while (*m_next == ' ' || (*m_next == '\t' && m_separator != '\t')) ++m_next;
    if (m_next != m_end || m_all_read) return;
    require(1);
  }
}

// After the text of a field.
void CsvText::end_field() {
  if (m_next != m_end && *m_next == m_separator) {
    ++m_next;
    return;
  }
  m_has_field = false;
  if (*m_next == '\r') ++m_next;
  if (m_next == m_end) return;
  ++m_next;
  ++m_line;
}

std::string_view CsvText::field() {
  ++m_fields;
  skip_spaces();
  require(longest_field + 4);
  if (*m_next == '"') return quoted_field();
  auto const* const start = m_next;
  auto const* const most = start + std::min<std::ptrdiff_t>(m_end - start, longest_field + 1);
  while (m_next != most && *m_next != m_separator && *m_next != '\n' && *m_next != '"') ++m_next;
  if (m_next == start + longest_field + 1)
    fail("field " + std::to_string(m_fields) + " is longer than " + std::to_string(longest_field) + " bytes");
  if (m_next != m_end && *m_next == '"')
    fail("field " + std::to_string(m_fields) + " has a quote inside; quotes surround a whole field");
  // The carriage return belongs to the line end.
  if (m_next != start && m_next[-1] == '\r' && at_line_end(m_next)) --m_next;
  std::string_view const text(start, static_cast<std::size_t>(m_next - start));
  end_field();
  return without_spaces(text);
}

std::string_view CsvText::quoted_field() {
  auto const first_line = m_line;
  m_text.clear();
  for (++m_next;;) {
    require(4);
    if (m_next == m_end || m_text.size() > longest_field) {
      m_line = first_line;
      fail("the quoted field " + std::to_string(m_fields) +
           (m_next == m_end ? " has no end" : " is longer than " + std::to_string(longest_field) + " bytes"));
    }
    char const c = *m_next++;
    if (c == '"') {
      if (*m_next != '"') break;
      ++m_next;
    }
    if (c == '\n') ++m_line;
    m_text.push_back(c);
  }
  skip_spaces();
  require(2);
  if (!at_line_end(m_next) && *m_next != m_separator)
    fail("there is text after the closing quote of field " + std::to_string(m_fields));
  end_field();
  return without_spaces(m_text);
}

bool CsvText::plain_number(double& value) {
  require(longest_field + 4);
  auto const* start = m_next;
  while (*start == ' ') ++start;
  auto const* const most = start + std::min<std::ptrdiff_t>(m_end - start, longest_field);
  auto const [end, error] = std::from_chars(start, most, value);
  if (error != std::errc{} || (end == m_end && !m_all_read)) return false;
  if (end == m_end || *end != m_separator) {
    if (!at_line_end(end)) return false;
  }
  ++m_fields;
  m_next = end;
  end_field();
  return true;
}

void CsvText::fail(std::string const& what) const {
  throw DataError(m_path + ", line " + std::to_string(m_line) + ": " + what);
}

std::uint64_t count_records(std::string const& path) {
  auto const file = open_text(path);
  std::vector<char> buffer(piece);
  std::uint64_t lines = 0;    // that have ended
  std::uint64_t records = 0;  // up to the last byte that is not of a line end
  bool quoted = false;
  for (std::uint64_t offset = 0;;) {
    auto const got = read_piece(*file, buffer.data(), piece, offset);
    auto const* const first = buffer.data();
    auto const* const end = first + got;
    if (!quoted && std::memchr(first, '"', got) == nullptr) {
      auto const* last = end;
      while (last != first && is_line_end(last[-1])) --last;
      auto const before = static_cast<std::uint64_t>(std::count(first, last, '\n'));
      if (last != first) records = lines + before + 1;
      lines += before + static_cast<std::uint64_t>(std::count(last, end, '\n'));
    } else {
      for (auto const* at = first; at != end; ++at) {
        if (*at == '"') quoted = !quoted;
        if (quoted || !is_line_end(*at)) records = lines + 1;
        if (!quoted && *at == '\n') ++lines;
      }
    }
    offset += got;
    if (got < piece) return records;
  }
}

CsvValue parse_field(std::string_view text, double& value) {
  constexpr std::array<std::string_view, 5> holes{"", "NA", "N/A", "null", "NULL"};
  if (std::ranges::find(holes, text) != holes.end()) return CsvValue::Hole;
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  auto const* const end = text.data() + text.size();
  auto const [stop, error] = std::from_chars(text.data(), end, value);
  if (stop != end || error == std::errc::invalid_argument) return CsvValue::Text;
  if (error == std::errc{}) return CsvValue::Number;
  // Too small a number is rounded to 0, or to a number with fewer digits.
  long double wide = 0;
  if (std::from_chars(text.data(), end, wide).ec != std::errc{}) {
    if (text.find("e-") == text.npos && text.find("E-") == text.npos) return CsvValue::TooLarge;
    wide = 0;
  }
  if (std::abs(wide) > static_cast<long double>(std::numeric_limits<double>::max())) return CsvValue::TooLarge;
  value = static_cast<double>(wide);
  return CsvValue::Number;
}

}  // namespace granary::detail
