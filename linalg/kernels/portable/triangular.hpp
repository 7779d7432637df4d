// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/kernels/portable/product.hpp>

#include <algorithm>

namespace granary::kernels::portable {

/// A triangle and its other operand, as T X with columns X: op(A) X, or op(A)^T X^T for X op(A).
template <class T>
struct Beside {
  Factor<T> triangle;
  bool lower = false;
  bool unit = false;
  Strided<T> x;

  Beside(Side side, Uplo uplo, Op op, Diag diag, Strided<T const> const& a, Strided<T> const& b)
      : triangle(factor_of<T>(op, false, a)),
        lower((uplo == Uplo::Lower) == (op == Op::NoTrans)),
        unit(diag == Diag::Unit),
        x(b) {
    if (side == Side::Left) return;
    triangle.matrix = triangle.matrix.transposed();
    lower = !lower;
    x = b.transposed();
  }

  /// The diagonal block of that order and its other operand.
  [[nodiscard]] Beside block(int first, int order) const {
    auto part = *this;
    part.triangle = triangle.sub(first, first, order, order);
    part.x = x.sub(first, 0, order, x.cols);
    return part;
  }
};

/// X := T^-1 X, each column independently.
template <class T>
struct SolveColumns {
  Beside<T> beside;

  KOKKOS_FUNCTION void operator()(std::int64_t column) const {
    auto const& [t, lower, unit, x] = beside;
    int const j = static_cast<int>(column), n = x.rows;
    for (int step = 0; step < n; ++step) {
      int const i = lower ? step : n - 1 - step;
      T value = x(i, j);
      int const end = lower ? i : n;
      for (int p = lower ? 0 : i + 1; p < end;) {
        // Some products are added before they are subtracted: fewer large terms are rounded.
        T products(0);
        for (int const stop = end - p < 8 ? end : p + 8; p < stop; ++p) products += t(i, p) * x(p, j);
        value -= products;
      }
      x(i, j) = unit ? value : value / t(i, i);
    }
  }
};

/// X := alpha T X, each column independently.
template <class T>
struct MultiplyColumns {
  T alpha;
  Beside<T> beside;

  KOKKOS_FUNCTION void operator()(std::int64_t column) const {
    auto const& [t, lower, unit, x] = beside;
    int const j = static_cast<int>(column), n = x.rows;
    for (int step = 0; step < n; ++step) {
      int const i = lower ? n - 1 - step : step;
      if (alpha == T(0)) {
        x(i, j) = T(0);
        continue;
      }
      T value = unit ? x(i, j) : t(i, i) * x(i, j);
      int const end = lower ? i : n;
      for (int p = lower ? 0 : i + 1; p < end;) {
        T products(0);
        for (int const stop = end - p < 8 ? end : p + 8; p < stop; ++p) products += t(i, p) * x(p, j);
        value += products;
      }
      x(i, j) = alpha * value;
    }
  }
};

/// A := alpha A, zero if alpha is zero.
template <class T>
struct Scale {
  Strided<T> a;
  Entries entries;
  T alpha;

  Scale(T factor, Strided<T> const& matrix) : a(matrix), entries(matrix), alpha(factor) {}
  KOKKOS_FUNCTION void operator()(std::int64_t number) const {
    T& value = a(entries.row(number), entries.col(number));
    value = alpha == T(0) ? T(0) : alpha * value;
  }
};

/// A := conj(A) on one part.
template <class T>
struct Conjugate {
  Strided<T> a;
  Entries entries;
  MatrixPart part;

  explicit Conjugate(Strided<T> const& matrix, MatrixPart where = MatrixPart::All)
      : a(matrix), entries(matrix), part(where) {}
  KOKKOS_FUNCTION void operator()(std::int64_t number) const {
    int const i = entries.row(number), j = entries.col(number);
    if (in_part(part, i, j)) a(i, j) = conjugate(a(i, j));
  }
};

/// B := alpha op(A)^-1 B or alpha B op(A)^-1, A triangular. Solves with diagonal blocks of order 64, column by column,
/// and updates the rest with products.
template <class Space, class T>
void trsm(Space const& space, Side side, Uplo uplo, Op op, Diag diag, T alpha, Strided<T const> const& a,
          Strided<T> const& b) {
  constexpr int width = 64;
  if (!(alpha == T(1))) for_each("granary::portable::trsm::scale", space, count_of(b), Scale<T>(alpha, b));
  if (alpha == T(0)) return;
  Beside<T> const all(side, uplo, op, diag, a, b);
  int const n = all.x.rows, blocks = (n + width - 1) / width;
  for (int step = 0; step < blocks; ++step) {
    int const first = (all.lower ? step : blocks - 1 - step) * width, order = std::min(width, n - first);
    auto const block = all.block(first, order);
    for_each("granary::portable::trsm::solve", space, block.x.cols, SolveColumns<T>{block});
    int const next = all.lower ? first + order : 0, rest = all.lower ? n - next : first;
    if (rest == 0) continue;
    Product<T>(T(-1), all.triangle.sub(next, first, rest, order), {block.x}, T(1), all.x.sub(next, 0, rest, all.x.cols))
        .launch(space);
  }
}

/// B := alpha op(A) B or alpha B op(A), A triangular.
template <class Space, class T>
void trmm(Space const& space, Side side, Uplo uplo, Op op, Diag diag, T alpha, Strided<T const> const& a,
          Strided<T> const& b) {
  Beside<T> const all(side, uplo, op, diag, a, b);
  for_each("granary::portable::trmm", space, all.x.cols, MultiplyColumns<T>{alpha, all});
}

}  // namespace granary::kernels::portable
