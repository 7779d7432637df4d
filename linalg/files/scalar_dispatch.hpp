// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <complex>
#include <type_traits>
#include <utility>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/files/scalar_type.hpp>

namespace granary::detail {

template <class T>
inline constexpr bool is_std_complex = !std::is_floating_point_v<T>;

/// Calls `function(T{})` with the T of `type`; complex types are std::complex.
template <class Function>
decltype(auto) with_scalar(ScalarType type, Function&& function) {
  switch (type) {
    case ScalarType::Float32:
      return std::forward<Function>(function)(float{});
    case ScalarType::Float64:
      return std::forward<Function>(function)(double{});
    case ScalarType::Complex64:
      return std::forward<Function>(function)(std::complex<float>{});
    case ScalarType::Complex128:
      return std::forward<Function>(function)(std::complex<double>{});
  }
  throw InternalError("a matrix has elements of unknown type");
}

/// Rounds; drops the imaginary part if To is real.
template <class To, class From>
[[nodiscard]] To convert_scalar(From const& value) {
  if constexpr (is_std_complex<To>) {
    using Real = typename To::value_type;
    return {static_cast<Real>(std::real(value)), static_cast<Real>(std::imag(value))};
  } else {
    return static_cast<To>(std::real(value));
  }
}

}  // namespace granary::detail
