// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/model/precision.hpp>

#include <gtest/gtest.h>

#include <array>

namespace granary {
namespace {

constexpr std::array all{detail::Precision::Single, detail::Precision::Double, detail::Precision::ComplexSingle,
                         detail::Precision::ComplexDouble};
static_assert(all.size() == precisions);

TEST(PrecisionOfScalars, HasALetter) {
  for (auto const precision : all) EXPECT_EQ(precision_of_letter(letter_of(precision)), precision);
  for (auto const* other : {"", "h", "S", "sd"}) EXPECT_FALSE(precision_of_letter(other).has_value()) << other;
  EXPECT_STREQ(name_of(detail::Precision::ComplexSingle), "complex single");
}

TEST(PrecisionOfScalars, AComplexScalarIsTwoRealOnes) {
  EXPECT_EQ(scalar_bytes(detail::Precision::Single), 4U);
  EXPECT_EQ(scalar_bytes(detail::Precision::Double), 8U);
  for (auto const precision : all) {
    auto const real = real_precision(precision);
    EXPECT_FALSE(has_complex_scalars(real));
    EXPECT_EQ(flops_factor(real), 1);
    EXPECT_EQ(scalar_bytes(precision), (has_complex_scalars(precision) ? 2 : 1) * scalar_bytes(real));
    EXPECT_EQ(flops_factor(precision), has_complex_scalars(precision) ? 4 : 1);
  }
  EXPECT_EQ(real_precision(detail::Precision::ComplexSingle), detail::Precision::Single);
  EXPECT_EQ(real_precision(detail::Precision::ComplexDouble), detail::Precision::Double);
}

}  // namespace
}  // namespace granary
