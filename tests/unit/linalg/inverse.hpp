// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gtest/gtest.h>

#include "unit/linalg/tile.hpp"

/// The definitions of trtri and lauum, on exact triangles.
namespace granary::testing {

/// That `inverse` holds the inverse of the triangle in `a`, and a's entries elsewhere.
template <class T>
void expect_inverse(Uplo uplo, Diag diag, Tile<T> a, Tile<T> inverse) {
  auto before = a;
  int n = 0;
  a.for_each([&](int i, int, T&) { n = i + 1; });
  a.for_each([&](int i, int j, T& value) {
    if (!in_triangle(uplo, i, j) || (i == j && diag == Diag::Unit)) {
      ASSERT_TRUE(inverse(i, j) == value || value != value) << i << " " << j << " changed";
      return;
    }
    Exact<T> sum(0);
    for (int k = std::min(i, j); k <= std::max(i, j); ++k) {
      sum += entry(uplo, Op::NoTrans, diag, before, i, k) * entry(uplo, Op::NoTrans, diag, inverse, k, j);
    }
    ASSERT_EQ(sum, Exact<T>(i == j ? 1 : 0)) << n << " " << char(uplo) << char(diag) << " " << i << " " << j;
  });
  EXPECT_TRUE(inverse.padding_untouched());
}

/// That `squared` holds the triangle of L^H L or U U^H, and x's entries elsewhere.
template <class T>
void expect_square(Uplo uplo, Tile<T> x, Tile<T> squared) {
  int n = 0;
  x.for_each([&](int i, int, T&) { n = i + 1; });
  bool const lower = uplo == Uplo::Lower;
  double const error = largest_error(uplo, squared, x, [&](int i, int j) {
    Exact<T> sum(0);
    for (int k = std::max(i, j); k < n; ++k) {
      sum += lower ? detail::conjugate(exact(x(k, i))) * exact(x(k, j))
                   : exact(x(i, k)) * detail::conjugate(exact(x(j, k)));
    }
    return sum;
  });
  EXPECT_EQ(error, 0) << n << " " << char(uplo);
  EXPECT_TRUE(squared.padding_untouched());
}

}  // namespace granary::testing
