// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace granary {

namespace detail {

/// The scalars of a task graph's data.
///
/// ```cpp
/// auto const precision = granary::precision_of_letter("z").value();
/// assert(granary::scalar_bytes(precision) == 16 && granary::flops_factor(precision) == 4);
/// ```
enum class GRANARY_EXPORT Precision : std::uint8_t { Single, Double, ComplexSingle, ComplexDouble };

}  // namespace detail

inline constexpr std::size_t precisions = 4;

/// LAPACK's letters, as in Codelet::variant.
inline constexpr std::array<char const*, precisions> precision_letters{"s", "d", "c", "z"};
inline constexpr std::array<char const*, precisions> precision_names{"single", "double", "complex single",
                                                                     "complex double"};

[[nodiscard]] constexpr char const* letter_of(detail::Precision precision) {
  return precision_letters[static_cast<std::size_t>(precision)];
}
[[nodiscard]] constexpr char const* name_of(detail::Precision precision) {
  return precision_names[static_cast<std::size_t>(precision)];
}
/// Empty for other texts.
[[nodiscard]] constexpr std::optional<detail::Precision> precision_of_letter(std::string_view letter) {
  auto const found = std::ranges::find(precision_letters, letter);
  if (found == precision_letters.end()) return std::nullopt;
  return static_cast<detail::Precision>(found - precision_letters.begin());
}

[[nodiscard]] constexpr bool has_complex_scalars(detail::Precision precision) {
  return precision >= detail::Precision::ComplexSingle;
}
/// The precision of the real and the imaginary part.
[[nodiscard]] constexpr detail::Precision real_precision(detail::Precision precision) {
  return precision == detail::Precision::Single || precision == detail::Precision::ComplexSingle
             ? detail::Precision::Single
             : detail::Precision::Double;
}
[[nodiscard]] constexpr Bytes scalar_bytes(detail::Precision precision) {
  Bytes const real = real_precision(precision) == detail::Precision::Single ? 4 : 8;
  return has_complex_scalars(precision) ? 2 * real : real;
}
/// Real operations of a multiplication and an addition, relative to those with real scalars: 8 instead of 2.
[[nodiscard]] constexpr double flops_factor(detail::Precision precision) {
  return has_complex_scalars(precision) ? 4 : 1;
}

}  // namespace granary
