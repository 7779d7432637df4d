// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/kernels/portable/strided.hpp>

#include <algorithm>
#include <cstddef>

/// Inverses of triangles and the products L^H L and U U^H in place. A triangle is halved; TRSM, TRMM and HERK of the
/// BLAS update the block between the halves, and functors compute diagonal blocks of order at most 32. n³/3 flops. On
/// devices, whose vendors' libraries lack these operations, about n/8 kernels are enqueued; nothing waits. Hosts run
/// the functors in loops.
namespace granary::kernels::portable {

inline constexpr int inverse_block = 32;
/// Entries of scratch memory that trtri and lauum need.
inline constexpr std::size_t inverse_block_entries = std::size_t{inverse_block} * inverse_block;

/// info := 0, or the number of the first zero on the diagonal, from 1.
template <class T>
struct FindZeroOnDiagonal {
  Block<T const> a;
  bool unit;
  int* info;

  KOKKOS_FUNCTION void operator()(std::int64_t) const {
    *info = 0;
    for (int k = 0; !unit && k < a.rows && *info == 0; ++k) {
      if (a.data[k * (std::int64_t{a.ld} + 1)] == T(0)) *info = k + 1;
    }
  }
};

template <class T, class Space>
void report_zero_diagonal(Space const& space, Diag diag, Block<T const> a, int* info) {
  for_each("granary::trtri::zero", space, 1, FindZeroOnDiagonal<T>{a, diag == Diag::Unit, info});
}

/// x, of order n, := the inverse of the lower triangle A, a column per call.
template <class T>
struct InvertColumn {
  static constexpr int chunk = 8;  ///< products that are added before they are subtracted: fewer large sums are rounded
  Strided<T const> a;
  Strided<T> x;
  bool unit;

  KOKKOS_FUNCTION void operator()(std::int64_t column) const {
    int const n = a.rows, j = static_cast<int>(column);
    for (int i = j; i < n; ++i) {
      T sum = i == j ? T(1) : T(0);
      for (int begin = j; begin < i; begin += chunk) {
        T products(0);
        for (int k = begin; k < i && k < begin + chunk; ++k) products += a(i, k) * x(k, j);
        sum -= products;
      }
      x(i, j) = unit ? sum : sum / a(i, i);
    }
  }
};

/// x := the lower triangle of L^H L, an entry per call.
template <class T>
struct SquareEntry {
  Strided<T const> l;
  Strided<T> x;

  KOKKOS_FUNCTION void operator()(std::int64_t number) const {
    int const n = l.rows, i = static_cast<int>(number % n), j = static_cast<int>(number / n);
    if (i < j) return;
    T sum(0);
    for (int k = i; k < n; ++k) sum += detail::conjugate(l(k, i)) * l(k, j);
    x(i, j) = i == j ? T(detail::real_part(sum)) : sum;
  }
};

/// The lower triangle of x into A; without the diagonal if it is `unit`.
template <class T>
struct StoreLower {
  Strided<T const> x;
  Strided<T> a;
  bool unit;

  KOKKOS_FUNCTION void operator()(std::int64_t number) const {
    int const n = a.rows, i = static_cast<int>(number % n), j = static_cast<int>(number / n);
    if (i > j || (i == j && !unit)) a(i, j) = x(i, j);
  }
};

/// The rows and the columns in reverse order.
template <class T>
[[nodiscard]] Strided<T> reversed(Strided<T> const& a) {
  return {a.data + (a.rows - 1) * a.row_step + (a.cols - 1) * a.col_step, a.rows, a.cols, -a.row_step, -a.col_step};
}

/// A triangle cut into [first, between; last]: `between` is the block beside the diagonal.
template <class T>
struct HalvedTriangle {
  Block<T> first, between, last;

  HalvedTriangle(Uplo uplo, Block<T> a) {
    int const h = (a.rows / 2 + inverse_block - 1) / inverse_block * inverse_block, rest = a.rows - h;
    first = a.sub(0, 0, h, h);
    last = a.sub(h, h, rest, rest);
    between = uplo == Uplo::Lower ? a.sub(h, 0, rest, h) : a.sub(0, h, h, rest);
  }
};

/// Replaces one triangle of A by its inverse X, such that X A (left) or A X (right) is close to I. invert(L, diag)
/// replaces a lower triangle L of order at most inverse_block by its inverse, which makes L X close to I.
///
/// Beside the diagonal, X is -last^-1 between first^-1 (lower) or -first^-1 between last^-1 (upper). One of the two is
/// a product with the inverse, the other a solve: two products or two solves would make neither X A nor A X close to I
/// where the triangle is ill-conditioned (Du Croz, Higham: Stability of methods for matrix inversion, IMA J. Numer.
/// Anal. 12, 1992).
template <class T, class Blas, class Invert>
void trtri(Blas const& blas, Side side, Uplo uplo, Diag diag, Block<T> a, Invert const& invert) {
  bool const lower = uplo == Uplo::Lower, left = side == Side::Left;
  if (a.rows <= inverse_block) {
    // X A = I is the transpose of A^T X^T = I. In reverse order of rows and columns, an upper triangle is a lower one.
    auto const turned = left ? strided(a).transposed() : strided(a);
    return invert(lower == left ? reversed(turned) : turned, diag);
  }
  HalvedTriangle<T> const part(uplo, a);
  auto const& inverted = left == lower ? part.last : part.first;
  auto const& solved = left == lower ? part.first : part.last;
  trtri<T>(blas, side, uplo, diag, inverted, invert);
  blas.template trmm<T>(side, uplo, Op::NoTrans, diag, T(1), inverted, part.between);
  blas.template trsm<T>(left ? Side::Right : Side::Left, uplo, Op::NoTrans, diag, T(-1), solved, part.between);
  trtri<T>(blas, side, uplo, diag, solved, invert);
}

/// Replaces the triangle of A by the same triangle of L^H L (lower) or U U^H (upper). square(L) replaces the lower
/// triangle of L, of order at most inverse_block.
template <class T, class Blas, class Square>
void lauum(Blas const& blas, Uplo uplo, Block<T> a, Square const& square) {
  bool const lower = uplo == Uplo::Lower;
  // U U^H is the transpose of L^H L with L = U^T.
  if (a.rows <= inverse_block) return square(lower ? strided(a) : strided(a).transposed());
  HalvedTriangle<T> const part(uplo, a);
  lauum<T>(blas, uplo, part.first, square);
  blas.template herk<T>(uplo, lower ? Op::ConjTrans : Op::NoTrans, 1, part.between, 1, part.first);
  blas.template trmm<T>(lower ? Side::Left : Side::Right, uplo, Op::ConjTrans, Diag::NonUnit, T(1), part.last,
                        part.between);
  lauum<T>(blas, uplo, part.last, square);
}

}  // namespace granary::kernels::portable
