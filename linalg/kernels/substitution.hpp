// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/kernels/kernel_choice.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>

namespace granary::kernels {

/// Solves op(A) X = alpha B or X op(A) = alpha B by substitution, with a triangle A of order at most 32. Some
/// right-hand sides at a time are copied, one vector for each unknown: the substitution is then n²/2 operations on
/// vectors. With the widest vectors of the processor it takes the time of a product by the inverse, whose residual is
/// larger by the condition of A.
template <class T>
class Substitution {
 public:
  static constexpr int largest_order = 32;

  Substitution(Side side, Uplo uplo, Op op, Diag diag, T alpha, Block<T const> a)
      : m_left(side == Side::Left),
        // On the left, a lower op(A) is solved forwards, an upper one backwards; on the right the other way round.
        m_forwards(m_left == ((uplo == Uplo::Lower) == (op == Op::NoTrans))),
        m_unit(diag == Diag::Unit),
        m_order(a.rows),
        m_alpha(alpha) {
    auto const element = [&](int row, int col) {
      T const stored = *(op == Op::NoTrans ? a.sub(row, col, 1, 1) : a.sub(col, row, 1, 1)).data;
      return op == Op::ConjTrans ? detail::conjugate(stored) : stored;
    };
    for (int p = 0; p < m_order; ++p) {
      for (int q = 0; q < p; ++q) {
        T const factor = m_left ? element(place(p), place(q)) : element(place(q), place(p));
        m_real[p][q] = detail::real_part(factor);
        if constexpr (detail::is_complex<T>) m_imaginary[p][q] = factor.imag();
      }
      if (m_unit) continue;
      m_pivot[p] = element(place(p), place(p));
      m_reciprocals = m_reciprocals && has_reciprocal(m_pivot[p]);
    }
    for (int p = 0; m_reciprocals && !m_unit && p < m_order; ++p) m_pivot[p] = T(1) / m_pivot[p];
  }

  /// B := X.
  void solve(Block<T> b) const {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return solve_512(b);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return solve_256(b);
#endif
    solve_strips(b);
  }

 private:
  using R = detail::RealOf<T>;
  using Vector [[gnu::vector_size(64)]] = R;
  static constexpr int width = 64 / sizeof(R);  ///< right-hand sides at a time
  static constexpr int parts = detail::is_complex<T> ? 2 : 1;
  static constexpr int group = 4;  ///< unknowns whose sums are in registers together
  static constexpr int chunk =
      8;  ///< products that are added before they are subtracted: fewer large terms are rounded

  struct Unknown {
    Vector part[parts];
  };

#if defined(__x86_64__)
  __attribute__((target("avx512f"))) void solve_512(Block<T> const& b) const { solve_strips(b); }
  __attribute__((target("avx2,fma"))) void solve_256(Block<T> const& b) const { solve_strips(b); }
#endif
  [[gnu::always_inline]] inline void solve_strips(Block<T> const& b) const {
    int const sides = m_left ? b.cols : b.rows;
    Unknown x[largest_order] = {};
    for (int first = 0; first < sides; first += width) {
      int const count = std::min(width, sides - first);
      load(b, first, count, x);
      for (int p = 0; p < m_order; p += group) eliminate(p, x);
      store(x, first, count, b);
    }
  }

  /// The unknown of step p.
  [[nodiscard]] int place(int p) const { return m_forwards ? p : m_order - 1 - p; }
  [[nodiscard]] T* entry(Block<T> const& b, int p, int side) const {
    return m_left ? b.data + place(p) + static_cast<std::ptrdiff_t>(side) * b.ld
                  : b.data + side + static_cast<std::ptrdiff_t>(place(p)) * b.ld;
  }
  [[nodiscard]] bool in_memory_order(int count) const { return !m_left && !detail::is_complex<T> && count == width; }

  [[gnu::always_inline]] inline void load(Block<T> const& b, int first, int count, Unknown* x) const {
    std::ptrdiff_t const step = m_left ? b.ld : 1;
    for (int p = 0; p < m_order; ++p) {
      T const* const from = entry(b, p, first);
      if (in_memory_order(count)) {
        std::memcpy(&x[p], from, sizeof(Vector));
        continue;
      }
      for (int w = 0; w < count; ++w) {
        x[p].part[0][w] = detail::real_part(from[w * step]);
        if constexpr (detail::is_complex<T>) x[p].part[1][w] = from[w * step].imag();
      }
    }
    if (m_alpha == T(1)) return;
    for (int p = 0; p < m_order; ++p) scale(x[p], m_alpha);
  }

  [[gnu::always_inline]] inline void store(Unknown const* x, int first, int count, Block<T> const& b) const {
    std::ptrdiff_t const step = m_left ? b.ld : 1;
    for (int p = 0; p < m_order; ++p) {
      T* const to = entry(b, p, first);
      if (in_memory_order(count)) {
        std::memcpy(static_cast<void*>(to), &x[p], sizeof(Vector));
        continue;
      }
      for (int w = 0; w < count; ++w) {
        if constexpr (detail::is_complex<T>) {
          to[w * step] = T(x[p].part[0][w], x[p].part[1][w]);
        } else {
          to[w * step] = x[p].part[0][w];
        }
      }
    }
  }

  // Unknowns first to first + group, from those before. Beyond the order of A nothing is stored.
  [[gnu::always_inline]] inline void eliminate(int first, Unknown* x) const {
    Unknown sum[group];
    for (int i = 0; i < group; ++i) sum[i] = x[first + i];
    for (int begin = 0; begin < first; begin += chunk) {
      Unknown products[group] = {};
      for (int q = begin; q < std::min(begin + chunk, first); ++q) {
        for (int i = 0; i < group; ++i) add(first + i, q, x[q], products[i]);
      }
      for (int i = 0; i < group; ++i) {
        for (int part = 0; part < parts; ++part) sum[i].part[part] -= products[i].part[part];
      }
    }
    for (int i = 0; i < group; ++i) {
      Unknown products = {};
      for (int j = 0; j < i; ++j) add(first + i, first + j, sum[j], products);
      for (int part = 0; part < parts; ++part) sum[i].part[part] -= products.part[part];
      if (!m_unit) divide(sum[i], m_pivot[first + i]);
    }
    for (int i = 0; i < group; ++i) x[first + i] = sum[i];
  }

  [[gnu::always_inline]] inline void add(int p, int q, Unknown const& known, Unknown& sum) const {
    sum.part[0] += m_real[p][q] * known.part[0];
    if constexpr (detail::is_complex<T>) {
      sum.part[0] -= m_imaginary[p][q] * known.part[1];
      sum.part[1] += m_real[p][q] * known.part[1];
      sum.part[1] += m_imaginary[p][q] * known.part[0];
    }
  }

  [[gnu::always_inline]] inline static void scale(Unknown& x, T const& factor) {
    if constexpr (detail::is_complex<T>) {
      Vector const real = x.part[0];
      x.part[0] = real * factor.real() - x.part[1] * factor.imag();
      x.part[1] = real * factor.imag() + x.part[1] * factor.real();
    } else {
      x.part[0] *= factor;
    }
  }

  [[gnu::always_inline]] inline void divide(Unknown& x, T const& pivot) const {
    if (m_reciprocals) return scale(x, pivot);
    for (int w = 0; w < width; ++w) {
      if constexpr (detail::is_complex<T>) {
        T const quotient = T(x.part[0][w], x.part[1][w]) / pivot;
        x.part[0][w] = quotient.real();
        x.part[1][w] = quotient.imag();
      } else {
        x.part[0][w] /= pivot;
      }
    }
  }

  /// False if the reciprocal loses digits or overflows.
  [[nodiscard]] static bool has_reciprocal(T const& pivot) {
    constexpr R least = 4 * std::numeric_limits<R>::min();
    R const size = detail::modulus(pivot);
    return size >= least && size <= 1 / least;
  }

  bool m_left, m_forwards, m_unit, m_reciprocals = true;
  int m_order;
  T m_alpha;
  // The coefficients in the order of the steps.
  R m_real[largest_order][largest_order] = {};
  R m_imaginary[detail::is_complex<T> ? largest_order : 1][largest_order] = {};
  T m_pivot[largest_order] = {};  ///< or their reciprocals
};

}  // namespace granary::kernels
