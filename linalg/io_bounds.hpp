// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/units.hpp>

#include <cmath>
#include <cstdint>
#include <numbers>

namespace granary {

/// The least that any order of the operations of a Cholesky factorization moves into a memory of `memory` bytes,
/// asymptotically: n^3 / (3 sqrt(2) sqrt(M)) elements with M elements of memory (Beaumont, Eyraud-Dubois, Langou,
/// Verite 2022, arXiv:2202.10217). In bytes; `element` is the size of an element in bytes, `memory` at least `element`.
[[nodiscard]] inline Bytes cholesky_io_bound(std::uint64_t n, Bytes memory, Bytes element) {
  auto const order = static_cast<double>(n);
  auto const elements = static_cast<double>(memory) / static_cast<double>(element);
  return static_cast<Bytes>(order * order * order / (3 * std::numbers::sqrt2 * std::sqrt(elements)) *
                            static_cast<double>(element));
}

/// The same for orders of operations that do not use the symmetry of the updates: n^3 / (3 sqrt(M)) elements, in bytes.
[[nodiscard]] inline Bytes cholesky_io_bound_nonsymmetric(std::uint64_t n, Bytes memory, Bytes element) {
  auto const order = static_cast<double>(n);
  auto const elements = static_cast<double>(memory) / static_cast<double>(element);
  return static_cast<Bytes>(order * order * order / (3 * std::sqrt(elements)) * static_cast<double>(element));
}

/// What must be read however large the memory is: one triangle with its diagonal, in bytes. As much must be written.
[[nodiscard]] constexpr Bytes cholesky_compulsory(std::uint64_t n, Bytes element) { return n * (n + 1) / 2 * element; }

/// Floating-point operations of a Cholesky factorization, as LAPACK counts them (LAPACK Working Note 41).
[[nodiscard]] constexpr double cholesky_flops(std::uint64_t n) {
  auto const order = static_cast<double>(n);
  return order * (order * (order / 3 + 0.5) + 1.0 / 6);
}

}  // namespace granary
