// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/data/scalar.hpp>
#include <granary/detail/linalg/files/matrix_file.hpp>

#include <type_traits>
#include <utility>

namespace granary::app {

/// Calls `function(std::type_identity<T>{})` with the T that `type` stands for.
template <class Function>
decltype(auto) with_scalar(ScalarType type, Function&& function) {
  switch (type) {
    case ScalarType::Float32:
      return std::forward<Function>(function)(std::type_identity<float>{});
    case ScalarType::Float64:
      return std::forward<Function>(function)(std::type_identity<double>{});
    case ScalarType::Complex64:
      return std::forward<Function>(function)(std::type_identity<Kokkos::complex<float>>{});
    case ScalarType::Complex128:
      return std::forward<Function>(function)(std::type_identity<Kokkos::complex<double>>{});
  }
  throw InternalError("a matrix has elements of unknown type");
}

/// Real operations that `real` operations take on elements of this type: 4 times as many if complex.
[[nodiscard]] constexpr double operations_on(ScalarType type, double real) {
  return is_complex_type(type) ? 4 * real : real;
}

}  // namespace granary::app
