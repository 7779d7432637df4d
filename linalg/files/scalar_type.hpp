// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>

namespace granary {

/// The element types of matrices in files; complex numbers are pairs, the real part first.
enum class GRANARY_EXPORT ScalarType { Float32, Float64, Complex64, Complex128 };

[[nodiscard]] constexpr bool is_complex_type(ScalarType type) {
  return type == ScalarType::Complex64 || type == ScalarType::Complex128;
}
/// Bytes of one element.
[[nodiscard]] constexpr Bytes size_of(ScalarType type) {
  return type == ScalarType::Float32 ? 4 : type == ScalarType::Complex128 ? 16 : 8;
}
[[nodiscard]] constexpr char const* name_of(ScalarType type) {
  switch (type) {
    case ScalarType::Float32:
      return "float";
    case ScalarType::Float64:
      return "double";
    case ScalarType::Complex64:
      return "complex float";
    case ScalarType::Complex128:
      return "complex double";
  }
  return "unknown";
}

/// The ScalarType of float, double, Kokkos::complex<float>, Kokkos::complex<double>.
template <class T>
inline constexpr ScalarType scalar_type_of = std::is_floating_point_v<T>
                                                 ? (sizeof(T) == 4 ? ScalarType::Float32 : ScalarType::Float64)
                                                 : (sizeof(T) == 8 ? ScalarType::Complex64 : ScalarType::Complex128);

}  // namespace granary
