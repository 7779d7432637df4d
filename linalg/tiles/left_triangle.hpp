// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/data/op_tiles.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>

namespace granary::detail {

/// A triangular A on the left of B. A on the right of B is on the left of B^T, which has the same bytes: (B op(A))^T =
/// op(A^T) B^T for each of the three ops.
template <class T>
struct LeftTriangle {
  LeftTriangle(Side side, Uplo stored, Op operation, TiledMatrix<T> const& triangle, TiledMatrix<T> const& rhs)
      : a(side == Side::Left ? triangle : triangle.transposed()),
        b(side == Side::Left ? rhs : rhs.transposed()),
        uplo(side == Side::Left ? stored : flip(stored)),
        op(operation),
        op_of_a(op, a),
        op_is_lower((uplo == Uplo::Lower) == (op == Op::NoTrans)) {}
  LeftTriangle(LeftTriangle const&) = delete;
  LeftTriangle& operator=(LeftTriangle const&) = delete;

  TiledMatrix<T> a, b;
  Uplo uplo;
  Op op;
  OpTiles<T> op_of_a;
  bool op_is_lower;
};

}  // namespace granary::detail
