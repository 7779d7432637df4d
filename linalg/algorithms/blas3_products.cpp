// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/model/owned_data.hpp>
#include <granary/detail/linalg/algorithms/blas3.hpp>
#include <granary/detail/linalg/algorithms/operands.hpp>
#include <granary/detail/linalg/data/op_tiles.hpp>
#include <granary/detail/linalg/tiles/blas3.hpp>
#include <granary/detail/linalg/tiles/elementwise.hpp>

#include <string>
#include <vector>

namespace granary {
namespace {

using detail::op_grid;
using detail::OpTiles;
using detail::require_distinct;
using detail::require_fit;
using detail::require_part;

// Calls product(i, j, k, beta) for the tiles (i, j) of a part of C and each k < inner, in the order of gemm. The first
// product of a tile gets beta, the others 1. If alpha is 0, one product per tile is enough.
template <class Scalar, class Product>
void for_each_product(detail::TileGrid const& c, MatrixPart part, std::uint64_t inner, Scalar alpha, Scalar beta,
                      Product&& product) {
  std::uint64_t const products = alpha == Scalar(0) ? 1 : inner;
  for (std::uint64_t j = 0; j < c.tile_cols(); ++j) {
    for (std::uint64_t i = 0; i < c.tile_rows(); ++i) {
      if (!holds(part, i, j)) continue;
      for (std::uint64_t k = 0; k < products; ++k) product(i, j, k, k == 0 ? beta : Scalar(1));
    }
  }
}

void refuse_op(char const* algorithm, bool complex, Op op, Op refused) {
  if (complex && op == refused) {
    throw InvalidArgument(
        std::string(algorithm) + " of complex matrices takes A or its " +
        (refused == Op::Trans ? "conjugate transpose, not its transpose" : "transpose, not its conjugate transpose"));
  }
}

// For herk and syrk.
template <class T>
void check_rank_k(char const* algorithm, Uplo uplo, Op op, detail::TiledMatrix<T> const& a,
                  detail::TiledMatrix<T> const& c) {
  require_fit(algorithm, c.grid().rows == c.grid().cols && op_grid(op, a.grid()).rows == c.grid().rows,
              {{"A", a}, {"C", c}});
  require_part(algorithm, {"A", a}, MatrixPart::All);
  require_part(algorithm, {"C", c}, detail::part_of(uplo));
  require_distinct(algorithm, "A", a, "C", c);
}

// For hemm and symm.
template <class T>
void check_symmetric(char const* algorithm, Side side, Uplo uplo, detail::TiledMatrix<T> const& a,
                     detail::TiledMatrix<T> const& b, detail::TiledMatrix<T> const& c) {
  auto const& grid = c.grid();
  auto const order = side == Side::Left ? grid.rows : grid.cols;
  require_fit(
      algorithm,
      a.grid().rows == order && a.grid().cols == order && b.grid().rows == grid.rows && b.grid().cols == grid.cols,
      {{"A", a}, {"B", b}, {"C", c}});
  require_part(algorithm, {"A", a}, detail::part_of(uplo));
  require_part(algorithm, {"B", b}, MatrixPart::All);
  require_part(algorithm, {"C", c}, MatrixPart::All);
  require_distinct(algorithm, "A", a, "C", c);
  require_distinct(algorithm, "B", b, "C", c);
}

// C := alpha A B + beta C, where A(k,i) is mirrored(A(i,k)); on_diagonal(i, j, beta) emits A(i,i)'s product.
template <class T, class OnDiagonal>
void multiply_symmetric(TaskEmitter& tasks, Uplo uplo, Op mirrored, T alpha, detail::TiledMatrix<T> const& a,
                        detail::TiledMatrix<T> const& b, T beta, detail::TiledMatrix<T> const& c,
                        OnDiagonal const& on_diagonal) {
  for_each_product(c.grid(), MatrixPart::All, a.grid().tile_cols(), alpha, beta, [&](auto i, auto j, auto k, T scale) {
    if (i == k) return on_diagonal(i, j, scale);
    bool const stored = holds(detail::part_of(uplo), i, k);
    tiles::gemm(tasks.at(i, j, k), stored ? Op::NoTrans : mirrored, Op::NoTrans, alpha, stored ? a(i, k) : a(k, i),
                b(k, j), scale, c(i, j));
  });
}

// A temporary tile with both triangles of a symmetric one.
template <class T>
[[nodiscard]] detail::TileRef symmetric_tile(TaskEmitter& tasks, Uplo uplo, detail::TileRef const& a, std::uint64_t i,
                                             detail::OwnedData& data) {
  auto const number = std::to_string(i);
  auto const bytes = static_cast<Bytes>(a.rows) * static_cast<Bytes>(a.cols) * sizeof(T);
  detail::TileRef const whole{
      {a.rows, a.cols, a.cols, detail::TileLayout::RowMajor},
      data.add({.name = "symmetric tile (" + number + "," + number + ")", .bytes = bytes, .origin = {}, .home = {}})};
  detail::TileRef const mirrored{a.shape().transposed(), a.data};
  tiles::copy<T, T>(tasks.at(i, i), detail::part_of(uplo), false, a, whole, detail::OtherTriangle::Zeroed);
  tiles::copy<T, T>(tasks.at(i, i), detail::part_of(flip(uplo)), false, mirrored, whole);
  return whole;
}

}  // namespace

template <class T>
void gemm(TaskEmitter& tasks, Op op_a, Op op_b, T alpha, detail::TiledMatrix<T> const& a,
          detail::TiledMatrix<T> const& b, T beta, detail::TiledMatrix<T> const& c) {
  auto const left = op_grid(op_a, a.grid());
  auto const right = op_grid(op_b, b.grid());
  require_fit("gemm", left.rows == c.grid().rows && left.cols == right.rows && right.cols == c.grid().cols,
              {{"A", a}, {"B", b}, {"C", c}});
  for (auto const& operand : {detail::Operand{"A", a}, {"B", b}, {"C", c}}) {
    require_part("gemm", operand, MatrixPart::All);
  }
  require_distinct("gemm", "A", a, "C", c);
  require_distinct("gemm", "B", b, "C", c);

  OpTiles<T> const op_of_a(op_a, a), op_of_b(op_b, b);
  for_each_product(c.grid(), MatrixPart::All, left.tile_cols(), alpha, beta, [&](auto i, auto j, auto k, T scale) {
    tiles::gemm(tasks.at(i, j, k), op_a, op_b, alpha, op_of_a(i, k), op_of_b(k, j), scale, c(i, j));
  });
}

template <class T>
void herk(TaskEmitter& tasks, Uplo uplo, Op op, detail::RealOf<T> alpha, detail::TiledMatrix<T> const& a,
          detail::RealOf<T> beta, detail::TiledMatrix<T> const& c) {
  refuse_op("herk", detail::is_complex<T>, op, Op::Trans);
  check_rank_k("herk", uplo, op, a, c);
  using R = detail::RealOf<T>;
  auto const inner = op_grid(op, a.grid()).tile_cols();
  Op const op_right = op == Op::NoTrans ? Op::ConjTrans : Op::NoTrans;
  OpTiles<T> const op_of_a(op, a);
  for_each_product(c.grid(), detail::part_of(uplo), inner, alpha, beta, [&](auto i, auto j, auto k, R scale) {
    if (i == j) {
      tiles::herk<T>(tasks.at(i, j, k), uplo, op, alpha, op_of_a(i, k), scale, c(i, i));
    } else {
      tiles::gemm(tasks.at(i, j, k), op, op_right, T(alpha), op_of_a(i, k), op_of_a(j, k), T(scale), c(i, j));
    }
  });
}

template <class T>
void syrk(TaskEmitter& tasks, Uplo uplo, Op op, T alpha, detail::TiledMatrix<T> const& a, T beta,
          detail::TiledMatrix<T> const& c) {
  refuse_op("syrk", detail::is_complex<T>, op, Op::ConjTrans);
  check_rank_k("syrk", uplo, op, a, c);
  auto const inner = op_grid(op, a.grid()).tile_cols();
  Op const op_right = op == Op::NoTrans ? Op::Trans : Op::NoTrans;
  OpTiles<T> const op_of_a(op, a);
  for_each_product(c.grid(), detail::part_of(uplo), inner, alpha, beta, [&](auto i, auto j, auto k, T scale) {
    if (i == j) {
      tiles::syrk(tasks.at(i, j, k), uplo, op, alpha, op_of_a(i, k), scale, c(i, i));
    } else {
      tiles::gemm(tasks.at(i, j, k), op, op_right, alpha, op_of_a(i, k), op_of_a(j, k), scale, c(i, j));
    }
  });
}

template <class T>
void hemm(TaskEmitter& tasks, Side side, Uplo uplo, T alpha, detail::TiledMatrix<T> const& a,
          detail::TiledMatrix<T> const& b, T beta, detail::TiledMatrix<T> const& c) {
  check_symmetric("hemm", side, uplo, a, b, c);
  if (side == Side::Right) {
    // C^T = alpha A^T B^T + beta C^T, and A^T is Hermitian too.
    return hemm(tasks, Side::Left, flip(uplo), alpha, a.transposed(), b.transposed(), beta, c.transposed());
  }
  multiply_symmetric(tasks, uplo, Op::ConjTrans, alpha, a, b, beta, c, [&](auto i, auto j, T scale) {
    tiles::hemm(tasks.at(i, j, i), Side::Left, uplo, alpha, a(i, i), b(i, j), scale, c(i, j));
  });
}

template <class T>
void symm(TaskEmitter& tasks, Side side, Uplo uplo, T alpha, detail::TiledMatrix<T> const& a,
          detail::TiledMatrix<T> const& b, T beta, detail::TiledMatrix<T> const& c) {
  check_symmetric("symm", side, uplo, a, b, c);
  if constexpr (!detail::is_complex<T>) {
    return hemm(tasks, side, uplo, alpha, a, b, beta, c);
  } else {
    if (side == Side::Right) {
      return symm(tasks, Side::Left, flip(uplo), alpha, a.transposed(), b.transposed(), beta, c.transposed());
    }
    detail::OwnedData data(tasks.submitter());
    std::vector<detail::TileRef> diagonal;
    for (std::uint64_t i = 0; i < a.grid().tile_rows(); ++i) {
      diagonal.push_back(symmetric_tile<T>(tasks, uplo, a(i, i), i, data));
    }
    multiply_symmetric(tasks, uplo, Op::Trans, alpha, a, b, beta, c, [&](auto i, auto j, T scale) {
      tiles::gemm(tasks.at(i, j, i), Op::NoTrans, Op::NoTrans, alpha, diagonal[i], b(i, j), scale, c(i, j));
    });
  }
}

#define GRANARY_INSTANTIATE(T)                                                                                       \
  template void gemm(TaskEmitter&, Op, Op, T, detail::TiledMatrix<T> const&, detail::TiledMatrix<T> const&, T,       \
                     detail::TiledMatrix<T> const&);                                                                 \
  template void herk<T>(TaskEmitter&, Uplo, Op, detail::RealOf<T>, detail::TiledMatrix<T> const&, detail::RealOf<T>, \
                        detail::TiledMatrix<T> const&);                                                              \
  template void syrk(TaskEmitter&, Uplo, Op, T, detail::TiledMatrix<T> const&, T, detail::TiledMatrix<T> const&);    \
  template void hemm(TaskEmitter&, Side, Uplo, T, detail::TiledMatrix<T> const&, detail::TiledMatrix<T> const&, T,   \
                     detail::TiledMatrix<T> const&);                                                                 \
  template void symm(TaskEmitter&, Side, Uplo, T, detail::TiledMatrix<T> const&, detail::TiledMatrix<T> const&, T,   \
                     detail::TiledMatrix<T> const&);
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary
