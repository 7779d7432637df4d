// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/model/precision.hpp>

#include <gtest/gtest.h>

#include <array>

namespace granary {
namespace {

constexpr std::array all{Precision::Single, Precision::Double, Precision::ComplexSingle, Precision::ComplexDouble};
static_assert(all.size() == precisions);

TEST(PrecisionOfScalars, HasALetter) {
  for (auto const precision : all) EXPECT_EQ(precision_of_letter(letter_of(precision)), precision);
  for (auto const* other : {"", "h", "S", "sd"}) EXPECT_FALSE(precision_of_letter(other).has_value()) << other;
  EXPECT_STREQ(name_of(Precision::ComplexSingle), "complex single");
}

TEST(PrecisionOfScalars, AComplexScalarIsTwoRealOnes) {
  EXPECT_EQ(scalar_bytes(Precision::Single), 4U);
  EXPECT_EQ(scalar_bytes(Precision::Double), 8U);
  for (auto const precision : all) {
    auto const real = real_precision(precision);
    EXPECT_FALSE(has_complex_scalars(real));
    EXPECT_EQ(flops_factor(real), 1);
    EXPECT_EQ(scalar_bytes(precision), (has_complex_scalars(precision) ? 2 : 1) * scalar_bytes(real));
    EXPECT_EQ(flops_factor(precision), has_complex_scalars(precision) ? 4 : 1);
  }
  EXPECT_EQ(real_precision(Precision::ComplexSingle), Precision::Single);
  EXPECT_EQ(real_precision(Precision::ComplexDouble), Precision::Double);
}

}  // namespace
}  // namespace granary
