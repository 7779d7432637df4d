// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/linalg/kernels/portable/elementwise.hpp>

#include <cmath>
#include <limits>

/// The parts of LU factorizations without pivoting, and of those in the row order of a tournament, that no library has;
/// lu_kernels.hpp explains them.
namespace granary::kernels::portable {

/// Order of the diagonal blocks that one team factors.
inline constexpr int block_order = 32;
/// Upper limit of the multipliers that tournaments leave in panels of full rank.
inline constexpr double usual_multiplier = 16;

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
    using R = RealOf<T>;
    constexpr R least = smallest_normal<R>, most = largest_finite<R>;
    if (!stop) return pivot == T(0);
    R const asked = tiny > 0 ? static_cast<R>(tiny * *largest) : R(0);
    R const size = modulus(pivot);
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
        if (state.value != nullptr) *state.value = static_cast<double>(modulus(pivot));
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

/// An entry of L from its numerator, whose terms are bounded by `size`: 0 if its modulus would exceed 1 and the
/// numerator is not above its rounding errors.
template <class T>
[[nodiscard]] KOKKOS_INLINE_FUNCTION T bounded_quotient(T const& rest, RealOf<T> size, T const& pivot, int terms) {
  using R = RealOf<T>;
  constexpr R precision = machine_precision<R>;
  if (pivot == T(0)) return rest;
  bool const is_rounding_error = modulus(rest) <= static_cast<R>(terms) * precision * size;
  return is_rounding_error && modulus(rest) > modulus(pivot) ? T(0) : rest / pivot;
}

/// Repeats the solve with control of rounding errors for rows of B that have an unusual entry; `before` has their old
/// values.
template <class T>
struct BoundRows {
  Strided<T const> u, before;
  Strided<T> b;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    int const i = static_cast<int>(row);
    bool usual = true;
    for (int j = 0; j < b.cols && usual; ++j) usual = modulus_of(b(i, j)) <= usual_multiplier;
    if (usual) return;
    for (int j = 0; j < u.cols; ++j) {
      T rest = before(i, j);
      RealOf<T> size = modulus(rest);
      for (int k = 0; k < j; ++k) {
        T const product = b(i, k) * u(k, j);
        rest -= product;
        size += modulus(product);
      }
      b(i, j) = bounded_quotient<T>(rest, size, u(j, j), j + 1);
    }
  }
};

/// unusual := 1 if a multiplier is unusual.
template <class T>
struct FindUnusual {
  Strided<T const> a;
  Entries entries;
  int* unusual;

  FindUnusual(Strided<T const> const& matrix, int* flag) : a(matrix), entries(matrix), unusual(flag) {}
  KOKKOS_FUNCTION void operator()(std::int64_t number) const {
    int const i = entries.row(number), j = entries.col(number);
    if (i > j && !(modulus_of(a(i, j)) <= usual_multiplier)) Kokkos::atomic_fetch_or(unusual, 1);
  }
};

/// Repeats the factorization with control of rounding errors if an entry is unusual. `before` has the old values, and
/// is overwritten. zero_pivot := first + the first zero pivot, counted from 1; 0 if there is none. For one team.
template <class Space, class T>
struct BoundBlock {
  Strided<T> a, before;
  int const* unusual;
  std::int64_t const* info;
  std::int64_t first;
  std::int64_t* zero_pivot;

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    bool const again = *unusual != 0;
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
  // The sums of moduli of L's numerators overwrite the old values.
  KOKKOS_INLINE_FUNCTION void restore(int i) const {
    for (int j = 0; j < a.cols; ++j) {
      a(i, j) = before(i, j);
      before(i, j) = T(modulus(a(i, j)));
    }
  }
  KOKKOS_INLINE_FUNCTION void eliminate(int i, int k) const {
    T const factor = bounded_quotient<T>(a(i, k), real_part(before(i, k)), a(k, k), k + 1);
    a(i, k) = factor;
    for (int j = k + 1; j < a.cols; ++j) {
      T const product = factor * a(k, j);
      a(i, j) -= product;
      if (j < i) before(i, j) += T(modulus(product));
    }
  }
};

}  // namespace granary::kernels::portable
