// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/kernels/block_blas.hpp>
#include <granary/detail/linalg/kernels/tile_blas3.hpp>
#include <granary/detail/linalg/kernels/tile_kernels.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace granary::kernels {
namespace {

/// Columns (rows) of an operand that are copied at a time if no BLAS flag fits: a small part of a tile.
constexpr int panel = 64;

/// The part of a factor for [first, first + count) of the inner dimension.
template <class T>
[[nodiscard]] Block<T> slice(Block<T> x, bool inner_is_columns, int first, int count) {
  return inner_is_columns ? x.sub(0, first, x.rows, count) : x.sub(first, 0, count, x.cols);
}

/// C := alpha op(A) op(B) + beta C; an operand that is conjugated but not transposed is copied in panels.
template <class T>
void multiply(StoredOp op_a, StoredOp op_b, T alpha, Block<T const> a, Block<T const> b, T beta, Block<T> c) {
  if (!op_a.conjugated && !op_b.conjugated) return chosen_gemm(op_a.op, op_b.op, alpha, a, b, beta, c);
  int const k = op_a.op == Op::NoTrans ? a.cols : a.rows;
  for (int first = 0; first == 0 || first < k; first += panel) {
    int const count = std::min(panel, k - first);
    auto left = slice(a, op_a.op == Op::NoTrans, first, count);
    auto right = slice(b, op_b.op != Op::NoTrans, first, count);
    std::vector<T> copy_a, copy_b;
    if (op_a.conjugated) {
      copy_a = conjugated_copy<T>(left);
      left = {copy_a.data(), left.rows, left.cols, std::max(1, left.rows)};
    }
    if (op_b.conjugated) {
      copy_b = conjugated_copy<T>(right);
      right = {copy_b.data(), right.rows, right.cols, std::max(1, right.rows)};
    }
    chosen_gemm(op_a.op, op_b.op, alpha, left, right, first == 0 ? beta : T(1), c);
  }
}

/// Rows [i, i + rows) and columns [j, j + cols).
template <class T>
[[nodiscard]] detail::TileView<T> part_of(detail::TileView<T> x, int i, int j, int rows, int cols) {
  bool const by_rows = row_major(x);
  auto const offset = static_cast<std::ptrdiff_t>(by_rows ? i : j) * x.ld + (by_rows ? j : i);
  return {x.data + offset, rows, cols, x.ld, x.layout};
}

/// A copy of a diagonal block of a Hermitian tile, with both triangles.
template <class T>
[[nodiscard]] std::vector<T> hermitian_block(Uplo uplo, detail::TileView<T const> a, int first, int order) {
  std::vector<T> full(static_cast<std::size_t>(order) * static_cast<std::size_t>(order));
  detail::TileView<T> const block{full.data(), order, order, order};
  for (int j = 0; j < order; ++j) {
    block(j, j) = T(detail::real_part(a(first + j, first + j)));
    for (int i = j + 1; i < order; ++i) {
      T const below = uplo == Uplo::Lower ? a(first + i, first + j) : detail::conjugate(a(first + j, first + i));
      block(i, j) = below;
      block(j, i) = detail::conjugate(below);
    }
  }
  return full;
}

/// C := alpha A B + beta C or alpha B A + beta C with A Hermitian, in any layout, as products with blocks of A.
template <class T>
void hemm_by_blocks(Side side, Uplo uplo, T alpha, detail::TileView<T const> a, detail::TileView<T const> b, T beta,
                    detail::TileView<T> c) {
  bool const left = side == Side::Left;
  auto const lines = [&](auto x, int first, int count) {
    return left ? part_of(x, first, 0, count, x.cols) : part_of(x, 0, first, x.rows, count);
  };
  // C(to) := alpha op(A) B(from) + factor C(to), or with the product reversed
  auto const multiply_block = [&](detail::TileView<T const> block, Op op, detail::TileView<T const> from, T factor,
                                  detail::TileView<T> to) {
    if (left) {
      gemm(op, Op::NoTrans, alpha, block, from, factor, to);
    } else {
      gemm(Op::NoTrans, op, alpha, from, block, factor, to);
    }
  };
  multiply_block(part_of(a, 0, 0, left ? a.rows : 0, left ? 0 : a.cols), Op::NoTrans, lines(b, 0, 0), beta, c);
  for (int d = 0; d < a.rows; d += panel) {
    int const order = std::min(panel, a.rows - d);
    auto const full = hermitian_block<T>(uplo, a, d, order);
    auto const b_d = lines(b, d, order);
    auto const c_d = lines(c, d, order);
    multiply_block({full.data(), order, order, order}, Op::NoTrans, b_d, T(1), c_d);
    // The stored block beside the diagonal one, and its conjugate transpose on the other side of the diagonal.
    int const first = uplo == Uplo::Lower ? d + order : 0, count = uplo == Uplo::Lower ? a.rows - first : d;
    if (count == 0) continue;
    auto const beside = part_of(a, first, d, count, order);
    multiply_block(beside, left ? Op::NoTrans : Op::ConjTrans, b_d, T(1), lines(c, first, count));
    multiply_block(beside, left ? Op::ConjTrans : Op::NoTrans, lines(b, first, count), T(1), c_d);
  }
}

struct HostBlas : BlockBlas {
  template <class T>
  void multiply(StoredOp op_a, StoredOp op_b, T alpha, Block<T const> a, Block<T const> b, T beta, Block<T> c) const {
    kernels::multiply<T>(op_a, op_b, alpha, a, b, beta, c);
  }
  template <class T>
  void hemm_mixed(Side side, Uplo uplo, T alpha, detail::TileView<T const> a, detail::TileView<T const> b, T beta,
                  detail::TileView<T> c) const {
    hemm_by_blocks<T>(side, uplo, alpha, a, b, beta, c);
  }
  template <class T>
  void conjugate(Uplo uplo, Block<T> x) const {
    conjugate_in_place(uplo, x);
  }
};

}  // namespace

template <class T>
void syrk(Uplo uplo, Op op, typename detail::NotDeduced<T>::type alpha, detail::ConstTileView<T> a,
          typename detail::NotDeduced<T>::type beta, detail::TileView<T> c) {
  by_flags::syrk<HostBlas, T>({}, uplo, op, alpha, a, beta, c);
}

template <class T>
void herk(Uplo uplo, Op op, detail::RealOf<typename detail::NotDeduced<T>::type> alpha, detail::ConstTileView<T> a,
          detail::RealOf<typename detail::NotDeduced<T>::type> beta, detail::TileView<T> c) {
  by_flags::herk<HostBlas, T>({}, uplo, op, alpha, a, beta, c);
}

template <class T>
void hemm(Side side, Uplo uplo, typename detail::NotDeduced<T>::type alpha, detail::ConstTileView<T> a,
          detail::ConstTileView<T> b, typename detail::NotDeduced<T>::type beta, detail::TileView<T> c) {
  by_flags::hemm<HostBlas, T>({}, side, uplo, alpha, a, b, beta, c);
}

template <class T>
void gemm(Op op_a, Op op_b, typename detail::NotDeduced<T>::type alpha, detail::ConstTileView<T> a,
          detail::ConstTileView<T> b, typename detail::NotDeduced<T>::type beta, detail::TileView<T> c) {
  by_flags::gemm<HostBlas, T>({}, op_a, op_b, alpha, a, b, beta, c);
}

#define GRANARY_INSTANTIATE(T)                                                                                        \
  template void syrk(Uplo, Op, T, detail::TileView<T const>, T, detail::TileView<T>);                                 \
  template void herk(Uplo, Op, detail::RealOf<T>, detail::TileView<T const>, detail::RealOf<T>, detail::TileView<T>); \
  template void hemm(Side, Uplo, T, detail::TileView<T const>, detail::TileView<T const>, T, detail::TileView<T>);    \
  template void gemm(Op, Op, T, detail::TileView<T const>, detail::TileView<T const>, T, detail::TileView<T>);
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary::kernels
