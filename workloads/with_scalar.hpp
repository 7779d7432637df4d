// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/model/precision.hpp>
#include <granary/detail/linalg/data/scalar.hpp>

namespace granary::detail {

/// Calls `function(T{})` with the scalar T of linear algebra that has this precision.
template <class Function>
void with_scalar(Precision precision, Function&& function) {
  switch (precision) {
    case Precision::Single:
      return function(float{});
    case Precision::Double:
      return function(double{});
    case Precision::ComplexSingle:
      return function(Kokkos::complex<float>{});
    case Precision::ComplexDouble:
      return function(Kokkos::complex<double>{});
  }
}

}  // namespace granary::detail
