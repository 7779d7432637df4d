// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/algorithms/matrix_ops.hpp>

#include <string>

namespace granary {
namespace {

[[nodiscard]] std::string described(detail::TileGrid const& grid, MatrixPart part) {
  return std::string(part == MatrixPart::All     ? "all"
                     : part == MatrixPart::Lower ? "the lower part"
                                                 : "the upper part") +
         " of " + std::to_string(grid.rows) + " x " + std::to_string(grid.cols) + " with tile size " +
         std::to_string(grid.tile);
}

template <class A, class B>
void require_match(char const* operation, detail::TiledMatrix<A> const& a, detail::TiledMatrix<B> const& b) {
  if (a.grid() == b.grid() && (b.part() == MatrixPart::All || a.part() == b.part())) return;
  throw InvalidArgument(std::string(operation) + ": A is " + described(a.grid(), a.part()) + " and B " +
                        described(b.grid(), b.part()) + ", which do not match");
}

// Calls emit(i, j, part of the tile) for the tiles of A's part, row by row.
template <class T, class Emit>
void for_each_tile(detail::TiledMatrix<T> const& a, Emit const& emit) {
  for (std::uint64_t i = 0; i < a.grid().tile_rows(); ++i) {
    for (std::uint64_t j = 0; j < a.grid().tile_cols(); ++j) {
      if (holds(a.part(), i, j)) emit(i, j, i == j ? a.part() : MatrixPart::All);
    }
  }
}

// B := A, or its conjugate
template <class From, class To>
void copy_tiles(TaskEmitter& tasks, bool conjugated, detail::TiledMatrix<From> const& a,
                detail::TiledMatrix<To> const& b, detail::OtherTriangle other) {
  for_each_tile(a, [&](std::uint64_t i, std::uint64_t j, MatrixPart part) {
    tiles::copy<From, To>(tasks.at(i, j), part, conjugated, a(i, j), b(i, j), other);
  });
}

}  // namespace

template <class From, class To>
void copy(TaskEmitter& tasks, detail::TiledMatrix<From> const& a, detail::TiledMatrix<To> const& b,
          detail::OtherTriangle other) {
  require_match("copy", a, b);
  copy_tiles(tasks, false, a, b, other);
}

template <class T>
void transpose(TaskEmitter& tasks, Op op, detail::TiledMatrix<T> const& a, detail::TiledMatrix<T> const& b,
               detail::OtherTriangle other) {
  auto const from = op == Op::NoTrans ? a : a.transposed();
  require_match("transpose", from, b);
  // Every part contains tile (0, 0): it shows whether the matrices share their tiles.
  if (a(0, 0).data == b(0, 0).data) throw InvalidArgument("transpose: A and B share tiles");
  copy_tiles(tasks, op == Op::ConjTrans, from, b, other);
}

template <class T>
void set(TaskEmitter& tasks, std::type_identity_t<T> off_diagonal, std::type_identity_t<T> diagonal,
         detail::TiledMatrix<T> const& a, detail::OtherTriangle other) {
  for_each_tile(a, [&](std::uint64_t i, std::uint64_t j, MatrixPart part) {
    tiles::set<T>(tasks.at(i, j), part, off_diagonal, i == j ? diagonal : off_diagonal, a(i, j), other);
  });
}

template <class T>
void add(TaskEmitter& tasks, std::type_identity_t<T> alpha, detail::TiledMatrix<T> const& a,
         std::type_identity_t<T> beta, detail::TiledMatrix<T> const& b, detail::OtherTriangle other) {
  require_match("add", a, b);
  for_each_tile(a, [&](std::uint64_t i, std::uint64_t j, MatrixPart part) {
    tiles::add<T>(tasks.at(i, j), part, alpha, a(i, j), beta, b(i, j), other);
  });
}

#define GRANARY_INSTANTIATE(T, Other)                                                                     \
  template void copy(TaskEmitter&, detail::TiledMatrix<T> const&, detail::TiledMatrix<T> const&,          \
                     detail::OtherTriangle);                                                              \
  template void copy(TaskEmitter&, detail::TiledMatrix<T> const&, detail::TiledMatrix<Other> const&,      \
                     detail::OtherTriangle);                                                              \
  template void transpose(TaskEmitter&, Op, detail::TiledMatrix<T> const&, detail::TiledMatrix<T> const&, \
                          detail::OtherTriangle);                                                         \
  template void set(TaskEmitter&, T, T, detail::TiledMatrix<T> const&, detail::OtherTriangle);            \
  template void add(TaskEmitter&, T, detail::TiledMatrix<T> const&, T, detail::TiledMatrix<T> const&,     \
                    detail::OtherTriangle);
GRANARY_INSTANTIATE(float, double)
GRANARY_INSTANTIATE(double, float)
GRANARY_INSTANTIATE(Kokkos::complex<float>, Kokkos::complex<double>)
GRANARY_INSTANTIATE(Kokkos::complex<double>, Kokkos::complex<float>)
#undef GRANARY_INSTANTIATE

}  // namespace granary
