// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace granary {

/// Text of a file or a command line so that a terminal shows it and does not obey it: control characters, and bytes
/// that are no UTF-8, as `\x1b`. O(size).
[[nodiscard]] std::string printable(std::string_view text);
/// The same, but ends of lines stay.
[[nodiscard]] std::string printable_lines(std::string_view text);

/// At most `most` bytes of it, printable, and "..." where that is not all.
[[nodiscard]] std::string excerpt(std::string_view text, std::size_t most);

/// Whether brackets in this JSON text nest deeper than `depth`. To be asked before it is parsed: what walks over a
/// value calls itself once for each level, and the stack ends somewhere. O(size).
[[nodiscard]] bool json_nests_deeper(std::string_view json, std::size_t depth);

/// What files of granary need at most is 8.
inline constexpr std::size_t most_json_depth = 64;

}  // namespace granary

#pragma GCC visibility pop
