// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>

#include <algorithm>
#include <cstdint>

namespace granary::detail {

/// The times of the four kernels on full tiles, in any unit. The defaults are the ratios measured on one core with
/// tiles of 512 (bench/kernels).
struct GRANARY_EXPORT CholeskyTimes {
  std::int64_t potrf = 9;
  std::int64_t trsm = 19;
  std::int64_t syrk = 20;
  std::int64_t gemm = 36;
};

/// The bottom levels of the tasks of a tiled Cholesky factorization: the time from a task's start to the end of the
/// graph on an unbounded machine (DARTS, section 6.1), in closed form.
///
/// With p, t, s, g the times and e = N - 1 the last tile row, the graph's edges give
///   S(i,k) = (i-k) s + P(i)          the updates of tile (i,i) follow each other, then it is factored
///   G(i,j,k) = (j-k) g + T(i,j)      the updates of tile (i,j) likewise
///   T(i,k) = t + (i-k-1)(g+t) + C(i) along row i up to tile (i,i-1), then through SYRK or the GEMM of a lower row:
///   C(e) = s + p,  C(i) = P(i) + max(s, g-p)
///   P(e) = p,  P(k) = p + (e-k) t + (e-k-1) max(s+p, g) + s + p
/// These are exact for s <= t + g and tiles of one size. A smaller last tile makes them an upper bound, which is too
/// large by a constant number of task times.
class GRANARY_EXPORT CholeskyPriorities {
 public:
  /// `tiles`: tiles per row, at least 1.
  constexpr CholeskyPriorities(std::uint64_t tiles, CholeskyTimes const& times)
      : m_last(static_cast<std::int64_t>(tiles) - 1), m_times(times) {}

  [[nodiscard]] constexpr std::int64_t potrf(std::uint64_t column) const {
    auto const [p, t, s, g] = m_times;
    auto const steps = m_last - static_cast<std::int64_t>(column);
    return steps == 0 ? p : p + steps * t + (steps - 1) * std::max(s + p, g) + s + p;
  }
  [[nodiscard]] constexpr std::int64_t trsm(std::uint64_t row, std::uint64_t column) const {
    auto const [p, t, s, g] = m_times;
    bool const in_last_row = static_cast<std::int64_t>(row) == m_last;
    auto const onward = potrf(row) + (in_last_row ? s : std::max(s, g - p));
    return t + (difference(row, column) - 1) * (g + t) + onward;
  }
  [[nodiscard]] constexpr std::int64_t syrk(std::uint64_t row, std::uint64_t step) const {
    return difference(row, step) * m_times.syrk + potrf(row);
  }
  [[nodiscard]] constexpr std::int64_t gemm(std::uint64_t row, std::uint64_t column, std::uint64_t step) const {
    return difference(column, step) * m_times.gemm + trsm(row, column);
  }

 private:
  static constexpr std::int64_t difference(std::uint64_t later, std::uint64_t earlier) {
    return static_cast<std::int64_t>(later - earlier);
  }
  std::int64_t m_last;
  CholeskyTimes m_times;
};

}  // namespace granary::detail
