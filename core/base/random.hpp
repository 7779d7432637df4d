// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>

#include <cstdint>

namespace granary::detail {

/// A small seeded generator (SplitMix64; Steele, Lea, Flood 2014) whose sequence is the same on every platform.
class GRANARY_EXPORT Random {
 public:
  explicit constexpr Random(std::uint64_t seed) : m_state(seed) {}

  constexpr std::uint64_t next() {
    std::uint64_t z = (m_state += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  /// Uniform in [0, bound); bound is at least 1 (bias below bound / 2^64).
  constexpr std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  /// Uniform in [low, high].
  constexpr std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low) + 1));
  }
  /// Uniform in [0, 1).
  constexpr double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  constexpr bool chance(double probability) { return uniform() < probability; }

 private:
  std::uint64_t m_state;
};

}  // namespace granary::detail
