// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/data/scalar.hpp>

#include <cstddef>

namespace granary::kernels {

/// Products and updates of a few columns by one vector x, for panels that are too narrow for GEMM. A call passes once
/// over x for several columns, with the widest vectors of the processor. They hold real numbers: a complex x comes with
/// i x, because Re(x^H y) = x·y and Im(x^H y) = (i x)·y are products of real vectors.
template <class T>
class ColumnSweeps {
 public:
  static constexpr int bytes = 64;                   ///< of the widest vector
  static constexpr int entries = bytes / sizeof(T);  ///< in it

  /// x and, if T is complex, i x; as long as `length` of the widest vectors.
  struct Multiplier {
    T const* part[2];
    int length;
  };
  /// `count` columns as long as x, `step` entries apart.
  template <class Entry>
  struct Columns {
    Entry* first;
    std::ptrdiff_t step;
    int count;
  };

  /// results[k] := x^H y_k.
  static void multiply(Multiplier const& x, Columns<T const> const& y, T* results) { run(Products{x, y, results}); }
  /// y_k -= factors[k] x.
  static void subtract(Multiplier const& x, Columns<T> const& y, T const* factors) { run(Updates{x, y, factors}); }

 private:
  using R = detail::RealOf<T>;
  static constexpr int parts = detail::is_complex<T> ? 2 : 1;

  // Not copied with memcpy, which GCC 12 does by halves, through memory, in functions with their own target.
  template <int size>
  struct VectorOf {
    using Vector [[gnu::vector_size(size)]] = R;
    using InMemory [[gnu::vector_size(size), gnu::aligned(alignof(R)), gnu::may_alias]] = R;
  };

  // The i-th vector in a column.
  template <int size>
  [[gnu::always_inline]] static inline auto const& vector_in(T const* column, int i) {
    return reinterpret_cast<typename VectorOf<size>::InMemory const*>(column)[i];
  }

  struct Products {
    static constexpr int group = 8 / parts;  // as many sums as keep the multipliers busy, and are in registers
    Multiplier x;
    Columns<T const> y;
    T* results;

    template <int size, int columns>
    [[gnu::always_inline]] inline void sweep(int first) const {
      using Vector = typename VectorOf<size>::Vector;
      Vector sums[columns][parts] = {};
      for (int i = 0; i < x.length * (bytes / size); ++i) {
        for (int k = 0; k < columns; ++k) {
          Vector const of_y = vector_in<size>(y.first + (first + k) * y.step, i);
          for (int p = 0; p < parts; ++p) sums[k][p] += vector_in<size>(x.part[p], i) * of_y;
        }
      }
      for (int k = 0; k < columns; ++k) {
        for (int p = 0; p < parts; ++p) {
          R total = 0;
          for (std::size_t lane = 0; lane < size / sizeof(R); ++lane) total += sums[k][p][lane];
          reinterpret_cast<R*>(results + first + k)[p] = total;
        }
      }
    }
  };

  struct Updates {
    static constexpr int group = 4;
    Multiplier x;
    Columns<T> y;
    T const* factors;

    template <int size, int columns>
    [[gnu::always_inline]] inline void sweep(int first) const {
      using Vector = typename VectorOf<size>::Vector;
      using InMemory = typename VectorOf<size>::InMemory;
      for (int i = 0; i < x.length * (bytes / size); ++i) {
        Vector of_x[parts];
        for (int p = 0; p < parts; ++p) of_x[p] = vector_in<size>(x.part[p], i);
        for (int k = 0; k < columns; ++k) {
          auto& in_y = reinterpret_cast<InMemory*>(y.first + (first + k) * y.step)[i];
          Vector of_y = in_y;
          for (int p = 0; p < parts; ++p) of_y -= of_x[p] * reinterpret_cast<R const*>(factors + first + k)[p];
          in_y = of_y;
        }
      }
    }
  };

  // Groups of columns, then the rest in smaller ones.
  template <int size, int columns, class Sweep>
  [[gnu::always_inline]] static inline void sweep_groups(Sweep const& sweep, int first) {
    for (; first + columns <= sweep.y.count; first += columns) sweep.template sweep<size, columns>(first);
    if constexpr (columns > 1) sweep_groups<size, columns / 2>(sweep, first);
  }

  // The vectors have the size of the registers: GCC 12 computes with larger ones in memory, ten times slower.
  template <class Sweep>
  static void run(Sweep const& sweep) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return run_512(sweep);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return run_256(sweep);
#endif
    sweep_groups<16, Sweep::group>(sweep, 0);
  }
#if defined(__x86_64__)
  template <class Sweep>
  __attribute__((target("avx512f"))) static void run_512(Sweep const& sweep) {
    sweep_groups<64, Sweep::group>(sweep, 0);
  }
  template <class Sweep>
  __attribute__((target("avx2,fma"))) static void run_256(Sweep const& sweep) {
    sweep_groups<32, Sweep::group>(sweep, 0);
  }
#endif
};

}  // namespace granary::kernels
