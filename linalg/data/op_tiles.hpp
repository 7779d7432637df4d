// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/data/blas_enums.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>

#include <cstdint>

namespace granary::detail {

/// The tiles of A in the order of op(A): tile (i, j) of op(A) is op of the tile returned here.
template <class T>
class OpTiles {
 public:
  OpTiles(Op op, TiledMatrix<T> const& a) : m_op(op), m_a(&a) {}
  [[nodiscard]] TileRef operator()(std::uint64_t i, std::uint64_t j) const {
    return m_op == Op::NoTrans ? (*m_a)(i, j) : (*m_a)(j, i);
  }

 private:
  Op m_op;
  TiledMatrix<T> const* m_a;
};

}  // namespace granary::detail
