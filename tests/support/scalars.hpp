// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "support/seeds.hpp"

#include <Kokkos_Complex.hpp>
#include <gtest/gtest.h>

#include <type_traits>

namespace granary::test {

/// The four precisions; with a sanitizer only double and complex<float>, because the same source in another precision
/// reads and writes the same elements, and needs as long to compile and ten times as long to run.
using Scalars = std::conditional_t<Seeds::sanitized, ::testing::Types<double, Kokkos::complex<float>>,
                                   ::testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>>>;

}  // namespace granary::test
