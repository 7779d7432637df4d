// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/files/market_text.hpp>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include <granary/detail/core/base/error.hpp>

namespace granary::detail {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

}  // namespace

std::string_view take_word(std::string_view& text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  auto const end = std::find_if(text.begin(), text.end(), is_blank);
  auto const word = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(word.size());
  return word;
}

bool has_nothing(std::string_view text) { return take_word(text).empty(); }

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

}  // namespace granary::detail
