// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Common parts of the targets of JSON formats.
#pragma once

#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/fuzz/target.hpp"

namespace granary::fuzz {

/// Words of any JSON, and those of a format.
[[nodiscard]] inline std::vector<std::string> json_words(std::vector<std::string> of_format) {
  std::vector<std::string> all{"{", "}", "[", "]", ",", ":", "true", "null", "\\u001b", "\x7f", std::string(300, '[')};
  all.insert(all.end(), std::make_move_iterator(of_format.begin()), std::make_move_iterator(of_format.end()));
  return all;
}

/// Fails unless the text that `Format` writes for a value is read as the same value.
template <class Format>
void require_read_as_written(Format const& value) {
  auto const written = value.to_json();
  if (Format::parse(written, "written.json").to_json() != written)
    fail("a value changes when it is written: " + written);
}

}  // namespace granary::fuzz
