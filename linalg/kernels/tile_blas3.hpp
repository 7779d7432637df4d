// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/kernels/stored_tile.hpp>

/// The operations of tile_kernels.hpp on the tiles' memory, seen as column-major matrices: the flags for each
/// combination of layouts. Shared by the kernels of hosts and devices, whose `Blas` has, on Blocks,
///   multiply(StoredOp, StoredOp, alpha, a, b, beta, c)         syrk, herk(uplo, op, alpha, a, beta, c)
///   hemm(side, uplo, alpha, a, b, beta, c)                     trsm, trmm(side, uplo, op, diag, alpha, a, b)
///   conjugate(b), conjugate(uplo, b): in place                 potrf, lauum(uplo, a), trtri(side, uplo, diag, a)
/// and, on tiles, hemm_mixed(side, uplo, alpha, a, b, beta, c) for layouts without matching flags.
namespace granary::kernels::by_flags {

template <class Blas, class T>
void syrk(Blas const& blas, Uplo uplo, Op op, T alpha, detail::TileView<T const> a, T beta, detail::TileView<T> c) {
  auto const factor = stored("syrk", a);
  auto const sum = stored("syrk", c);
  require(c.rows == c.cols && c.rows == (op == Op::NoTrans ? a.rows : a.cols) &&
              (op != Op::ConjTrans || !detail::is_complex<T>),
          "syrk", "A " + extents(a.rows, a.cols) + " and C " + extents(c.rows, c.cols));
  if (c.rows == 0) return;
  // op(A) op(A)^T is symmetric: for a row-major C only the triangle changes.
  Op const memory_op = (op == Op::NoTrans) != row_major(a) ? Op::NoTrans : Op::Trans;
  blas.template syrk<T>(row_major(c) ? flip(uplo) : uplo, memory_op, alpha, factor, beta, sum);
}

template <class Blas, class T>
void herk(Blas const& blas, Uplo uplo, Op op, detail::RealOf<T> alpha, detail::TileView<T const> a,
          detail::RealOf<T> beta, detail::TileView<T> c) {
  auto const factor = stored("herk", a);
  auto const sum = stored("herk", c);
  require(c.rows == c.cols && c.rows == (op == Op::NoTrans ? a.rows : a.cols) &&
              (op != Op::Trans || !detail::is_complex<T>),
          "herk", "A " + extents(a.rows, a.cols) + " and C " + extents(c.rows, c.cols));
  if (c.rows == 0) return;
  // BLAS computes X X^H and X^H X from the memory X of A. A row-major A and a row-major C each need the conjugate: if
  // only one of them is row-major, conj(C) is updated.
  Op const memory_op = (op == Op::NoTrans) != row_major(a) ? Op::NoTrans : Op::ConjTrans;
  Uplo const triangle = row_major(c) ? flip(uplo) : uplo;
  bool const conjugated = detail::is_complex<T> && row_major(a) != row_major(c);
  if (conjugated) blas.template conjugate<T>(triangle, sum);
  blas.template herk<T>(triangle, memory_op, alpha, factor, beta, sum);
  if (conjugated) blas.template conjugate<T>(triangle, sum);
}

template <class Blas, class T>
void hemm(Blas const& blas, Side side, Uplo uplo, T alpha, detail::TileView<T const> a, detail::TileView<T const> b,
          T beta, detail::TileView<T> c) {
  auto const factor = stored("hemm", a);
  auto const other = stored("hemm", b);
  auto const sum = stored("hemm", c);
  require(a.rows == a.cols && b.rows == c.rows && b.cols == c.cols && a.rows == (side == Side::Left ? c.rows : c.cols),
          "hemm",
          "A " + extents(a.rows, a.cols) + ", B " + extents(b.rows, b.cols) + " and C " + extents(c.rows, c.cols));
  if (c.rows == 0 || c.cols == 0) return;
  // If B and C are row-major, C^T = B^T A^T, and A^T is conj(A). The memory of a row-major A is conj(A) too.
  bool const by_rows = row_major(c);
  if (row_major(b) != by_rows || (detail::is_complex<T> && by_rows != row_major(a))) {
    blas.template hemm_mixed<T>(side, uplo, alpha, a, b, beta, c);
  } else {
    blas.template hemm<T>(by_rows ? flip(side) : side, row_major(a) ? flip(uplo) : uplo, alpha, factor, other, beta,
                          sum);
  }
}

template <class Blas, class T>
void gemm(Blas const& blas, Op op_a, Op op_b, T alpha, detail::TileView<T const> a, detail::TileView<T const> b, T beta,
          detail::TileView<T> c) {
  auto const left = stored("gemm", a);
  auto const right = stored("gemm", b);
  auto const sum = stored("gemm", c);
  int const k_a = op_a == Op::NoTrans ? a.cols : a.rows, k_b = op_b == Op::NoTrans ? b.rows : b.cols;
  require(k_a == k_b && c.rows == (op_a == Op::NoTrans ? a.rows : a.cols) &&
              c.cols == (op_b == Op::NoTrans ? b.cols : b.rows),
          "gemm",
          "A " + extents(a.rows, a.cols) + ", B " + extents(b.rows, b.cols) + " and C " + extents(c.rows, c.cols));
  if (c.rows == 0 || c.cols == 0) return;
  auto const stored_a = stored_op(op_a, a), stored_b = stored_op(op_b, b);
  if (row_major(c)) {
    blas.template multiply<T>(transposed(stored_b, detail::is_complex<T>), transposed(stored_a, detail::is_complex<T>),
                              alpha, right, left, beta, sum);
  } else {
    blas.template multiply<T>(stored_a, stored_b, alpha, left, right, beta, sum);
  }
}

/// op(A) in terms of A's memory, for the memory of B. This holds B^T if B is row-major; then op(A) X = B reads X^T
/// op(A)^T = B^T.
template <class T>
[[nodiscard]] StoredOp op_beside(Op op, detail::TileView<T const> a, detail::TileView<T> b) {
  auto const op_stored = stored_op(op, a);
  return row_major(b) ? transposed(op_stored, detail::is_complex<T>) : op_stored;
}

/// Calls kernel(alpha). If A is conjugated, uses conj(A)^-1 B = conj(A^-1 conj(B)), and likewise for products.
template <class Blas, class T, class Kernel>
void beside_conjugate(Blas const& blas, bool conjugated, T alpha, Block<T> b, Kernel const& kernel) {
  if (!conjugated) return kernel(alpha);
  blas.template conjugate<T>(b);
  kernel(detail::conjugate(alpha));
  blas.template conjugate<T>(b);
}

/// Checks a triangular A with B and calls kernel(side, uplo, op, alpha, A, B) with the flags for their memory.
template <class Blas, class T, class Kernel>
void beside_triangle(char const* name, Blas const& blas, Side side, Uplo uplo, Op op, T alpha,
                     detail::TileView<T const> a, detail::TileView<T> b, Kernel const& kernel) {
  auto const triangle = stored(name, a);
  auto const rectangle = stored(name, b);
  require(a.rows == a.cols && a.rows == (side == Side::Left ? b.rows : b.cols), name,
          "A " + extents(a.rows, a.cols) + " and B " + extents(b.rows, b.cols));
  if (b.rows == 0 || b.cols == 0) return;
  auto const wanted = op_beside<T>(op, a, b);
  beside_conjugate(blas, wanted.conjugated, alpha, rectangle, [&](T factor) {
    kernel(row_major(b) ? flip(side) : side, row_major(a) ? flip(uplo) : uplo, wanted.op, factor, triangle, rectangle);
  });
}

template <class Blas, class T>
void trsm(Blas const& blas, Side side, Uplo uplo, Op op, Diag diag, T alpha, detail::TileView<T const> a,
          detail::TileView<T> b) {
  beside_triangle("trsm", blas, side, uplo, op, alpha, a, b, [&](auto where, auto part, auto wanted, auto... operands) {
    blas.template trsm<T>(where, part, wanted, diag, operands...);
  });
}

template <class Blas, class T>
void trmm(Blas const& blas, Side side, Uplo uplo, Op op, Diag diag, T alpha, detail::TileView<T const> a,
          detail::TileView<T> b) {
  beside_triangle("trmm", blas, side, uplo, op, alpha, a, b, [&](auto where, auto part, auto wanted, auto... operands) {
    blas.template trmm<T>(where, part, wanted, diag, operands...);
  });
}

template <class Blas, class T>
auto potrf(Blas const& blas, Uplo uplo, detail::TileView<T> a) {
  auto const block = stored("potrf", a);
  require(a.rows == a.cols, "potrf", "A " + extents(a.rows, a.cols) + ", which must be square,");
  return blas.template potrf<T>(row_major(a) ? flip(uplo) : uplo, block);
}

// X A is close to I; for the transpose, which is in the memory of a row-major tile, A X.
template <class Blas, class T>
auto trtri(Blas const& blas, Uplo uplo, Diag diag, detail::TileView<T> a) {
  auto const block = stored("trtri", a);
  require(a.rows == a.cols, "trtri", "A " + extents(a.rows, a.cols) + ", which must be square,");
  bool const turned = row_major(a);
  return blas.template trtri<T>(turned ? Side::Right : Side::Left, turned ? flip(uplo) : uplo, diag, block);
}

// The memory of a row-major L is U = L^T, and U U^H is the transpose of L^H L.
template <class Blas, class T>
void lauum(Blas const& blas, Uplo uplo, detail::TileView<T> a) {
  auto const block = stored("lauum", a);
  require(a.rows == a.cols, "lauum", "A " + extents(a.rows, a.cols) + ", which must be square,");
  blas.template lauum<T>(row_major(a) ? flip(uplo) : uplo, block);
}

}  // namespace granary::kernels::by_flags
