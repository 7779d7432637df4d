// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace granary {

/// Text of a file or a command line, made safe for a terminal: control characters and bytes that are not UTF-8 are
/// written as `\x1b`. O(size).
[[nodiscard]] GRANARY_EXPORT std::string printable(std::string_view text);
/// The same, but newlines are kept.
[[nodiscard]] GRANARY_EXPORT std::string printable_lines(std::string_view text);

/// At most `most` bytes of the text, printable, with "..." if it was cut.
[[nodiscard]] GRANARY_EXPORT std::string excerpt(std::string_view text, std::size_t most);

/// The first 20 of these texts, each as an excerpt: `x, y and 3 more`. Empty without a text.
[[nodiscard]] GRANARY_EXPORT std::string excerpts(std::span<std::string const> texts, std::size_t most);

/// True if brackets in this JSON text nest deeper than `depth`. Check this before parsing: functions that visit a value
/// recurse once per level, and the stack is bounded. O(size).
[[nodiscard]] GRANARY_EXPORT bool json_nests_deeper(std::string_view json, std::size_t depth);

/// granary's own files need at most 8.
inline constexpr std::size_t most_json_depth = 64;

}  // namespace granary
