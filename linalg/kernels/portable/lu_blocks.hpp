// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/kernels/portable/elementwise.hpp>

#include <cmath>
#include <limits>

/// The parts of LU factorizations without pivoting, and of those in the row order of a tournament, that no library has;
/// lu_kernels.hpp explains them.
namespace granary::kernels::portable {

/// Order of the diagonal blocks that one team factors.
inline constexpr int block_order = 32;

// Used in device code, where nvcc does not allow calls of the standard library.
template <class R>
inline constexpr R smallest_normal = std::numeric_limits<R>::min();
template <class R>
inline constexpr R largest_finite = std::numeric_limits<R>::max();
template <class R>
inline constexpr R machine_precision = std::numeric_limits<R>::epsilon();

/// The report of a factorization, in memory that the kernels can access, and its limit. If it stops at bad pivots,
/// these have a modulus below max(tiny * largest, smallest normal number); otherwise they are zeros.
struct PivotState {
  std::int64_t* info = nullptr;  ///< the first bad pivot, counted from 1
  double* value = nullptr;       ///< its modulus; may be null
  double tiny = 0;
  double const* largest = nullptr;  ///< may be null if tiny is 0
  bool stop = true;

  template <class T>
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool is_bad(T const& pivot) const {
    using R = detail::RealOf<T>;
    constexpr R least = smallest_normal<R>, most = largest_finite<R>;
    if (!stop) return pivot == T(0);
    R const asked = tiny > 0 ? static_cast<R>(tiny * *largest) : R(0);
    R const size = detail::modulus(pivot);
    return !(size >= (least < asked ? asked : least)) || !(size <= most);
  }
};

/// A := L U of a square block of order <= block_order, which begins `offset` rows below the first row of the
/// factorization. For one team with scratch memory.
template <class Space, class T>
struct FactorBlock {
  using Scratch = Kokkos::View<T**, Kokkos::LayoutLeft, typename Space::scratch_memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  Strided<T> a;
  PivotState state;
  int offset;

  [[nodiscard]] std::size_t scratch() const { return Scratch::shmem_size(a.extent(0), a.extent(1)); }

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    int const n = a.rows;
    Scratch const block(team.team_scratch(0), a.extent(0), a.extent(1));
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, n * n), [&](int e) { block(e % n, e / n) = a(e % n, e / n); });
    team.team_barrier();
    for (int k = 0; k < n; ++k) {
      T const pivot = block(k, k);
      bool const bad = state.is_bad(pivot);
      if (bad && team.team_rank() == 0 && *state.info == 0) {
        *state.info = offset + k + 1;
        if (state.value != nullptr) *state.value = static_cast<double>(detail::modulus(pivot));
      }
      if (bad && state.stop) break;
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, k + 1, n), [&](int i) {
        T const factor = bad ? block(i, k) : block(i, k) / pivot;
        block(i, k) = factor;
        for (int j = k + 1; j < n; ++j) block(i, j) -= factor * block(k, j);
      });
      team.team_barrier();
    }
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, n * n), [&](int e) { a(e % n, e / n) = block(e % n, e / n); });
  }
};

/// B := B U^-1, row by row; columns of B for a zero pivot are not divided.
template <class T>
struct SolveRowsSkipping {
  Strided<T const> u;
  Strided<T> b;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    int const i = static_cast<int>(row);
    for (int j = 0; j < u.cols; ++j) {
      T value = b(i, j);
      for (int k = 0; k < j; ++k) value -= b(i, k) * u(k, j);
      T const pivot = u(j, j);
      b(i, j) = pivot == T(0) ? value : value / pivot;
    }
  }
};

/// Rounding errors of a pivot whose `terms` terms have moduli of that sum: √terms u / 2 of it. Errors that add up at
/// random are about twice this. Of a few thousand panels without full rank, half of it let multipliers grow more, and
/// twice it was more than LAPACK's errors.
template <class T>
[[nodiscard]] KOKKOS_INLINE_FUNCTION detail::RealOf<T> least_pivot(detail::RealOf<T> size, int terms) {
  using R = detail::RealOf<T>;
  return std::sqrt(static_cast<R>(terms)) * (machine_precision<R> / 4) * size;
}

/// True if a pivot is exactly zero or not below its rounding errors.
template <class T>
[[nodiscard]] KOKKOS_INLINE_FUNCTION bool is_bounded(T const& pivot, detail::RealOf<T> size, int terms) {
  return pivot == T(0) || detail::modulus(pivot) >= least_pivot<T>(size, terms);
}

/// The pivot, or one of the same phase with the least modulus.
template <class T>
[[nodiscard]] KOKKOS_INLINE_FUNCTION T bounded_pivot(T const& pivot, detail::RealOf<T> size, int terms) {
  return is_bounded(pivot, size, terms) ? pivot : pivot / detail::modulus(pivot) * least_pivot<T>(size, terms);
}

/// unbounded := 1 if a pivot is below its rounding errors; one call per pivot.
template <class T>
struct FindSmallPivot {
  Strided<T const> a;
  int* unbounded;

  KOKKOS_FUNCTION void operator()(std::int64_t number) const {
    int const j = static_cast<int>(number);
    detail::RealOf<T> size = detail::modulus(a(j, j));
    for (int k = 0; k < j; ++k) size += detail::modulus(T(a(j, k) * a(k, j)));
    if (!is_bounded(a(j, j), size, j + 1)) Kokkos::atomic_fetch_or(unbounded, 1);
  }
};

/// Repeats the factorization with bounded pivots if one is `unbounded`. `before` has the old values, and is
/// overwritten. zero_pivot := first + the first zero pivot, counted from 1; 0 if there is none. For one team.
template <class Space, class T>
struct BoundBlock {
  Strided<T> a, before;
  int const* unbounded;
  std::int64_t const* info;
  std::int64_t first;
  std::int64_t* zero_pivot;

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    bool const again = *unbounded != 0;
    if (again) {
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, a.rows), [&](int i) { restore(i); });
      team.team_barrier();
      for (int k = 0; k < pivots(); ++k) {
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, k + 1, a.rows), [&](int i) { eliminate(i, k); });
        team.team_barrier();
      }
    }
    if (team.team_rank() != 0) return;
    std::int64_t zero = again ? 0 : *info;
    for (int k = 0; again && k < pivots() && zero == 0; ++k) {
      if (a(k, k) == T(0)) zero = k + 1;
    }
    *zero_pivot = zero > 0 ? first + zero : 0;
  }

 private:
  [[nodiscard]] KOKKOS_INLINE_FUNCTION int pivots() const { return a.rows < a.cols ? a.rows : a.cols; }
  // The sums of moduli of the pivots' terms overwrite the old values.
  KOKKOS_INLINE_FUNCTION void restore(int i) const {
    for (int j = 0; j < a.cols; ++j) {
      a(i, j) = before(i, j);
      before(i, j) = T(detail::modulus(a(i, j)));
    }
  }
  KOKKOS_INLINE_FUNCTION void eliminate(int i, int k) const {
    T const pivot = a(k, k);
    T const factor = pivot == T(0) ? a(i, k) : a(i, k) / pivot;
    a(i, k) = factor;
    for (int j = k + 1; j < a.cols; ++j) {
      T const product = factor * a(k, j);
      a(i, j) -= product;
      if (i == j) before(i, i) += T(detail::modulus(product));
    }
    if (i != k + 1 || i >= a.cols) return;
    a(i, i) = bounded_pivot<T>(a(i, i), detail::real_part(before(i, i)), i + 1);
  }
};

}  // namespace granary::kernels::portable
