// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/units.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <utility>

namespace granary {
namespace {

constexpr std::array<std::pair<std::string_view, double>, 16> suffixes{{
    {"", 1.0},
    {"B", 1.0},
    {"K", 0x1p10},
    {"KiB", 0x1p10},
    {"k", 0x1p10},
    {"M", 0x1p20},
    {"MiB", 0x1p20},
    {"G", 0x1p30},
    {"GiB", 0x1p30},
    {"T", 0x1p40},
    {"TiB", 0x1p40},
    {"kB", 1e3},
    {"KB", 1e3},
    {"MB", 1e6},
    {"GB", 1e9},
    {"TB", 1e12},
}};

}  // namespace

Bytes parse_bytes(std::string_view text) {
  auto const malformed = [&] {
    return InvalidArgument("malformed size '" + std::string(text) +
                           "': write a number and a unit, for example 512MiB or 150MB; units are kB, MB, GB, TB, KiB, "
                           "MiB, GiB and TiB, and case matters");
  };
  double number = 0;
  auto const [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc{} || !std::isfinite(number) || number < 0) throw malformed();
  auto suffix = text.substr(static_cast<std::size_t>(end - text.data()));
  while (!suffix.empty() && suffix.front() == ' ') suffix.remove_prefix(1);
  for (auto const& [name, factor] : suffixes) {
    if (suffix != name) continue;
    double const bytes = std::floor(number * factor);
    if (bytes >= 0x1p63) throw malformed();
    return static_cast<Bytes>(bytes);
  }
  throw malformed();
}

std::string format_bytes(Bytes bytes) {
  constexpr std::array<char const*, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text.data();
}

}  // namespace granary
