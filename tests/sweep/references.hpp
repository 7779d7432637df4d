// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/kernels/blas.hpp>

#include <algorithm>
#include <cstdint>

#include "unit/linalg/rectangle.hpp"

/// What the sweep compares with: tiled algorithms on the BLAS' own TRSM. They return false, or LAPACK's INFO, if they
/// cannot divide.
namespace granary::sweep {

using testing::Rectangle;

[[nodiscard]] inline int to_int(std::uint64_t value) { return static_cast<int>(value); }

/// B := alpha op(A)^-1 B or B op(A)^-1, by tiles.
template <class T>
void reference_trsm(Side side, Uplo uplo, Op op, Diag diag, Rectangle<T> const& a, Rectangle<T>& b,
                    std::uint64_t tile) {
  auto const n = a.rows, blocks = (n + tile - 1) / tile;
  bool const left = side == Side::Left, forwards = left == ((uplo == Uplo::Lower) == (op == Op::NoTrans));
  int const lda = to_int(a.ld), ldb = to_int(b.ld), others = to_int(left ? b.cols : b.rows);
  for (std::uint64_t step = 0; step < blocks; ++step) {
    auto const k = (forwards ? step : blocks - 1 - step) * tile, size = std::min(tile, n - k);
    T* const known = left ? &b(k, 0) : &b(0, k);
    blas::trsm<T>(side, uplo, op, diag, left ? to_int(size) : others, left ? others : to_int(size), T(1), &a(k, k), lda,
                  known, ldb);
    for (auto i = forwards ? k + size : 0; i < (forwards ? n : k); i += tile) {
      int const rows = to_int(std::min(tile, (forwards ? n : k) - i)), inner = to_int(size);
      // op(A)(i, k) on the left, op(A)(k, i) on the right.
      auto const r = left ? i : k, c = left ? k : i;
      T const* const block = op == Op::NoTrans ? &a(r, c) : &a(c, r);
      if (left) {
        blas::gemm<T>(op, Op::NoTrans, rows, others, inner, T(-1), block, lda, known, ldb, T(1), &b(i, 0), ldb);
      } else {
        blas::gemm<T>(Op::NoTrans, op, others, rows, inner, T(-1), known, ldb, block, lda, T(1), &b(0, i), ldb);
      }
    }
  }
}

/// Right-looking Cholesky factorization by tiles.
template <class T>
[[nodiscard]] int reference_potrf(Uplo uplo, Rectangle<T>& a, std::uint64_t tile) {
  auto const n = a.rows;
  int const ld = to_int(a.ld);
  bool const lower = uplo == Uplo::Lower;
  for (std::uint64_t k = 0; k < n; k += tile) {
    auto const size = std::min(tile, n - k), next = k + size;
    if (int const info = blas::potrf(uplo, to_int(size), &a(k, k), ld); info != 0) return to_int(k) + info;
    for (std::uint64_t j = k; j < next; ++j) {
      if (!(detail::real_part(a(j, j)) > 0)) return to_int(j) + 1;
    }
    if (next == n) break;
    int const rest = to_int(n - next), inner = to_int(size);
    T* const panel = lower ? &a(next, k) : &a(k, next);
    blas::trsm<T>(lower ? Side::Right : Side::Left, uplo, Op::ConjTrans, Diag::NonUnit, lower ? rest : inner,
                  lower ? inner : rest, T(1), &a(k, k), ld, panel, ld);
    blas::herk<T>(uplo, lower ? Op::NoTrans : Op::ConjTrans, rest, inner, ::granary::detail::RealOf<T>(-1), panel, ld,
                  ::granary::detail::RealOf<T>(1), &a(next, next), ld);
  }
  return 0;
}

/// The inverse X of a triangle, whose other triangle is zero, by solving X A = I (right) or A X = I (left).
template <class T>
[[nodiscard]] Rectangle<T> reference_inverse(Side side, Uplo uplo, Rectangle<T> const& a, std::uint64_t tile) {
  auto x = testing::rectangle_of<T>(a.rows, a.rows, [](auto i, auto j) { return T(i == j ? 1 : 0); });
  reference_trsm(side, uplo, Op::NoTrans, Diag::NonUnit, a, x, tile);
  return x;
}

/// The inverse X of a triangle, whose other triangle is zero, as by LAPACK's xTRTRI in blocks: beside a diagonal block,
/// a product with the inverse computed so far, and a solve. X A is close to I.
template <class T>
[[nodiscard]] Rectangle<T> reference_trtri(Uplo uplo, Rectangle<T> const& a, std::uint64_t block) {
  auto x = a;
  auto const n = a.rows;
  int const ld = to_int(x.ld);
  bool const lower = uplo == Uplo::Lower;
  for (std::uint64_t done = 0; done < n; done += std::min(block, n - done)) {
    // The rows and columns from k on; `known` is the first of those that are inverted already.
    auto const size = std::min(block, n - done), k = lower ? n - done - size : done, known = lower ? n - done : 0;
    T* const beside = done > 0 ? &x(known, k) : nullptr;
    int const rows = to_int(done), cols = to_int(size);
    if (done > 0) {
      blas::trmm<T>(Side::Left, uplo, Op::NoTrans, Diag::NonUnit, rows, cols, T(1), &x(known, known), ld, beside, ld);
      blas::trsm<T>(Side::Right, uplo, Op::NoTrans, Diag::NonUnit, rows, cols, T(-1), &x(k, k), ld, beside, ld);
    }
    auto const diagonal = testing::rectangle_of<T>(size, size, [&](auto i, auto j) { return a(k + i, k + j); });
    auto const inverse = reference_inverse(Side::Right, uplo, diagonal, size);
    for (std::uint64_t j = 0; j < size; ++j) {
      for (std::uint64_t i = 0; i < size; ++i) x(k + i, k + j) = inverse(i, j);
    }
  }
  return x;
}

/// The lower triangle of L⁻ᴴ L⁻¹, as by LAPACK's xPOTRI in blocks.
template <class T>
[[nodiscard]] Rectangle<T> reference_potri(Rectangle<T> const& l, std::uint64_t block) {
  auto const x = reference_trtri(Uplo::Lower, l, block);
  Rectangle<T> z(x.rows, x.rows);
  int const n = to_int(x.rows);
  blas::herk<T>(Uplo::Lower, Op::ConjTrans, n, n, detail::RealOf<T>(1), x.elements.data(), n, detail::RealOf<T>(0),
                z.elements.data(), n);
  return z;
}

/// LU factorization without pivoting by tiles.
template <class T>
[[nodiscard]] bool reference_getrf_nopiv(Rectangle<T>& a, std::uint64_t tile) {
  auto const n = a.rows;
  int const ld = to_int(a.ld);
  for (std::uint64_t k = 0; k < n; k += tile) {
    auto const next = std::min(k + tile, n);
    for (auto p = k; p < next; ++p) {
      if (a(p, p) == T(0)) return false;
      for (auto i = p + 1; i < next; ++i) a(i, p) /= a(p, p);
      for (auto j = p + 1; j < next; ++j) {
        for (auto i = p + 1; i < next; ++i) a(i, j) -= a(i, p) * a(p, j);
      }
    }
    if (next == n) break;
    int const rest = to_int(n - next), inner = to_int(next - k);
    blas::trsm<T>(Side::Right, Uplo::Upper, Op::NoTrans, Diag::NonUnit, rest, inner, T(1), &a(k, k), ld, &a(next, k),
                  ld);
    blas::trsm<T>(Side::Left, Uplo::Lower, Op::NoTrans, Diag::Unit, inner, rest, T(1), &a(k, k), ld, &a(k, next), ld);
    blas::gemm<T>(Op::NoTrans, Op::NoTrans, rest, rest, inner, T(-1), &a(next, k), ld, &a(k, next), ld, T(1),
                  &a(next, next), ld);
  }
  return true;
}

}  // namespace granary::sweep
