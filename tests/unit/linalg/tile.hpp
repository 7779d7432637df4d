// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/data/scalar.hpp>
#include <granary/detail/linalg/kernels/tile_kernels.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

/// Tiles that own their entries, and the definitions of the kernels on them.
namespace granary::testing {

inline constexpr Uplo uplos[] = {Uplo::Lower, Uplo::Upper};
inline constexpr Side sides[] = {Side::Left, Side::Right};
inline constexpr Op ops[] = {Op::NoTrans, Op::Trans, Op::ConjTrans};
inline constexpr Diag diags[] = {Diag::NonUnit, Diag::Unit};
inline constexpr detail::TileLayout layouts[] = {detail::TileLayout::ColumnMajor, detail::TileLayout::RowMajor};

/// Double precision, real or complex like T: the type of sums in the definitions.
template <class T>
using Exact = std::conditional_t<detail::is_complex<T>, Kokkos::complex<double>, double>;

template <class T>
[[nodiscard]] Exact<T> exact(T const& value) {
  if constexpr (detail::is_complex<T>) {
    return {static_cast<double>(value.real()), static_cast<double>(value.imag())};
  } else {
    return static_cast<double>(value);
  }
}

/// re + i im, or re if T is real.
template <class T>
[[nodiscard]] T scalar(double re, double im) {
  using R = detail::RealOf<T>;
  if constexpr (detail::is_complex<T>) {
    return T(static_cast<R>(re), static_cast<R>(im));
  } else {
    return static_cast<T>(re);
  }
}

/// The entries between the columns (rows) hold a sentinel that kernels must not change.
template <class T>
class Tile {
 public:
  Tile(int rows, int cols, detail::TileLayout layout, int padding = 3)
      : m_rows(rows),
        m_cols(cols),
        m_ld(std::max(1, layout == detail::TileLayout::ColumnMajor ? rows : cols) + padding),
        m_layout(layout),
        m_entries(static_cast<std::size_t>(m_ld) * static_cast<std::size_t>(std::max(rows, cols) + 1), sentinel()) {}

  [[nodiscard]] detail::TileView<T> view() { return {m_entries.data(), m_rows, m_cols, m_ld, m_layout}; }
  T& operator()(int i, int j) { return view()(i, j); }

  /// Real and imaginary parts are odd multiples of 1/8 in (-1, 1): sums of their products are exact.
  Tile& fill_random(unsigned seed) {
    std::mt19937 generator(seed);
    auto const entry = [&] { return (2.0 * static_cast<double>(generator() >> 29) - 7) / 8; };
    for_each([&](int, int, T& a) {
      double const re = entry(), im = entry();
      a = scalar<T>(re, im);
    });
    return *this;
  }
  Tile& fill(T const& value) {
    for_each([&](int, int, T& a) { a = value; });
    return *this;
  }

  /// Sets entry (i, j) to values(i, j).
  template <class Values>
  Tile& assign(Values const& values) {
    for_each([&](int i, int j, T& a) { a = values(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(j)); });
    return *this;
  }

  template <class Function>
  void for_each(Function const& f) {
    for (int i = 0; i < m_rows; ++i) {
      for (int j = 0; j < m_cols; ++j) f(i, j, (*this)(i, j));
    }
  }

  /// The memory, padding included.
  [[nodiscard]] std::vector<T> const& entries() const { return m_entries; }
  void set_entries(std::vector<T> entries) { m_entries = std::move(entries); }

  /// True if the padding still holds the sentinel.
  [[nodiscard]] bool padding_untouched() {
    std::vector<T> rest = m_entries;
    for_each([&](int, int, T& a) { rest[static_cast<std::size_t>(&a - m_entries.data())] = sentinel(); });
    return std::all_of(rest.begin(), rest.end(), [](T const& x) { return x == sentinel(); });
  }

 private:
  static T sentinel() { return T(-777); }

  int m_rows, m_cols, m_ld;
  detail::TileLayout m_layout;
  std::vector<T> m_entries;
};

[[nodiscard]] constexpr bool in_triangle(Uplo uplo, int i, int j) { return uplo == Uplo::Lower ? i >= j : i <= j; }

/// op(A)(i, j) of the whole matrix.
template <class T>
[[nodiscard]] Exact<T> entry(Op op, Tile<T>& a, int i, int j) {
  if (op == Op::NoTrans) return exact(a(i, j));
  return op == Op::Trans ? exact(a(j, i)) : detail::conjugate(exact(a(j, i)));
}

/// op(A)(i, j) of a triangle.
template <class T>
[[nodiscard]] Exact<T> entry(Uplo uplo, Op op, Diag diag, Tile<T>& a, int i, int j) {
  if (i == j && diag == Diag::Unit) return Exact<T>(1);
  return in_triangle(uplo, op == Op::NoTrans ? i : j, op == Op::NoTrans ? j : i) ? entry(op, a, i, j) : Exact<T>(0);
}

/// A(i, j) of the Hermitian matrix (symmetric if T is real) stored in that triangle.
template <class T>
[[nodiscard]] Exact<T> hermitian_entry(Uplo uplo, Tile<T>& a, int i, int j) {
  if (i == j) return Exact<T>(detail::real_part(exact(a(i, i))));
  return in_triangle(uplo, i, j) ? exact(a(i, j)) : detail::conjugate(exact(a(j, i)));
}

/// |value - expected|; infinite if one is NaN.
template <class T>
[[nodiscard]] double error_of(T const& value, Exact<T> const& expected) {
  double const error = detail::modulus(Exact<T>(exact(value) - expected));
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

/// The largest error of all entries; `expected` is called with (i, j).
template <class T, class Expected>
[[nodiscard]] double largest_error(Tile<T>& actual, Expected const& expected) {
  double largest = 0;
  actual.for_each([&](int i, int j, T& value) { largest = std::max(largest, error_of(value, expected(i, j))); });
  return largest;
}

/// The largest error in one triangle; infinite if an entry outside it has changed.
template <class T, class Expected>
[[nodiscard]] double largest_error(Uplo uplo, Tile<T>& actual, Tile<T>& before, Expected const& expected) {
  double largest = 0;
  actual.for_each([&](int i, int j, T& value) {
    if (in_triangle(uplo, i, j)) {
      largest = std::max(largest, error_of(value, expected(i, j)));
    } else if (value != before(i, j) && before(i, j) == before(i, j)) {
      largest = std::numeric_limits<double>::infinity();
    }
  });
  return largest;
}

}  // namespace granary::testing
