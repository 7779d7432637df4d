// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/algorithms/matrix_ops.hpp>
#include <granary/detail/linalg/runtime/matrix_call.hpp>

/// Elementwise operations on matrices on a runtime. The functions in `granary::async` submit their tasks and return;
/// those in `granary` also wait, for their own results alone, and throw what Pending::wait throws. All throw
/// InvalidArgument, with names and sizes and before anything is changed, if sizes do not match or operands share
/// elements.
///
/// ```cpp
/// using Matrix = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
/// Matrix a("A", 300, 200), b("B", 200, 300), c("C", 200, 300);
/// granary::Runtime runtime;
/// granary::set(runtime, 1.0, 5.0, a);                     // 5 on the diagonal, 1 elsewhere
/// granary::transpose(runtime, granary::Op::Trans, a, b);  // B := A^T
/// granary::copy(runtime, b, c);
/// granary::add(runtime, 2.0, b, -1.0, c);  // C := 2 B - C
/// assert(c(7, 7) == 5.0 && c(7, 8) == 1.0);
/// ```
namespace granary {
namespace async {

/// B := A; xLACPY. Between precisions, real to real or complex to complex, xLAG2y, but without its check for overflow:
/// values that overflow B's scalar become infinite. If `part` is Lower or Upper, only that triangle or trapezoid is
/// copied.
template <MatrixOperand A, MutableMatrix B>
Pending<> copy(RuntimeCall runtime, A const& a, B const& b, MatrixPart part = MatrixPart::All,
               detail::TileSize tile = {}) {
  return detail::matrix_call(runtime, "copy", [&](detail::MatrixCall& call) {
    auto const& x = call.reads("A", a);
    auto const& y = call.writes("B", b);
    call.require_match(x.rows == y.rows && x.cols == y.cols);
    call.prepare(tile);
    granary::copy(call.tasks(), call.tiles(0, a, part), call.tiles(1, b, part), call.other_triangle(1));
    return call.submitted();
  });
}

/// B := A^T (Trans), A^H (ConjTrans) or A (NoTrans), out of place.
template <MatrixOperand A, MutableMatrix B>
requires SameScalars<A, B>
auto transpose(RuntimeCall runtime, Op op, A const& a, B const& b, detail::TileSize tile = {}) -> Pending<> {
  return detail::matrix_call(runtime, "transpose", [&](detail::MatrixCall& call) {
    auto const& x = call.reads("A", a, op);
    auto const& y = call.writes("B", b);
    call.require_match(x.op_rows() == y.rows && x.op_cols() == y.cols);
    call.prepare(tile);
    granary::transpose(call.tasks(), op, call.tiles(0, a), call.tiles(1, b));
    return call.submitted();
  });
}

/// `diagonal` on the diagonal and `off_diagonal` elsewhere; if `part` is Lower or Upper, only on that triangle or
/// trapezoid; of a matrix that was opened as a triangle, all of that; xLASET.
template <MutableMatrix A>
Pending<> set(RuntimeCall runtime, detail::ScalarOf<A> off_diagonal, detail::ScalarOf<A> diagonal, A const& a,
              MatrixPart part = MatrixPart::All, detail::TileSize tile = {}) {
  return detail::matrix_call(runtime, "set", [&](detail::MatrixCall& call) {
    auto const& x = call.writes("A", a);
    call.prepare(tile);
    granary::set<detail::ScalarOf<A>>(call.tasks(), off_diagonal, diagonal,
                                      call.tiles(0, a, part == MatrixPart::All ? x.part : part),
                                      call.other_triangle(0));
    return call.submitted();
  });
}

/// B := alpha A + beta B.
template <MatrixOperand A, MutableMatrix B>
requires SameScalars<A, B>
auto add(RuntimeCall runtime, detail::ScalarOf<B> alpha, A const& a, detail::ScalarOf<B> beta, B const& b,
         detail::TileSize tile = {}) -> Pending<> {
  return detail::matrix_call(runtime, "add", [&](detail::MatrixCall& call) {
    auto const& x = call.reads("A", a);
    auto const& y = call.writes("B", b);
    call.require_match(x.rows == y.rows && x.cols == y.cols);
    call.prepare(tile);
    granary::add<detail::ScalarOf<B>>(call.tasks(), alpha, call.tiles(0, a), beta, call.tiles(1, b));
    return call.submitted();
  });
}

}  // namespace async

// The same, with a wait for the result.

template <MatrixOperand A, MutableMatrix B>
void copy(RuntimeCall runtime, A const& a, B const& b, MatrixPart part = MatrixPart::All, detail::TileSize tile = {}) {
  runtime.refuse_in_task("copy");
  async::copy(runtime, a, b, part, tile).wait();
}

template <MatrixOperand A, MutableMatrix B>
requires SameScalars<A, B>
void transpose(RuntimeCall runtime, Op op, A const& a, B const& b, detail::TileSize tile = {}) {
  runtime.refuse_in_task("transpose");
  async::transpose(runtime, op, a, b, tile).wait();
}

template <MutableMatrix A>
void set(RuntimeCall runtime, detail::ScalarOf<A> off_diagonal, detail::ScalarOf<A> diagonal, A const& a,
         MatrixPart part = MatrixPart::All, detail::TileSize tile = {}) {
  runtime.refuse_in_task("set");
  async::set(runtime, off_diagonal, diagonal, a, part, tile).wait();
}

template <MatrixOperand A, MutableMatrix B>
requires SameScalars<A, B>
void add(RuntimeCall runtime, detail::ScalarOf<B> alpha, A const& a, detail::ScalarOf<B> beta, B const& b,
         detail::TileSize tile = {}) {
  runtime.refuse_in_task("add");
  async::add(runtime, alpha, a, beta, b, tile).wait();
}

}  // namespace granary
