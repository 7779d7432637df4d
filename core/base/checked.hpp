// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

namespace granary {

/// The largest size that arrays and files can have: 2^63 - 1 bytes, since offsets are signed.
inline constexpr Bytes largest_size = std::numeric_limits<std::int64_t>::max();

/// The product of extents and sizes in bytes; empty if it exceeds `largest_size`. Without factors 1.
[[nodiscard]] constexpr std::optional<std::uint64_t> checked_product(std::span<std::uint64_t const> factors) {
  std::uint64_t product = 1;
  bool fits = true;
  for (auto const factor : factors) {
    if (factor == 0) return 0;
    fits = fits && !__builtin_mul_overflow(product, factor, &product) && product <= largest_size;
  }
  return fits ? std::optional(product) : std::nullopt;
}
[[nodiscard]] constexpr std::optional<std::uint64_t> checked_product(std::initializer_list<std::uint64_t> factors) {
  return checked_product(std::span(factors.begin(), factors.size()));
}

/// The sum of two sizes; empty if it exceeds `largest_size`.
[[nodiscard]] constexpr std::optional<std::uint64_t> checked_sum(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum) || sum > largest_size) return std::nullopt;
  return sum;
}

/// Converts a number of elements of any integer type. Throws InvalidArgument if it is negative.
template <std::integral Integer>
[[nodiscard]] std::uint64_t checked_extent(Integer extent) {
  if constexpr (std::is_signed_v<Integer>) {
    if (extent < 0) {
      throw InvalidArgument("an array cannot have an extent of " + std::to_string(extent) +
                            ": extents must be at least 0");
    }
  }
  return static_cast<std::uint64_t>(extent);
}

/// The bytes of an array of these extents. Throws InvalidArgument, with the extents, if they exceed `largest_size`.
[[nodiscard]] GRANARY_EXPORT Bytes array_bytes(std::span<std::uint64_t const> extents, Bytes element);
[[nodiscard]] inline Bytes array_bytes(std::initializer_list<std::uint64_t> extents, Bytes element) {
  return array_bytes(std::span(extents.begin(), extents.size()), element);
}

}  // namespace granary
