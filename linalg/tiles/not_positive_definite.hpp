// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/export.hpp>

#include <cstdint>

namespace granary {

/// A Cholesky factorization found a pivot that is not positive; the matrix is partly overwritten, as in LAPACK.
class GRANARY_EXPORT NotPositiveDefinite : public Error {
 public:
  explicit NotPositiveDefinite(std::uint64_t order)
      : Error("the matrix is not positive definite: its leading minor of order " + std::to_string(order) +
              " is not positive"),
        m_order(order) {}

  /// The order of the leading minor that is not positive, counted from 1 like LAPACK's INFO.
  [[nodiscard]] std::uint64_t order() const { return m_order; }

 private:
  std::uint64_t m_order;
};

}  // namespace granary
