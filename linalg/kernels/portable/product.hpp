// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/kernels/portable/strided.hpp>

namespace granary::kernels::portable {

/// A factor of a product: a matrix, or a Hermitian (symmetric if real) one stored in one triangle; optionally
/// conjugated.
template <class T>
struct Factor {
  Strided<T const> matrix;
  bool conjugated = false;
  MatrixPart hermitian = MatrixPart::All;  ///< the stored triangle, or All: an ordinary matrix

  [[nodiscard]] KOKKOS_INLINE_FUNCTION T operator()(int i, int j) const {
    if (hermitian != MatrixPart::All && i == j) return T(detail::real_part(matrix(i, i)));
    bool const mirrored = !in_part(hermitian, i, j);
    T const value = mirrored ? matrix(j, i) : matrix(i, j);
    return mirrored != conjugated ? detail::conjugate(value) : value;
  }
};

/// op(X) as a factor; can also conjugate without transposing.
template <class T>
[[nodiscard]] Factor<T> factor_of(Op op, bool conjugated, Strided<T const> const& x) {
  return {op == Op::NoTrans ? x : x.transposed(), detail::is_complex<T> && conjugated != (op == Op::ConjTrans)};
}

/// C := alpha A B + beta C on one part of C. If beta is 0, C's old values do not count; if alpha is 0, A and B do not.
/// One work item per block of 4 x 4.
template <class T>
class Product {
 public:
  Product(T alpha, Factor<T> const& a, Factor<T> const& b, T beta, Strided<T> const& c,
          MatrixPart part = MatrixPart::All, bool real_diagonal = false)
      : m_a(a),
        m_b(b),
        m_c(c),
        m_alpha(alpha),
        m_beta(beta),
        m_inner(alpha == T(0) ? 0 : a.matrix.cols),
        m_row_blocks(blocks(c.rows)),
        m_part(part),
        m_real_diagonal(real_diagonal) {}

  template <class Space>
  void launch(Space const& space) const {
    for_each("granary::portable::product", space, static_cast<std::int64_t>(m_row_blocks) * blocks(m_c.cols), *this);
  }

  KOKKOS_FUNCTION void operator()(std::int64_t block) const {
    int const i = static_cast<int>(block % m_row_blocks) * width, j = static_cast<int>(block / m_row_blocks) * width;
    int const below = smaller(width, m_c.rows - i), right = smaller(width, m_c.cols - j);
    if ((m_part == MatrixPart::Lower && i + below <= j) || (m_part == MatrixPart::Upper && j + right <= i)) return;
    T sum[width][width] = {};
    for (int p = 0; p < m_inner; ++p) {
      T left[width];
      for (int r = 0; r < width; ++r) left[r] = m_a(i + smaller(r, below - 1), p);
      for (int c = 0; c < width; ++c) {
        T const factor = m_b(p, j + smaller(c, right - 1));
        for (int r = 0; r < width; ++r) sum[c][r] += left[r] * factor;
      }
    }
    for (int c = 0; c < right; ++c) {
      for (int r = 0; r < below; ++r) {
        if (in_part(m_part, i + r, j + c)) store(i + r, j + c, m_alpha * sum[c][r]);
      }
    }
  }

 private:
  static constexpr int width = 4;
  static int blocks(int extent) { return (extent + width - 1) / width; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION static int smaller(int a, int b) { return a < b ? a : b; }

  KOKKOS_INLINE_FUNCTION void store(int i, int j, T const& product) const {
    T& to = m_c(i, j);
    T value = m_inner == 0 ? T(0) : product;
    if (!(m_beta == T(0))) value += m_beta * (m_real_diagonal && i == j ? T(detail::real_part(to)) : to);
    to = m_real_diagonal && i == j ? T(detail::real_part(value)) : value;
  }

  Factor<T> m_a, m_b;
  Strided<T> m_c;
  T m_alpha, m_beta;
  int m_inner, m_row_blocks;
  MatrixPart m_part;
  bool m_real_diagonal;
};

}  // namespace granary::kernels::portable
