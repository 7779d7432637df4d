// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace granary {

/// A number of bytes.
///
/// ```cpp
/// using namespace granary::literals;
/// granary::Bytes const limit = granary::parse_bytes("1.5G");
/// assert(limit == 1536_MiB);
/// assert(granary::format_bytes(150_MiB) == "150.0 MiB");
/// ```
using Bytes = std::uint64_t;

/// A length of time, in integer nanoseconds: sums are exact in any order.
using Duration = std::chrono::nanoseconds;

namespace detail {

/// The clock of a run: real time under the engine, virtual time under the simulator.
struct GRANARY_EXPORT Clock {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<Clock, duration>;
  static constexpr bool is_steady = true;
};

/// A point in time, counted from the start of the run.
using Instant = Clock::time_point;

}  // namespace detail

[[nodiscard]] constexpr double seconds(Duration d) { return std::chrono::duration<double>(d).count(); }
/// 146 years. A run's clock stops earlier, so that one more such duration can be added.
inline constexpr Duration longest_duration{Duration::rep{1} << 62};

/// Rounds to the nearest nanosecond; `longest_duration` for longer times, 0 for NaN.
[[nodiscard]] constexpr Duration from_seconds(double s) {
  double const nanoseconds = s * 1e9 + (s < 0 ? -0.5 : 0.5);
  if (nanoseconds >= 0x1p62) return longest_duration;
  if (nanoseconds <= -0x1p62) return -longest_duration;
  return Duration(nanoseconds == nanoseconds ? static_cast<Duration::rep>(nanoseconds) : 0);
}

inline namespace literals {
constexpr Bytes operator""_KiB(unsigned long long n) { return n << 10; }
constexpr Bytes operator""_MiB(unsigned long long n) { return n << 20; }
constexpr Bytes operator""_GiB(unsigned long long n) { return n << 30; }
}  // namespace literals

/// Reads a size such as `512MiB`, `150MB`, `1.5G` or `4096`: K, M, G, T (and KiB, …) are powers of 1024; KB, MB, GB, TB
/// powers of 1000. Throws InvalidArgument naming the text when it is malformed, negative or too large.
[[nodiscard]] GRANARY_EXPORT Bytes parse_bytes(std::string_view text);

/// Formats a size for people: `150.0 MiB`, `4096 B`.
[[nodiscard]] GRANARY_EXPORT std::string format_bytes(Bytes bytes);

/// The smallest multiple of `alignment` that is at least `bytes`; `alignment` is at least 1.
[[nodiscard]] constexpr Bytes round_up(Bytes bytes, Bytes alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

}  // namespace granary
