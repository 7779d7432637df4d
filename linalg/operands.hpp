// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/linalg/tiled_matrix.hpp>

#include <initializer_list>

/// What tiled algorithms ask of their matrices before they emit a task.
namespace granary::detail {

/// A matrix by its name in a formula, for checks and what they say.
struct Operand {
  template <class T>
  Operand(char const* operand_name, TiledMatrix<T> const& matrix)
      : name(operand_name), grid(matrix.grid()), part(matrix.part()) {}

  char const* name;
  TileGrid grid;
  MatrixPart part;
};

/// Throws InvalidArgument, naming the operands and their shapes, unless `fit` (their shapes do) and their tiles are of
/// one size.
void require_fit(char const* algorithm, bool fit, std::initializer_list<Operand> operands);

/// Throws InvalidArgument unless the operand stores all tiles of that part.
void require_part(char const* algorithm, Operand const& operand, MatrixPart needed);

/// Throws InvalidArgument when `output` shares tiles with `input`, which would be overwritten while they are still
/// read.
template <class T>
void require_distinct(char const* algorithm, char const* input_name, TiledMatrix<T> const& input,
                      char const* output_name, TiledMatrix<T> const& output);

/// The grid of op(A).
[[nodiscard]] constexpr TileGrid op_grid(Op op, TileGrid const& grid) {
  return op == Op::NoTrans ? grid : grid.transposed();
}

/// The tiles of A by their places in op(A): tile (i, j) of op(A) is op(tile), not yet applied, of what stands here.
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
