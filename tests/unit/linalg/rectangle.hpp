// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/random.hpp>
#include <granary/detail/linalg/data/scalar.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "unit/linalg/immediate_submitter.hpp"

/// Rectangular matrices of the four scalars, and the operations of linear algebra on them by definition.
namespace granary::testing {

/// A column-major matrix with leading dimension ld, at least the rows.
template <class T>
struct Rectangle {
  std::uint64_t rows;
  std::uint64_t cols;
  std::uint64_t ld;
  std::vector<T> elements;

  Rectangle(std::uint64_t row_count, std::uint64_t col_count, std::uint64_t padding = 0)
      : rows(row_count), cols(col_count), ld(row_count + padding), elements(ld * col_count, T{}) {}
  T& operator()(std::uint64_t i, std::uint64_t j) { return elements[i + j * ld]; }
  T const& operator()(std::uint64_t i, std::uint64_t j) const { return elements[i + j * ld]; }
};

/// Double precision, real or complex like T: the type of sums in the definitions.
template <class T>
using Wide = std::conditional_t<detail::is_complex<T>, Kokkos::complex<double>, double>;

/// A scalar whose real part, and then imaginary part if T has one, are what `part()` returns.
template <class T, class Part>
[[nodiscard]] T scalar_of_parts(Part&& part) {
  detail::RealOf<T> const real = part();
  if constexpr (detail::is_complex<T>) {
    return T(real, part());
  } else {
    return real;
  }
}

template <class T>
[[nodiscard]] T random_scalar(detail::Random& random) {
  return scalar_of_parts<T>([&] { return static_cast<detail::RealOf<T>>(2 * random.uniform() - 1); });
}

/// Elements `draw()`, column by column; what lies between the rows and ld is a mark that nobody may change.
template <class T, class Draw>
[[nodiscard]] Rectangle<T> drawn_rectangle(std::uint64_t rows, std::uint64_t cols, std::uint64_t padding, Draw&& draw) {
  Rectangle<T> a(rows, cols, padding);
  std::fill(a.elements.begin(), a.elements.end(), T(-7));
  for (std::uint64_t j = 0; j < cols; ++j) {
    for (std::uint64_t i = 0; i < rows; ++i) a(i, j) = draw();
  }
  return a;
}

/// Real and imaginary parts uniform in [-1, 1), in a drawn_rectangle.
template <class T>
[[nodiscard]] Rectangle<T> random_rectangle(std::uint64_t rows, std::uint64_t cols, std::uint64_t seed = 1,
                                            std::uint64_t padding = 0) {
  detail::Random random(seed);
  return drawn_rectangle<T>(rows, cols, padding, [&] { return random_scalar<T>(random); });
}

/// Whether what lies between the rows and ld still is the mark of drawn_rectangle.
template <class T>
[[nodiscard]] bool padding_is_untouched(Rectangle<T> const& a) {
  for (std::uint64_t j = 0; j < a.cols; ++j) {
    for (auto i = a.rows; i < a.ld; ++i) {
      if (a.elements[i + j * a.ld] != T(-7)) return false;
    }
  }
  return true;
}

/// A matrix without padding whose elements are element(i, j).
template <class T, class Element>
[[nodiscard]] Rectangle<T> rectangle_of(std::uint64_t rows, std::uint64_t cols, Element&& element) {
  Rectangle<T> a(rows, cols);
  for (std::uint64_t j = 0; j < cols; ++j) {
    for (std::uint64_t i = 0; i < rows; ++i) a(i, j) = static_cast<T>(element(i, j));
  }
  return a;
}

/// op(A).
template <class T>
[[nodiscard]] Rectangle<T> op_of(Op op, Rectangle<T> const& a) {
  if (op == Op::NoTrans) return rectangle_of<T>(a.rows, a.cols, a);
  return rectangle_of<T>(a.cols, a.rows, [&](std::uint64_t i, std::uint64_t j) {
    return op == Op::ConjTrans ? detail::conjugate(a(j, i)) : a(j, i);
  });
}

/// True if element (i, j) is in the triangle or on the diagonal.
[[nodiscard]] constexpr bool in_triangle(Uplo uplo, std::uint64_t i, std::uint64_t j) {
  return uplo == Uplo::Lower ? i >= j : i <= j;
}

/// The triangle, zeros elsewhere; ones on the diagonal if it is Unit.
template <class T>
[[nodiscard]] Rectangle<T> triangle_of(Uplo uplo, Diag diag, Rectangle<T> const& a) {
  return rectangle_of<T>(a.rows, a.cols, [&](std::uint64_t i, std::uint64_t j) {
    if (i == j && diag == Diag::Unit) return T(1);
    return in_triangle(uplo, i, j) ? a(i, j) : T(0);
  });
}

/// The Hermitian matrix (symmetric if T is real) stored in that triangle; imaginary parts on the diagonal do not count.
template <class T>
[[nodiscard]] Rectangle<T> hermitian_of(Uplo uplo, Rectangle<T> const& a) {
  return rectangle_of<T>(a.rows, a.cols, [&](std::uint64_t i, std::uint64_t j) {
    if (i == j) return T(detail::real_part(a(i, i)));
    return in_triangle(uplo, i, j) ? a(i, j) : detail::conjugate(a(j, i));
  });
}

/// alpha A B + beta C; C is not read if beta is 0.
template <class T>
[[nodiscard]] Rectangle<T> multiply_add(T alpha, Rectangle<T> const& a, Rectangle<T> const& b, T beta,
                                        Rectangle<T> const& c) {
  return rectangle_of<T>(a.rows, b.cols, [&](std::uint64_t i, std::uint64_t j) {
    Wide<T> sum{};
    for (std::uint64_t k = 0; k < a.cols; ++k) sum += Wide<T>(a(i, k)) * Wide<T>(b(k, j));
    sum *= Wide<T>(alpha);
    return beta == T(0) ? sum : sum + Wide<T>(beta) * Wide<T>(c(i, j));
  });
}
/// A B.
template <class T>
[[nodiscard]] Rectangle<T> multiply(Rectangle<T> const& a, Rectangle<T> const& b) {
  return multiply_add(T(1), a, b, T(0), Rectangle<T>(a.rows, b.cols));
}

/// A Hermitian positive definite matrix of condition below 4, symmetric if T is real.
template <class T>
[[nodiscard]] Rectangle<T> random_positive_definite(std::uint64_t n, std::uint64_t seed = 1) {
  auto const a = hermitian_of(Uplo::Lower, random_rectangle<T>(n, n, seed));
  return rectangle_of<T>(n, n, [&](std::uint64_t i, std::uint64_t j) {
    return i == j ? T(static_cast<detail::RealOf<T>>(3 * n)) : a(i, j);
  });
}

/// The largest |a_ij - b_ij|; infinite if one is NaN.
template <class T>
[[nodiscard]] double largest_difference(Rectangle<T> const& a, Rectangle<T> const& b) {
  double largest = 0;
  for (std::uint64_t j = 0; j < a.cols; ++j) {
    for (std::uint64_t i = 0; i < a.rows; ++i) {
      double const difference = static_cast<double>(detail::modulus(T(a(i, j) - b(i, j))));
      if (!(difference <= largest)) largest = difference;
      if (difference != difference) return std::numeric_limits<double>::infinity();
    }
  }
  return largest;
}

/// The tiles of A in place: column-major, with A's leading dimension.
template <class T>
[[nodiscard]] detail::TiledMatrix<T> bind_rectangle(ImmediateSubmitter& submitter, Rectangle<T>& a, std::uint64_t tile,
                                                    MatrixPart part = MatrixPart::All, std::string const& name = "A") {
  detail::TileGrid const grid{a.rows, a.cols, tile};
  return {grid, part, detail::TileLayout::ColumnMajor, a.ld, [&](std::uint64_t i, std::uint64_t j) {
            return submitter.bind(detail::tile_name(name, i, j), sizeof(T), &a(grid.first(i), grid.first(j)));
          }};
}

/// A copy of A in tiles like those of make_temporary_matrix (row-major, without gaps), bound to a submitter.
template <class T>
class RowMajorTiles {
 public:
  RowMajorTiles(Rectangle<T> const& a, std::uint64_t tile) : m_grid{a.rows, a.cols, tile}, m_memory(a.rows * a.cols) {
    for (std::uint64_t i = 0; i < a.rows; ++i) {
      for (std::uint64_t j = 0; j < a.cols; ++j) m_memory[place(i, j)] = a(i, j);
    }
  }
  [[nodiscard]] detail::TiledMatrix<T> bind(ImmediateSubmitter& submitter, MatrixPart part = MatrixPart::All,
                                            std::string const& name = "A") {
    return {m_grid, part, detail::TileLayout::RowMajor, [&](std::uint64_t i, std::uint64_t j) {
              return submitter.bind(detail::tile_name(name, i, j), m_grid.elements_in(i, j) * sizeof(T),
                                    &m_memory[place(m_grid.first(i), m_grid.first(j))]);
            }};
  }
  [[nodiscard]] Rectangle<T> values() const {
    return rectangle_of<T>(m_grid.rows, m_grid.cols,
                           [&](std::uint64_t i, std::uint64_t j) { return m_memory[place(i, j)]; });
  }

 private:
  // Tile rows are consecutive, and so are the tiles in them.
  [[nodiscard]] std::size_t place(std::uint64_t i, std::uint64_t j) const {
    auto const b = m_grid.tile;
    auto const rows = m_grid.rows_in(i / b);
    auto const cols = m_grid.cols_in(j / b);
    return m_grid.first(i / b) * m_grid.cols + rows * m_grid.first(j / b) + i % b * cols + j % b;
  }
  detail::TileGrid m_grid;
  std::vector<T> m_memory;
};

}  // namespace granary::testing
