// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "values.hpp"

#include <granary/detail/core/base/error.hpp>

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

namespace granary::app {
namespace {

constexpr std::size_t most_values = 10000;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    auto const end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  auto const [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Calls add(value) for each value of a list of values and ranges; `parse` parses one, `malformed` throws.
template <class Parse, class Add, class Malformed>
void for_each_value(std::string_view text, Parse const& parse, Add const& add, Malformed const& malformed) {
  std::size_t count = 0;
  for (auto const part : split(text, ',')) {
    auto const range = split(part, ':');
    if (range.size() != 1 && range.size() != 3) malformed();
    auto const first = parse(range.front());
    auto const last = range.size() == 3 ? parse(range[1]) : first;
    auto const step = range.size() == 3 ? parse(range[2]) : first;
    if (range.size() == 3 && (!(step > 0) || last < first)) malformed();
    auto const steps = range.size() == 3 ? static_cast<double>(last - first) / static_cast<double>(step) : 0;
    if (steps >= static_cast<double>(most_values)) malformed();
    count += static_cast<std::size_t>(steps) + 1;
    if (count > most_values) malformed();
    // The margin allows for rounding of steps such as 0.1.
    for (std::size_t i = 0; i <= static_cast<std::size_t>(steps + 1e-9); ++i) {
      add(first + static_cast<decltype(step)>(i) * step);
    }
  }
}

}  // namespace

std::vector<std::string> parse_names(std::string_view text, std::string_view what) {
  std::vector<std::string> names;
  for (auto const part : split(text, ',')) {
    if (part.empty()) throw InvalidArgument(fmt::format("malformed list of {} '{}': a name is empty", what, text));
    names.emplace_back(part);
  }
  return names;
}

std::vector<std::uint64_t> parse_counts(std::string_view text, std::string_view what, std::uint64_t least,
                                        std::uint64_t most) {
  auto const malformed = [&]() -> void {
    throw InvalidArgument(fmt::format(
        "malformed {} '{}': write numbers from {} to {} such as 8, 8,16 or FIRST:LAST:STEP", what, text, least, most));
  };
  auto const parse = [&](std::string_view part) {
    auto const number = number_in<std::uint64_t>(part);
    if (!number || *number > most) malformed();
    return number.value_or(0);
  };
  std::vector<std::uint64_t> values;
  for_each_value(
      text, parse,
      [&](std::uint64_t value) {
        if (value < least || value > most) malformed();
        values.push_back(value);
      },
      malformed);
  return values;
}

std::vector<Memory> parse_memory(std::string_view text) {
  auto const malformed = [&]() -> void {
    throw InvalidArgument(
        fmt::format("malformed memory '{}': write sizes such as 512MiB, fractions of the working set such as 0.25, "
                    "lists of these with commas, or FIRST:LAST:STEP",
                    text));
  };
  std::vector<Memory> values;
  for (auto const part : split(text, ',')) {
    bool const fractions = number_in<double>(part.substr(0, part.find(':'))).has_value();
    auto const parse_fraction = [&](std::string_view value) {
      auto const number = number_in<double>(value);
      if (!number || !(*number > 0 && *number <= 1000)) malformed();
      return number.value_or(0);
    };
    auto const parse_size = [&](std::string_view value) {
      Bytes const size = number_in<double>(value) ? 0 : parse_bytes(value);
      if (size == 0) malformed();
      return size;
    };
    if (fractions) {
      for_each_value(
          part, parse_fraction,
          [&](double f) {
            values.push_back({std::nullopt, f});
          },
          malformed);
    } else {
      for_each_value(
          part, parse_size,
          [&](Bytes size) {
            values.push_back({size, std::nullopt});
          },
          malformed);
    }
  }
  return values;
}

namespace {

// A time such as 500ns, 1.5us, 2ms, 0.1s.
std::optional<double> seconds_in(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 4> units{
      {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}}};
  for (auto const& [unit, seconds] : units) {
    if (!text.ends_with(unit)) continue;
    auto const number = number_in<double>(text.substr(0, text.size() - unit.size()));
    return number && *number >= 0 ? std::optional(*number * seconds) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

detail::DecisionCost parse_decision_cost(std::string_view text) {
  if (text == "none") return {};
  if (text == "measured") return detail::DecisionCost::measured();
  auto const time = seconds_in(text);
  if (time && *time <= 3600) return detail::DecisionCost::per_committed_task(from_seconds(*time));
  throw InvalidArgument(
      fmt::format("malformed cost of decisions '{}': write none, measured or a time per task up to an hour such as "
                  "500ns, 1.5us, 2ms "
                  "or 0.1s",
                  text));
}

detail::Network parse_network(std::string_view text, detail::Network const& other) {
  auto const refuse = [&] {
    throw InvalidArgument(fmt::format(
        "malformed network '{}': write its bandwidth and, after a colon, its latency, such as 5GB/s:2us", text));
  };
  auto const colon = text.find(':');
  auto const rate = text.substr(0, colon);
  auto network = other;
  if (!rate.ends_with("/s")) refuse();
  network.bandwidth = static_cast<double>(parse_bytes(rate.substr(0, rate.size() - 2)));
  if (colon == std::string_view::npos) return network;
  auto const latency = seconds_in(text.substr(colon + 1));
  if (!latency || *latency > seconds(detail::most_latency)) refuse();
  network.latency = from_seconds(*latency);
  return network;
}

SlowWorker parse_slow_worker(std::string_view text) {
  auto const parts = split(text, ':');
  auto const factor = parts.size() < 3 ? std::nullopt : number_in<double>(parts[parts.size() - 2]);
  auto const seconds = parts.size() < 3 ? std::nullopt : number_in<double>(parts.back());
  bool const valid = factor && seconds && *factor >= detail::SlowWorkers::least_factor &&
                     *factor <= detail::SlowWorkers::most_factor && *seconds >= 0 && *seconds < 1e9;
  if (!valid) {
    throw InvalidArgument(fmt::format(
        "malformed slow worker '{}': write NAME:FACTOR:SECONDS, with a factor from {} to {}, such as gpu0:2:0.5", text,
        detail::SlowWorkers::least_factor, detail::SlowWorkers::most_factor));
  }
  auto const length = text.size() - parts.back().size() - parts[parts.size() - 2].size() - 2;
  return {std::string(text.substr(0, length)), *factor, *seconds};
}

}  // namespace granary::app
