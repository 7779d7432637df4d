// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/algorithms/operands.hpp>
#include <granary/detail/linalg/data/scalar.hpp>

#include <algorithm>
#include <string>
#include <unordered_set>

namespace granary::detail {
namespace {

std::string extents(Operand const& operand) {
  auto const& grid = operand.grid;
  return std::string(operand.name) + " of " + std::to_string(grid.rows) + " x " + std::to_string(grid.cols) +
         " in tiles of " + std::to_string(grid.tile);
}

std::string text(MatrixPart part) {
  return part == MatrixPart::All     ? "all of"
         : part == MatrixPart::Lower ? "the lower triangle of"
                                     : "the upper triangle of";
}

}  // namespace

void require_fit(char const* algorithm, bool fit, std::initializer_list<Operand> operands) {
  bool const one_tile_size = std::ranges::all_of(
      operands, [&](auto const& operand) { return operand.grid.tile == operands.begin()->grid.tile; });
  if (fit && one_tile_size) return;
  std::string message = std::string(algorithm) + (fit ? " needs tiles of one size, not " : " cannot take ");
  for (auto const& operand : operands) {
    bool const last = &operand + 1 == operands.end();
    message += (&operand == operands.begin() ? "" : last ? " and " : ", ") + extents(operand);
  }
  throw InvalidArgument(message + (fit ? "" : ": the shapes do not match"));
}

void require_part(char const* algorithm, Operand const& operand, MatrixPart needed) {
  if (operand.part == MatrixPart::All || operand.part == needed) return;
  throw InvalidArgument(std::string(algorithm) + " needs " + text(needed) + " " + extents(operand) +
                        ", of which only " + (operand.part == MatrixPart::Lower ? "the lower" : "the upper") +
                        " triangle is stored");
}

void require_triangle(char const* algorithm, MatrixPart part) {
  if (part != MatrixPart::All) return;
  throw InvalidArgument(std::string(algorithm) +
                        " needs a factor with one stored triangle, as potrf returns it, not all");
}

template <class T>
void require_distinct(char const* algorithm, char const* input_name, TiledMatrix<T> const& input,
                      char const* output_name, TiledMatrix<T> const& output) {
  auto const for_each_tile = [](TiledMatrix<T> const& matrix, auto&& visit) {
    for (std::uint64_t i = 0; i < matrix.grid().tile_rows(); ++i) {
      for (std::uint64_t j = 0; j < matrix.grid().tile_cols(); ++j) {
        if (holds(matrix.part(), i, j)) visit(i, j, matrix(i, j).data);
      }
    }
  };
  std::unordered_set<DataId> inputs;
  for_each_tile(input, [&](auto, auto, DataId tile) { inputs.insert(tile); });
  for_each_tile(output, [&](std::uint64_t i, std::uint64_t j, DataId tile) {
    if (!inputs.contains(tile)) return;
    throw InvalidArgument(std::string(algorithm) + " overwrites " + output_name + ", whose tile " +
                          tile_name(output_name, i, j) + " is also a tile of " + input_name + ", which it reads");
  });
}

#define GRANARY_INSTANTIATE(T) \
  template void require_distinct(char const*, char const*, TiledMatrix<T> const&, char const*, TiledMatrix<T> const&);
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary::detail
