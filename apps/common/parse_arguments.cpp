// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "apps/common/parse_arguments.hpp"

#include <granary/detail/core/base/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>

#include "apps/common/print.hpp"

namespace granary::app {
namespace {

[[noreturn]] void refuse_empty(std::string_view name) {
  throw InvalidArgument(fmt::format("the value of {} is empty", name));
}

// In front of the option's other checks, whose messages would show nothing between two blanks.
void refuse_empty_values(CLI::App& app) {
  for (auto* const option : app.get_options()) {
    if (option->get_items_expected_min() == 0) continue;  // a flag
    option->transform(CLI::Validator(
        [option](std::string& value) {
          if (value.empty()) refuse_empty(option->get_name());
          return std::string();
        },
        ""));
  }
  for (auto* const command : app.get_subcommands(nullptr)) refuse_empty_values(*command);
}

// CLI11 would take the next argument for the value of `--scratch=`.
void refuse_nothing_after_equals(int argc, char const* const* argv) {
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    std::string_view const argument = argv[i];
    if (argument.starts_with("--") && argument.find('=') == argument.size() - 1)
      refuse_empty(argument.substr(0, argument.size() - 1));
  }
}

}  // namespace

bool parse_arguments(CLI::App& app, int argc, char const* const* argv) {
  refuse_empty_values(app);
  refuse_nothing_after_equals(argc, argv);
  try {
    app.parse(argc, argv);
  } catch (CLI::Success const& request) {
    std::ostringstream text;
    app.exit(request, text, text);
    write_text("-", text.str());
    return false;
  } catch (CLI::ParseError const& error) {
    throw InvalidArgument(error.what());
  }
  return true;
}

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most, std::vector<std::string> const& words) {
  bool const open = most == std::numeric_limits<std::uint64_t>::max();
  auto const last = open ? "2^64 - 1" : std::to_string(most);
  std::string alternatives;
  for (auto const& word : words) alternatives += word + (&word == &words.back() ? " or " : ", ");
  auto const read = [=](std::string& text) {
    if (std::ranges::find(words, text) != words.end()) return std::string();
    std::uint64_t value = 0;
    auto const [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc{} || end != text.data() + text.size() || value < least || value > most)
      return fmt::format("{} is not {}a whole number from {} to {}", text, alternatives, least, last);
    text = std::to_string(value);
    return std::string();
  };
  auto const range = open ? fmt::format("UINT from {}", least) : fmt::format("UINT in [{} - {}]", least, last);
  return {read, alternatives + range, "whole number"};
}

Distribution parse_grid(std::string_view text) {
  auto const number = [](std::string_view digits) {
    std::uint32_t value = 0;
    auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc{} && end == digits.data() + digits.size() ? value : 0;
  };
  auto const cross = std::min(text.find('x'), text.size());
  auto const rows = number(text.substr(0, cross)), columns = number(text.substr(std::min(cross + 1, text.size())));
  if (rows > 0 && columns > 0) return {rows, columns};
  throw InvalidArgument(
      fmt::format("malformed grid '{}': write the numbers of its rows and columns, such as 2x3", text));
}

}  // namespace granary::app
