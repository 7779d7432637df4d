// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/kernels/block_blas.hpp>
#include <granary/detail/linalg/kernels/portable/inverse.hpp>
#include <granary/detail/linalg/kernels/substitution.hpp>
#include <granary/detail/linalg/kernels/tile_blas3.hpp>

#include <array>
#include <cmath>

namespace granary::kernels {
namespace {

/// For fewer right-hand sides the library solves with diagonal blocks too.
constexpr int few_sides = 8;

template <class T>
void solve(Side side, Uplo uplo, Op op, Diag diag, T alpha, Block<T const> a, Block<T> b) {
  int const n = a.rows;
  constexpr int largest = Substitution<T>::largest_order;
  if (n <= largest) {
    bool const few = (side == Side::Left ? b.cols : b.rows) < few_sides;
    return few ? chosen_trsm(side, uplo, op, diag, alpha, a, b)
               : Substitution<T>(side, uplo, op, diag, alpha, a).solve(b);
  }
  int const h = (n / 2 + largest - 1) / largest * largest;
  int const rest = n - h;
  auto const a_first = a.sub(0, 0, h, h), a_last = a.sub(h, h, rest, rest);
  auto const a_between = uplo == Uplo::Lower ? a.sub(h, 0, rest, h) : a.sub(0, h, h, rest);
  bool const left = side == Side::Left;
  auto const b_first = left ? b.sub(0, 0, h, b.cols) : b.sub(0, 0, b.rows, h);
  auto const b_last = left ? b.sub(h, 0, rest, b.cols) : b.sub(0, h, b.rows, rest);

  // On the left, a lower op(A) is solved forwards, an upper one backwards; on the right the other way round.
  bool const op_is_lower = (uplo == Uplo::Lower) == (op == Op::NoTrans);
  bool const forwards = left == op_is_lower;
  auto const& known = forwards ? b_first : b_last;
  auto const& unknown = forwards ? b_last : b_first;
  solve(side, uplo, op, diag, alpha, forwards ? a_first : a_last, known);
  if (left) {
    chosen_gemm<T>(op, Op::NoTrans, T(-1), a_between, known, alpha, unknown);
  } else {
    chosen_gemm<T>(Op::NoTrans, op, T(-1), known, a_between, alpha, unknown);
  }
  solve(side, uplo, op, diag, T(1), forwards ? a_last : a_first, unknown);
}

/// The number, counted from 1, of the first NaN among the first `count` diagonal entries of a factor, or 0. LAPACK's
/// potrf reports a NaN pivot as not positive, OpenBLAS' own continues.
template <class T>
[[nodiscard]] int first_nan_pivot(Block<T const> factor, int count) {
  for (int k = 0; k < count; ++k) {
    if (std::isnan(detail::real_part(*factor.sub(k, k, 1, 1).data))) return k + 1;
  }
  return 0;
}

struct HostLapack : BlockBlas {
  template <class T>
  void trsm(Side side, Uplo uplo, Op op, Diag diag, T alpha, Block<T const> a, Block<T> b) const {
    if (alpha == T(0)) return BlockBlas::trsm<T>(side, uplo, op, diag, alpha, a, b);
    solve<T>(side, uplo, op, diag, alpha, a, b);
  }
  template <class T>
  int potrf(Uplo uplo, Block<T> a) const {
    if (a.rows == 0) return 0;
    int const info = blas::potrf(uplo, a.rows, a.data, a.ld);
    int const nan = first_nan_pivot<T>(a, info > 0 ? info - 1 : a.rows);
    return nan > 0 ? nan : info;
  }
  template <class T>
  int trtri(Side side, Uplo uplo, Diag diag, Block<T> a) const {
    for (int k = 0; diag == Diag::NonUnit && k < a.rows; ++k) {
      if (*a.sub(k, k, 1, 1).data == T(0)) return k + 1;
    }
    // Not LAPACK's, of which A X may be far from I; OpenBLAS' for complex entries also crashes (0.3.21, Prescott).
    std::array<T, portable::inverse_block_entries> scratch;
    portable::trtri<T>(*this, side, uplo, diag, a, [&](portable::Strided<T> const& l, Diag ones) {
      portable::Strided<T> const x{scratch.data(), l.rows, l.rows, 1, l.rows};
      bool const unit = ones == Diag::Unit;
      for (std::int64_t j = 0; j < l.rows; ++j) portable::InvertColumn<T>{l, x, unit}(j);
      for (std::int64_t i = 0; i < portable::count_of(x); ++i) portable::StoreLower<T>{x, l, unit}(i);
    });
    return 0;
  }
  template <class T>
  void lauum(Uplo uplo, Block<T> a) const {
    // Not LAPACK's: OpenBLAS' for complex entries reads behind the end of the matrix (0.3.21, Haswell).
    std::array<T, portable::inverse_block_entries> scratch;
    portable::lauum<T>(*this, uplo, a, [&](portable::Strided<T> const& l) {
      portable::Strided<T> const x{scratch.data(), l.rows, l.rows, 1, l.rows};
      for (std::int64_t i = 0; i < portable::count_of(x); ++i) portable::SquareEntry<T>{l, x}(i);
      for (std::int64_t i = 0; i < portable::count_of(x); ++i) portable::StoreLower<T>{x, l, false}(i);
    });
  }
  template <class T>
  void conjugate(Block<T> x) const {
    conjugate_in_place(x);
  }
};

}  // namespace

template <class T>
int potrf(Uplo uplo, detail::TileView<T> a) {
  return by_flags::potrf<HostLapack, T>({}, uplo, a);
}

template <class T>
int trtri(Uplo uplo, Diag diag, detail::TileView<T> a) {
  return by_flags::trtri<HostLapack, T>({}, uplo, diag, a);
}

template <class T>
void lauum(Uplo uplo, detail::TileView<T> a) {
  by_flags::lauum<HostLapack, T>({}, uplo, a);
}

template <class T>
void trsm(Side side, Uplo uplo, Op op, Diag diag, typename detail::NotDeduced<T>::type alpha,
          detail::ConstTileView<T> a, detail::TileView<T> b) {
  by_flags::trsm<HostLapack, T>({}, side, uplo, op, diag, alpha, a, b);
}

template <class T>
void trmm(Side side, Uplo uplo, Op op, Diag diag, typename detail::NotDeduced<T>::type alpha,
          detail::ConstTileView<T> a, detail::TileView<T> b) {
  by_flags::trmm<HostLapack, T>({}, side, uplo, op, diag, alpha, a, b);
}

#define GRANARY_INSTANTIATE(T)                                                                 \
  template int potrf(Uplo, detail::TileView<T>);                                               \
  template int trtri(Uplo, Diag, detail::TileView<T>);                                         \
  template void lauum(Uplo, detail::TileView<T>);                                              \
  template void trsm(Side, Uplo, Op, Diag, T, detail::TileView<T const>, detail::TileView<T>); \
  template void trmm(Side, Uplo, Op, Diag, T, detail::TileView<T const>, detail::TileView<T>);
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary::kernels
