// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/model/distribution.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace granary::app {

/// Parses the command line. Returns false after printing help or the version on request. Throws InvalidArgument with
/// CLI11's message, and for an empty value: no option gives it a meaning, and mostly a variable of a script is not set.
bool parse_arguments(CLI::App& app, int argc, char const* const* argv);

/// A whole number in decimal digits, for CLI::Option::transform. CLI11 itself takes 010 for 8, -1 for 2^64 - 1, and a
/// number beyond that for the same. Or one of these words, which stay as they are.
[[nodiscard]] CLI::Validator whole_number(std::uint64_t least,
                                          std::uint64_t most = std::numeric_limits<std::uint64_t>::max(),
                                          std::vector<std::string> const& words = {});

/// `ROWSxCOLUMNS`, such as 2x3. Throws InvalidArgument.
[[nodiscard]] Distribution parse_grid(std::string_view text);

}  // namespace granary::app
