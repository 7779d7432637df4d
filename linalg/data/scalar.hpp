// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/backends/kokkos_core.hpp>
#include <granary/detail/core/base/export.hpp>

#include <cmath>

/// Calls a macro for each of the four scalars, to instantiate templates.
#define GRANARY_FOR_EACH_SCALAR(INSTANTIATE) \
  INSTANTIATE(float)                         \
  INSTANTIATE(double)                        \
  INSTANTIATE(Kokkos::complex<float>)        \
  INSTANTIATE(Kokkos::complex<double>)

/// The four scalars of linear algebra: float, double, Kokkos::complex<float>, Kokkos::complex<double>.
namespace granary::detail {

template <class T>
struct GRANARY_EXPORT ScalarTraits {
  using Real = T;
  static constexpr bool is_complex = false;
};
template <class R>
struct GRANARY_EXPORT ScalarTraits<Kokkos::complex<R>> {
  using Real = R;
  static constexpr bool is_complex = true;
};

/// float or double: the type of |x|.
template <class T>
using RealOf = typename ScalarTraits<T>::Real;
template <class T>
inline constexpr bool is_complex = ScalarTraits<T>::is_complex;

/// LAPACK's letter: "s", "d", "c", "z". It distinguishes the codelets of one operation.
template <class T>
inline constexpr char const* precision_letter = is_complex<T> ? (sizeof(RealOf<T>) == 4 ? "c" : "z")
                                                              : (sizeof(T) == 4 ? "s" : "d");

/// Real floating-point operations of a multiplication and an addition: 8 in complex arithmetic, 2 in real.
template <class T>
inline constexpr double flops_per_fma = is_complex<T> ? 8 : 2;

/// The conjugate; x itself if it is real.
template <class T>
[[nodiscard]] KOKKOS_INLINE_FUNCTION T conjugate(T const& x) {
  if constexpr (is_complex<T>) {
    return Kokkos::conj(x);
  } else {
    return x;
  }
}
/// |x|, without overflow.
template <class T>
[[nodiscard]] KOKKOS_INLINE_FUNCTION RealOf<T> modulus(T const& x) {
  if constexpr (is_complex<T>) {
    return std::hypot(x.real(), x.imag());
  } else {
    return std::abs(x);
  }
}
template <class T>
[[nodiscard]] KOKKOS_INLINE_FUNCTION RealOf<T> real_part(T const& x) {
  if constexpr (is_complex<T>) {
    return x.real();
  } else {
    return x;
  }
}
template <class T>
[[nodiscard]] KOKKOS_INLINE_FUNCTION bool is_finite(T const& x) {
  if constexpr (is_complex<T>) {
    return std::isfinite(x.real()) && std::isfinite(x.imag());
  } else {
    return std::isfinite(x);
  }
}

}  // namespace granary::detail
