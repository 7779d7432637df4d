// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tasks compute, for their bodies and for the model. All values are integers of less than 52 bits, so the
// arithmetic is exact and sums do not depend on their order.
#pragma once

#include <granary/detail/core/base/random.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace granary::facade_test {

/// How a task uses a datum. The operations from Sum on are reductions.
enum class Use : std::uint8_t { Read, Write, ReadWrite, Commute, Scratch, Sum, Product, Minimum, Maximum, Xor };

inline constexpr std::size_t use_count = 10;

[[nodiscard]] constexpr bool reduces(Use use) { return use >= Use::Sum; }
/// Whether what the task computes depends on the old elements.
[[nodiscard]] constexpr bool looks(Use use) { return use == Use::Read || use == Use::ReadWrite; }
/// Whether the task combines terms with the old elements.
[[nodiscard]] constexpr bool combines(Use use) { return use == Use::Commute || reduces(use); }

/// The checksum of a task after it has read one more element. (0 and -0 are the same.)
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t sum, double element) {
  sum = (sum ^ std::bit_cast<std::uint64_t>(element + 0.0)) * 0x9e3779b97f4a7c15U;
  return sum ^ (sum >> 29U);
}

/// What a task with this checksum writes to element `n` of its access number `slot`, or combines with it.
[[nodiscard]] constexpr double term(Use use, std::uint64_t sum, std::size_t slot, std::size_t n) {
  detail::Random random(sum + 1000003 * slot + n);
  if (use == Use::Product) return random.chance(0.5) ? 1 : -1;
  auto const most = use == Use::Sum || use == Use::Commute ? 1 << 16 : 1 << 20;
  return static_cast<double>(random.between(-most, most));
}

/// How many elements a task with this checksum leaves in a varying datum that has room for so many.
[[nodiscard]] constexpr std::size_t left_elements(std::uint64_t sum, std::size_t slot, std::size_t room) {
  return detail::Random(sum + 1000003 * slot).below(room + 1);
}

[[nodiscard]] constexpr double exclusive_or(double a, double b) {
  constexpr auto whole = [](double x) { return x > -0x1p52 && x < 0x1p52; };
  if (!whole(a) || !whole(b)) return 0.5;  // of a wrong value, which is found
  return static_cast<double>(static_cast<std::int64_t>(a) ^ static_cast<std::int64_t>(b));
}

/// For uses that combine.
[[nodiscard]] constexpr double combined(Use use, double old, double term) {
  switch (use) {
    case Use::Product:
      return old * term;
    case Use::Minimum:
      return std::min(old, term);
    case Use::Maximum:
      return std::max(old, term);
    case Use::Xor:
      return exclusive_or(old, term);
    default:
      return old + term;
  }
}

}  // namespace granary::facade_test
