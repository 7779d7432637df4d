// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/kernels/qr_block.hpp>
#include <granary/detail/linalg/kernels/qr_kernels.hpp>

#include <string>

namespace granary::kernels {
namespace {

[[nodiscard]] std::size_t entries_of_square(int order) {
  return static_cast<std::size_t>(order) * static_cast<std::size_t>(order);
}

template <class T>
[[nodiscard]] std::string named(char const* name, detail::TileView<T> const& tile) {
  return name + (" " + extents(tile.rows, tile.cols));
}

// QR of A, or of [R; A], a block of columns after the other. Each updates the columns on its right.
template <class T>
void factor_tile(QrForm form, detail::TileView<T> const& r, detail::TileView<T> const& a, detail::TileView<T> const& t,
                 T* workspace) {
  for_inner_blocks(reflectors_in(form, a.rows, a.cols), t.rows, true, [&](int first, int order) {
    QrBlock<T> const block{form, a, first, order};
    QrPanel<T> panel(block.shape(), workspace);
    auto const diagonal = sub(r, first, first, order, order);
    block.load(panel, diagonal);
    panel.factor();
    block.store(panel, diagonal);
    auto const triangle = tile_of(panel.triangle());
    set(MatrixPart::All, T(0), T(0), sub(t, 0, first, t.rows, order));
    copy<T, T>(MatrixPart::Upper, false, triangle, sub(t, 0, first, order, order));

    int const later = first + order, rest = a.cols - later;
    if (rest == 0) return;
    auto const beside = form == QrForm::Whole ? detail::TileView<T>{} : sub(r, first, later, order, rest);
    // T is in the workspace; what follows it is free again.
    T* const memory = workspace + entries_of_square(order);
    auto const rows = block.rows(Side::Left, beside, sub(a, 0, later, a.rows, rest), memory);
    BlockReflector<T>{Side::Left, true, triangle}.apply(rows, memory + entries_of_square(order));
  });
}

// Q is the product of the blocks' H_1 H_2 ...: Q^H C begins with the first one, and so does C Q.
template <class T>
void apply_tile(QrForm form, Side side, Op op, detail::TileView<T const> const& v, detail::TileView<T const> const& t,
                detail::TileView<T> const& c1, detail::TileView<T> const& c2, T* workspace) {
  bool const adjoint = op != Op::NoTrans, forwards = (side == Side::Left) == adjoint;
  for_inner_blocks(reflectors_in(form, v.rows, v.cols), t.rows, forwards, [&](int first, int order) {
    QrBlock<T const> const block{form, v, first, order};
    auto const beside = form == QrForm::Whole ? detail::TileView<T>{} : lines_of(side, c1, first, order);
    BlockReflector<T>{side, adjoint, sub(t, 0, first, order, order)}.apply(block.rows(side, beside, c2, workspace),
                                                                           workspace + entries_of_square(order));
  });
}

template <class T>
void factor_stack(char const* kernel, QrForm form, detail::TileView<T> const& r, detail::TileView<T> const& a,
                  detail::TileView<T> const& t, T* workspace) {
  for (auto const* tile : {&r, &a, &t}) (void)stored(kernel, *tile);
  require(r.rows >= a.cols && r.cols == a.cols && t.rows > 0 && t.cols >= a.cols, kernel,
          named("R", r) + ", " + named("A", a) + " and " + named("T", t));
  factor_tile(form, r, a, t, workspace);
}

template <class T>
void apply_to_stack(char const* kernel, QrForm form, Side side, Op op, detail::TileView<T const> const& v,
                    detail::TileView<T const> const& t, detail::TileView<T> const& c1, detail::TileView<T> const& c2,
                    T* workspace) {
  require_op<T>(kernel, op);
  for (auto const* tile : {&v, &t}) (void)stored(kernel, *tile);
  for (auto const* tile : {&c1, &c2}) (void)stored(kernel, *tile);
  bool const left = side == Side::Left;
  require((left ? c1.rows : c1.cols) >= v.cols && (left ? c2.rows : c2.cols) == v.rows &&
              (left ? c1.cols == c2.cols : c1.rows == c2.rows) && t.rows > 0 && t.cols >= v.cols,
          kernel, named("V", v) + ", " + named("T", t) + ", " + named("C1", c1) + " and " + named("C2", c2));
  apply_tile(form, side, op, v, t, c1, c2, workspace);
}

}  // namespace

template <class T>
std::size_t qr_factor_workspace(int rows, int cols, int ib) {
  int const order = std::min(ib, cols);
  return std::max(QrPanel<T>::workspace(rows, order),
                  2 * entries_of_square(order) + BlockReflector<T>::workspace(cols, order));
}

template <class T>
std::size_t qr_apply_workspace(int lines, int ib) {
  return entries_of_square(ib) + BlockReflector<T>::workspace(lines, ib);
}

template <class T>
void geqrt(detail::TileView<T> a, detail::TileView<T> t, typename detail::NotDeduced<T>::type* workspace) {
  for (auto const* tile : {&a, &t}) (void)stored("geqrt", *tile);
  require(t.rows > 0 && t.cols >= std::min(a.rows, a.cols), "geqrt", named("A", a) + " and " + named("T", t));
  factor_tile(QrForm::Whole, a, a, t, workspace);
}

template <class T>
void unmqr(Side side, Op op, detail::ConstTileView<T> v, detail::ConstTileView<T> t, detail::TileView<T> c,
           typename detail::NotDeduced<T>::type* workspace) {
  require_op<T>("unmqr", op);
  for (auto const* tile : {&v, &t}) (void)stored("unmqr", *tile);
  (void)stored("unmqr", c);
  require((side == Side::Left ? c.rows : c.cols) == v.rows && t.rows > 0 && t.cols >= std::min(v.rows, v.cols), "unmqr",
          named("V", v) + ", " + named("T", t) + " and " + named("C", c));
  apply_tile<T>(QrForm::Whole, side, op, v, t, {}, c, workspace);
}

template <class T>
void tsqrt(detail::TileView<T> r, detail::TileView<T> a, detail::TileView<T> t,
           typename detail::NotDeduced<T>::type* workspace) {
  factor_stack("tsqrt", QrForm::Stacked, r, a, t, workspace);
}

template <class T>
void tsmqr(Side side, Op op, detail::ConstTileView<T> v, detail::ConstTileView<T> t, detail::TileView<T> c1,
           detail::TileView<T> c2, typename detail::NotDeduced<T>::type* workspace) {
  apply_to_stack<T>("tsmqr", QrForm::Stacked, side, op, v, t, c1, c2, workspace);
}

template <class T>
void ttqrt(detail::TileView<T> r1, detail::TileView<T> r2, detail::TileView<T> t,
           typename detail::NotDeduced<T>::type* workspace) {
  factor_stack("ttqrt", QrForm::Stairs, r1, r2, t, workspace);
}

template <class T>
void ttmqr(Side side, Op op, detail::ConstTileView<T> v, detail::ConstTileView<T> t, detail::TileView<T> c1,
           detail::TileView<T> c2, typename detail::NotDeduced<T>::type* workspace) {
  apply_to_stack<T>("ttmqr", QrForm::Stairs, side, op, v, t, c1, c2, workspace);
}

#define GRANARY_INSTANTIATE(T)                                                                               \
  template std::size_t qr_factor_workspace<T>(int, int, int);                                                \
  template std::size_t qr_apply_workspace<T>(int, int);                                                      \
  template void geqrt(detail::TileView<T>, detail::TileView<T>, std::add_pointer_t<T>);                      \
  template void unmqr(Side, Op, detail::TileView<T const>, detail::TileView<T const>, detail::TileView<T>,   \
                      std::add_pointer_t<T>);                                                                \
  template void tsqrt(detail::TileView<T>, detail::TileView<T>, detail::TileView<T>, std::add_pointer_t<T>); \
  template void tsmqr(Side, Op, detail::TileView<T const>, detail::TileView<T const>, detail::TileView<T>,   \
                      detail::TileView<T>, std::add_pointer_t<T>);                                           \
  template void ttqrt(detail::TileView<T>, detail::TileView<T>, detail::TileView<T>, std::add_pointer_t<T>); \
  template void ttmqr(Side, Op, detail::TileView<T const>, detail::TileView<T const>, detail::TileView<T>,   \
                      detail::TileView<T>, std::add_pointer_t<T>);
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary::kernels
