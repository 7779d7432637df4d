// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/algorithms/matrix_ops.hpp>

#include <string>

namespace granary {
namespace {

[[nodiscard]] std::string described(TileGrid const& grid, MatrixPart part) {
  return std::string(part == MatrixPart::All     ? "all"
                     : part == MatrixPart::Lower ? "the lower part"
                                                 : "the upper part") +
         " of " + std::to_string(grid.rows) + " x " + std::to_string(grid.cols) + " with tile size " +
         std::to_string(grid.tile);
}

template <class A, class B>
void require_match(char const* operation, TiledMatrix<A> const& a, TiledMatrix<B> const& b) {
  if (a.grid() == b.grid() && (b.part() == MatrixPart::All || a.part() == b.part())) return;
  throw InvalidArgument(std::string(operation) + ": A is " + described(a.grid(), a.part()) + " and B " +
                        described(b.grid(), b.part()) + ", which do not match");
}

// Calls emit(i, j, part of the tile) for the tiles of A's part, row by row.
template <class T, class Emit>
void for_each_tile(TiledMatrix<T> const& a, Emit const& emit) {
  for (std::uint64_t i = 0; i < a.grid().tile_rows(); ++i) {
    for (std::uint64_t j = 0; j < a.grid().tile_cols(); ++j) {
      if (holds(a.part(), i, j)) emit(i, j, i == j ? a.part() : MatrixPart::All);
    }
  }
}

// B := A, or its conjugate
template <class From, class To>
void copy_tiles(TaskEmitter& tasks, bool conjugated, TiledMatrix<From> const& a, TiledMatrix<To> const& b,
                OtherTriangle other) {
  for_each_tile(a, [&](std::uint64_t i, std::uint64_t j, MatrixPart part) {
    tiles::copy<From, To>(tasks.at(i, j), part, conjugated, a(i, j), b(i, j), other);
  });
}

}  // namespace

template <class From, class To>
void copy(TaskEmitter& tasks, TiledMatrix<From> const& a, TiledMatrix<To> const& b, OtherTriangle other) {
  require_match("copy", a, b);
  copy_tiles(tasks, false, a, b, other);
}

template <class T>
void transpose(TaskEmitter& tasks, Op op, TiledMatrix<T> const& a, TiledMatrix<T> const& b, OtherTriangle other) {
  auto const from = op == Op::NoTrans ? a : a.transposed();
  require_match("transpose", from, b);
  // Every part contains tile (0, 0): it shows whether the matrices share their tiles.
  if (a(0, 0).data == b(0, 0).data) throw InvalidArgument("transpose: A and B share tiles");
  copy_tiles(tasks, op == Op::ConjTrans, from, b, other);
}

template <class T>
void set(TaskEmitter& tasks, std::type_identity_t<T> off_diagonal, std::type_identity_t<T> diagonal,
         TiledMatrix<T> const& a, OtherTriangle other) {
  for_each_tile(a, [&](std::uint64_t i, std::uint64_t j, MatrixPart part) {
    tiles::set<T>(tasks.at(i, j), part, off_diagonal, i == j ? diagonal : off_diagonal, a(i, j), other);
  });
}

template <class T>
void add(TaskEmitter& tasks, std::type_identity_t<T> alpha, TiledMatrix<T> const& a, std::type_identity_t<T> beta,
         TiledMatrix<T> const& b, OtherTriangle other) {
  require_match("add", a, b);
  for_each_tile(a, [&](std::uint64_t i, std::uint64_t j, MatrixPart part) {
    tiles::add<T>(tasks.at(i, j), part, alpha, a(i, j), beta, b(i, j), other);
  });
}

#define GRANARY_INSTANTIATE(T, Other)                                                                     \
  template void copy(TaskEmitter&, TiledMatrix<T> const&, TiledMatrix<T> const&, OtherTriangle);          \
  template void copy(TaskEmitter&, TiledMatrix<T> const&, TiledMatrix<Other> const&, OtherTriangle);      \
  template void transpose(TaskEmitter&, Op, TiledMatrix<T> const&, TiledMatrix<T> const&, OtherTriangle); \
  template void set(TaskEmitter&, T, T, TiledMatrix<T> const&, OtherTriangle);                            \
  template void add(TaskEmitter&, T, TiledMatrix<T> const&, T, TiledMatrix<T> const&, OtherTriangle);
GRANARY_INSTANTIATE(float, double)
GRANARY_INSTANTIATE(double, float)
GRANARY_INSTANTIATE(Kokkos::complex<float>, Kokkos::complex<double>)
GRANARY_INSTANTIATE(Kokkos::complex<double>, Kokkos::complex<float>)
#undef GRANARY_INSTANTIATE

}  // namespace granary
