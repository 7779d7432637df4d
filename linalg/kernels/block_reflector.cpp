// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/kernels/block_reflector.hpp>
#include <granary/detail/linalg/kernels/elementwise_kernels.hpp>
#include <granary/detail/linalg/kernels/stored_tile.hpp>

#include <algorithm>

namespace granary::kernels {
namespace {

// Calls function(w, c) for each entry of W and the one of C in its place. If the layouts differ, works in strips, whose
// cache lines serve several lines of C.
template <class T, class Function>
void for_each_in_place(detail::TileView<T> const& w, detail::TileView<T> const& c, Function const& function) {
  bool const by_rows = row_major(c), same = row_major(w) == by_rows;
  int const lines = by_rows ? c.rows : c.cols, length = by_rows ? c.cols : c.rows, strip = same ? length : 16;
  for (int first = 0; first < length; first += strip) {
    int const count = std::min(strip, length - first);
    for (int line = 0; line < lines; ++line) {
      T* const in_c = c.data + static_cast<std::ptrdiff_t>(line) * c.ld + first;
      if (same) {
        T* const in_w = w.data + static_cast<std::ptrdiff_t>(line) * w.ld;
        for (int i = 0; i < count; ++i) function(in_w[i], in_c[i]);
      } else {
        T* const in_w = w.data + line + static_cast<std::ptrdiff_t>(first) * w.ld;
        for (int i = 0; i < count; ++i) function(in_w[static_cast<std::ptrdiff_t>(i) * w.ld], in_c[i]);
      }
    }
  }
}

// W = V^H C (left) or C V (right), or W^H: `order` numbers for each line of C.
template <class T>
struct ReflectorProducts {
  Side side;
  bool by_rows;  // C is row-major
  T* data;
  int order, lines;

  // The memory has W^H.
  [[nodiscard]] bool turned() const { return (side == Side::Left) == by_rows; }
  // The memory in the layout of C, as an operand of products.
  [[nodiscard]] detail::TileView<T> operand() const {
    return by_rows ? detail::TileView<T>{data, lines, order, order, detail::TileLayout::RowMajor}
                   : detail::TileView<T>{data, order, lines, order, detail::TileLayout::ColumnMajor};
  }
  // The first `count` rows (right: columns) of W; their conjugates if `turned`.
  [[nodiscard]] detail::TileView<T> part_of_w(int count) const {
    return side == Side::Left ? detail::TileView<T>{data, count, lines, order, detail::TileLayout::ColumnMajor}
                              : detail::TileView<T>{data, lines, count, order, detail::TileLayout::RowMajor};
  }
  [[nodiscard]] int rows_in(detail::TileView<T> const& c) const { return side == Side::Left ? c.rows : c.cols; }

  // W := C; if C has fewer rows, followed by zeros.
  void load(detail::TileView<T> const& c) const {
    if (rows_in(c) < order) set(MatrixPart::All, T(0), T(0), operand());
    copy<T, T>(MatrixPart::All, turned(), c, part_of_w(rows_in(c)));
  }
  void add_from(detail::TileView<T> const& c) const {
    for_each_in_place(part_of_w(rows_in(c)), c,
                      [turned = turned()](T& w, T const& x) { w += turned ? detail::conjugate(x) : x; });
  }
  void subtract_from(detail::TileView<T> const& c) const {
    for_each_in_place(part_of_w(rows_in(c)), c,
                      [turned = turned()](T const& w, T& x) { x -= turned ? detail::conjugate(w) : w; });
  }

  // W += V^H C (right: C V).
  void add_product(detail::TileView<T const> const& v, detail::TileView<T> const& c) const {
    bool const left = side == Side::Left;
    if (by_rows) return gemm<T>(left ? Op::ConjTrans : Op::NoTrans, Op::NoTrans, T(1), c, v, T(1), operand());
    gemm<T>(Op::ConjTrans, left ? Op::NoTrans : Op::ConjTrans, T(1), v, c, T(1), operand());
  }
  // C -= V W (right: W V^H).
  void subtract_product(detail::TileView<T const> const& v, detail::TileView<T> const& c) const {
    Op const op = turned() ? Op::ConjTrans : Op::NoTrans;
    if (side == Side::Left) return gemm<T>(Op::NoTrans, op, T(-1), v, operand(), T(1), c);
    gemm<T>(op, Op::ConjTrans, T(-1), operand(), v, T(1), c);
  }
  // Multiplies the memory by a triangle, in place.
  void multiply_by(Uplo uplo, Op op, Diag diag, detail::TileView<T const> const& triangle) const {
    trmm<T>(by_rows ? Side::Right : Side::Left, uplo, op, diag, T(1), triangle, operand());
  }
};

}  // namespace

template <class T>
std::size_t BlockReflector<T>::workspace(int lines, int order) {
  return (static_cast<std::size_t>(lines) + static_cast<std::size_t>(order)) * static_cast<std::size_t>(order);
}

template <class T>
void BlockReflector<T>::apply(ReflectorRows<T> const& rows, T* workspace) const {
  bool const has_identity = rows.beside_identity.data != nullptr, has_triangle = rows.triangle.data != nullptr;
  auto const& c = has_identity ? rows.beside_identity : rows.beside_triangle;
  int const order = t.cols, lines = side == Side::Left ? c.cols : c.rows;
  if (order == 0 || lines == 0) return;
  ReflectorProducts<T> const w{side, row_major(c), workspace, order, lines};
  // T in the layout of C.
  auto triangle = t;
  if (t.layout != c.layout) {
    detail::TileView<T> const copied{workspace + static_cast<std::ptrdiff_t>(order) * lines, order, order, order,
                                     c.layout};
    copy<T, T>(MatrixPart::Upper, false, t, copied);
    triangle = copied;
  }
  Op const of_c = w.by_rows ? Op::NoTrans : Op::ConjTrans, of_w = w.by_rows ? Op::ConjTrans : Op::NoTrans;
  Diag const diag = rows.uplo == Uplo::Lower ? Diag::Unit : Diag::NonUnit;

  w.load(has_triangle ? rows.beside_triangle : rows.beside_identity);
  if (has_triangle) w.multiply_by(rows.uplo, of_c, diag, rows.triangle);
  if (has_triangle && has_identity) w.add_from(rows.beside_identity);
  for (auto const& [v, part_of_c] : rows.rectangles) w.add_product(v, part_of_c);
  w.multiply_by(Uplo::Upper, adjoint != w.turned() ? Op::ConjTrans : Op::NoTrans, Diag::NonUnit, triangle);
  if (has_identity) w.subtract_from(rows.beside_identity);
  for (auto const& [v, part_of_c] : rows.rectangles) w.subtract_product(v, part_of_c);
  if (!has_triangle) return;
  w.multiply_by(rows.uplo, of_w, diag, rows.triangle);
  w.subtract_from(rows.beside_triangle);
}

template struct BlockReflector<float>;
template struct BlockReflector<double>;
template struct BlockReflector<Kokkos::complex<float>>;
template struct BlockReflector<Kokkos::complex<double>>;

}  // namespace granary::kernels
