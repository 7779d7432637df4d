// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>

// Lower bounds of the bytes that a dense algorithm moves into a memory, for any order of its operations. They are
// asymptotic: the leading term c * operations / sqrt(M), M elements of memory, without the terms of order M and of the
// matrices' sizes. They may exceed the actual traffic when the matrices fit. Then, and for small matrices, the
// compulsory traffic is the bound: take the larger of the two, never their sum. All in bytes: `element` is the size of
// an element, `memory` of the memory. All throw InvalidArgument if `element` is 0, the memory holds no element, or the
// bound exceeds 2^63 bytes.

namespace granary {

namespace detail {

/// `volume / sqrt(M)` elements, in bytes.
[[nodiscard]] inline Bytes over_root_of_memory(double volume, Bytes memory, Bytes element) {
  if (element == 0) throw InvalidArgument("an I/O bound needs elements of at least 1 byte");
  if (memory < element) {
    throw InvalidArgument("an I/O bound needs a memory of at least one element: it has " + std::to_string(memory) +
                          " bytes, an element " + std::to_string(element));
  }
  auto const size = static_cast<double>(element);
  double const bytes = volume / std::sqrt(static_cast<double>(memory) / size) * size;
  if (bytes >= 0x1p63) throw InvalidArgument("an I/O bound of " + std::to_string(bytes) + " bytes is too large");
  return static_cast<Bytes>(bytes);
}

[[nodiscard]] inline double cube(std::uint64_t n) {
  auto const order = static_cast<double>(n);
  return order * order * order;
}

}  // namespace detail

/// Cholesky factorization: n^3 / (3 sqrt(2) sqrt(M)) elements (Beaumont, Eyraud-Dubois, Langou, Verite 2022,
/// arXiv:2202.10217; DARTS, Figure 6b).
///
/// ```cpp
/// using namespace granary::literals;
/// auto const bound = granary::cholesky_io_bound(/*n=*/100'000, /*memory=*/16_GiB, sizeof(double));
/// auto const least = std::max(bound, granary::cholesky_compulsory(100'000, sizeof(double)));
/// std::printf("reads at least %s\n", granary::format_bytes(least).c_str());
/// ```
[[nodiscard]] inline Bytes cholesky_io_bound(std::uint64_t n, Bytes memory, Bytes element) {
  return detail::over_root_of_memory(detail::cube(n) / (3 * std::numbers::sqrt2), memory, element);
}

/// The same for orders of operations that do not use the symmetry of the updates: n^3 / (3 sqrt(M)) elements.
[[nodiscard]] inline Bytes cholesky_io_bound_nonsymmetric(std::uint64_t n, Bytes memory, Bytes element) {
  return detail::over_root_of_memory(detail::cube(n) / 3, memory, element);
}

/// LU factorization without pivoting: 2 n^3 / (3 sqrt(M)) elements (Olivry, Langou, Pouchet, Sadayappan, Rastello 2019,
/// arXiv:1911.06664, Table 2; DARTS, Figure 14b).
[[nodiscard]] inline Bytes lu_io_bound(std::uint64_t n, Bytes memory, Bytes element) {
  return detail::over_root_of_memory(2 * detail::cube(n) / 3, memory, element);
}

/// The same for an m x n matrix: min(m, n)^2 (3 max(m, n) - min(m, n)) / 6 updates of an element with 2 / sqrt(M)
/// elements each; see IoBoundOfMemories.
[[nodiscard]] inline Bytes lu_io_bound(std::uint64_t m, std::uint64_t n, Bytes memory, Bytes element) {
  auto const less = static_cast<double>(m < n ? m : n);
  auto const more = static_cast<double>(m < n ? n : m);
  return detail::over_root_of_memory(less * less * (3 * more - less) / 3, memory, element);
}

/// C += A B with C m x n and A m x k: 2 m n k / sqrt(M) elements (Smith, Lowery, Langou, van de Geijn 2019,
/// arXiv:1702.02017).
[[nodiscard]] inline Bytes gemm_io_bound(std::uint64_t m, std::uint64_t n, std::uint64_t k, Bytes memory,
                                         Bytes element) {
  double const products = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  return detail::over_root_of_memory(2 * products, memory, element);
}

namespace detail {

/// Lower bounds of the bytes that P memories of M elements each receive, for any distribution of the operations.
///
/// The proofs of the bounds above limit the number of operations with a given number of elements, so they hold for any
/// part of the operations in proportion: a memory with a share s of them receives at least s times the bound. The
/// shares add up to 1, and at least one is 1 / P or more.
struct GRANARY_EXPORT IoBoundOfMemories {
  Bytes all = 0;      ///< received by all together, from outside or from each other: the bound with M
  Bytes busiest = 0;  ///< received by the memory that receives most: the bound with M, divided by P
  /// Received from outside, for example over the host's links, if transfers between the memories are free. Then they
  /// act as one memory: the bound with P M, lower than `all` by sqrt(P).
  Bytes from_outside = 0;
};

}  // namespace detail

/// Generalises a bound: `bound(memory)` is one of the above for a memory of so many bytes. Throws InvalidArgument if
/// there are no memories, or if their total size exceeds 2^63 bytes.
template <class Bound>
[[nodiscard]] detail::IoBoundOfMemories io_bound_of_memories(Bound const& bound, Bytes memory, std::uint32_t memories) {
  if (memories == 0) throw InvalidArgument("an I/O bound needs at least 1 memory");
  if (memory > (Bytes{1} << 63U) / memories) {
    throw InvalidArgument("an I/O bound allows at most 2^63 bytes of memory in total, not " + std::to_string(memories) +
                          " memories of " + std::to_string(memory) + " bytes");
  }
  Bytes const all = bound(memory);
  return {.all = all, .busiest = all / memories, .from_outside = bound(memory * memories)};
}

/// Bytes that must be read, however large the memory is: one triangle with its diagonal. The same number must be
/// written.
[[nodiscard]] constexpr Bytes cholesky_compulsory(std::uint64_t n, Bytes element) { return n * (n + 1) / 2 * element; }

/// The same for LU: the whole matrix.
[[nodiscard]] constexpr Bytes lu_compulsory(std::uint64_t n, Bytes element) { return n * n * element; }

/// Floating-point operations of a Cholesky factorization, as LAPACK counts them (LAPACK Working Note 41).
[[nodiscard]] constexpr double cholesky_flops(std::uint64_t n) {
  auto const order = static_cast<double>(n);
  return order * (order * (order / 3 + 0.5) + 1.0 / 6);
}

/// The same for the LU factorization of an m x n matrix.
[[nodiscard]] constexpr double lu_flops(std::uint64_t m, std::uint64_t n) {
  auto const less = static_cast<double>(m < n ? m : n);
  auto const more = static_cast<double>(m < n ? n : m);
  return less * (less * (more - less / 3 - 0.5) + 5.0 / 6);
}

}  // namespace granary
