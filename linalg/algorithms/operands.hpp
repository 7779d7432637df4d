// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/data/blas_enums.hpp>
#include <granary/detail/linalg/data/scalar.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>

#include <initializer_list>
#include <string>

/// Requirements of tiled algorithms on their matrices, checked before they emit a task.
namespace granary::detail {

/// A matrix with its name in a formula, for checks and their messages.
struct Operand {
  template <class T>
  Operand(char const* operand_name, TiledMatrix<T> const& matrix)
      : name(operand_name), grid(matrix.grid()), part(matrix.part()) {}

  char const* name;
  TileGrid grid;
  MatrixPart part;
};

/// Throws InvalidArgument, with the operands and their shapes, unless the shapes match (`fit`) and all have one tile
/// size.
void require_fit(char const* algorithm, bool fit, std::initializer_list<Operand> operands);

/// Throws InvalidArgument unless the operand stores all tiles of that part.
void require_part(char const* algorithm, Operand const& operand, MatrixPart needed);

/// Throws InvalidArgument if a Cholesky factor is not one triangle.
void require_triangle(char const* algorithm, MatrixPart part);

/// Throws InvalidArgument if `output` shares tiles with `input`, which would be overwritten before they are read.
template <class T>
void require_distinct(char const* algorithm, char const* input_name, TiledMatrix<T> const& input,
                      char const* output_name, TiledMatrix<T> const& output);

/// Throws InvalidArgument if op is the transpose of a complex Q.
template <class T>
void require_op_of_q(char const* algorithm, Op op) {
  if (!is_complex<T> || op != Op::Trans) return;
  throw InvalidArgument(std::string(algorithm) + ": the transpose of a complex Q cannot be applied, only Q and Q^H");
}

/// The grid of op(A).
[[nodiscard]] constexpr TileGrid op_grid(Op op, TileGrid const& grid) {
  return op == Op::NoTrans ? grid : grid.transposed();
}

}  // namespace granary::detail
