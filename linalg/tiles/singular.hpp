// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/export.hpp>

#include <cstdint>

namespace granary {

/// A factorization has a pivot that cannot be divided by: one that is exactly zero, or, in LU without pivoting, one
/// that is too small or not finite.
class GRANARY_EXPORT Singular : public Error {
 public:
  /// U(order, order) of an LU factorization with pivoting is exactly zero: the factorization is complete, but it cannot
  /// solve systems. Or such an element of a Cholesky factor, of which an inverse was asked.
  explicit Singular(std::uint64_t order);

  /// A pivot of that modulus stopped a factorization without pivoting; the matrix is partly overwritten.
  Singular(std::uint64_t order, double modulus);

  /// The number of the pivot, counted from 1 like LAPACK's INFO.
  [[nodiscard]] std::uint64_t order() const { return m_order; }
  /// Its modulus.
  [[nodiscard]] double modulus() const { return m_modulus; }

 private:
  std::uint64_t m_order;
  double m_modulus = 0;
};

}  // namespace granary
