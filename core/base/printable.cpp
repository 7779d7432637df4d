// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/printable.hpp>

#include <algorithm>

namespace granary {
namespace {

unsigned byte_of(char c) { return static_cast<unsigned char>(c); }

// The length of the UTF-8 character at the start of the text; 0 if it is invalid or a control character.
std::size_t character_length(std::string_view text) {
  auto const first = byte_of(text.front());
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  std::size_t const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte_of(text[i]) & 0xc0U) != 0x80) return 0;
  }
  auto const second = byte_of(text[1]);
  bool const overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  bool const no_character = (first == 0xed && second >= 0xa0) || (first == 0xf4 && second >= 0x90);
  bool const control = first == 0xc2 && second < 0xa0;
  return overlong || no_character || control ? 0 : length;
}

std::string escape(std::string_view text, bool lines) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    auto const length = lines && text.front() == '\n' ? 1 : character_length(text);
    if (length > 0) {
      result += text.substr(0, length);
      text.remove_prefix(length);
      continue;
    }
    auto const byte = byte_of(text.front());
    result += {'\\', 'x', digits[byte >> 4U], digits[byte & 0xfU]};
    text.remove_prefix(1);
  }
  return result;
}

}  // namespace

std::string printable(std::string_view text) { return escape(text, false); }

std::string printable_lines(std::string_view text) { return escape(text, true); }

std::string excerpt(std::string_view text, std::size_t most) {
  if (text.size() <= most) return printable(text);
  // Do not cut a character in two.
  while (most > 0 && (byte_of(text[most]) & 0xc0U) == 0x80) --most;
  return printable(text.substr(0, most)) + "...";
}

std::string excerpts(std::span<std::string const> texts, std::size_t most) {
  constexpr std::size_t shown = 20;
  std::string list;
  for (std::size_t i = 0; i < std::min(texts.size(), shown); ++i)
    list += (i == 0 ? "" : ", ") + excerpt(texts[i], most);
  if (texts.size() > shown) list += " and " + std::to_string(texts.size() - shown) + " more";
  return list;
}

bool json_nests_deeper(std::string_view json, std::size_t depth) {
  std::size_t open = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    char const c = json[i];
    if (quoted) {
      if (c == '\\') ++i;
      quoted = c != '"';
    } else if (c == '[' || c == '{') {
      if (++open > depth) return true;
    } else if (c == ']' || c == '}') {
      open -= open > 0 ? 1 : 0;
    } else {
      quoted = c == '"';
    }
  }
  return false;
}

}  // namespace granary
