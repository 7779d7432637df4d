// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/linalg/algorithms/matrix_ops.hpp>
#include <granary/linalg/runtime/matrix_call.hpp>

/// Elementwise operations on matrices on a runtime. Each call waits for its result. All throw InvalidArgument, with
/// names and sizes and before anything is changed, if sizes do not match or operands share elements, and what
/// Runtime::wait throws.
namespace granary {

/// B := A; xLACPY. Between precisions, real to real or complex to complex, xLAG2y, but without its check for overflow:
/// values that overflow B's scalar become infinite. If `part` is Lower or Upper, only that triangle or trapezoid is
/// copied.
template <MatrixOperand A, MutableMatrix B>
void copy(Runtime& runtime, A const& a, B const& b, MatrixPart part = MatrixPart::All, TileSize tile = {}) {
  detail::MatrixCall call(runtime, "copy");
  auto const& x = call.reads("A", a);
  auto const& y = call.writes("B", b);
  call.require_match(x.rows == y.rows && x.cols == y.cols);
  call.prepare(tile);
  copy(call.tasks(), call.tiles(0, a, part), call.tiles(1, b, part));
  call.finish();
}

/// B := A^T (Trans), A^H (ConjTrans) or A (NoTrans), out of place.
template <MatrixOperand A, MutableMatrix B>
requires SameScalars<A, B>
void transpose(Runtime& runtime, Op op, A const& a, B const& b, TileSize tile = {}) {
  detail::MatrixCall call(runtime, "transpose");
  auto const& x = call.reads("A", a, op);
  auto const& y = call.writes("B", b);
  call.require_match(x.op_rows() == y.rows && x.op_cols() == y.cols);
  call.prepare(tile);
  transpose(call.tasks(), op, call.tiles(0, a), call.tiles(1, b));
  call.finish();
}

/// `diagonal` on the diagonal and `off_diagonal` elsewhere; if `part` is Lower or Upper, only on that triangle or
/// trapezoid; xLASET.
template <MutableMatrix A>
void set(Runtime& runtime, ScalarOf<A> off_diagonal, ScalarOf<A> diagonal, A const& a,
         MatrixPart part = MatrixPart::All, TileSize tile = {}) {
  detail::MatrixCall call(runtime, "set");
  call.writes("A", a);
  call.prepare(tile);
  set<ScalarOf<A>>(call.tasks(), off_diagonal, diagonal, call.tiles(0, a, part));
  call.finish();
}

/// B := alpha A + beta B.
template <MatrixOperand A, MutableMatrix B>
requires SameScalars<A, B>
void add(Runtime& runtime, ScalarOf<B> alpha, A const& a, ScalarOf<B> beta, B const& b, TileSize tile = {}) {
  detail::MatrixCall call(runtime, "add");
  auto const& x = call.reads("A", a);
  auto const& y = call.writes("B", b);
  call.require_match(x.rows == y.rows && x.cols == y.cols);
  call.prepare(tile);
  add<ScalarOf<B>>(call.tasks(), alpha, call.tiles(0, a), beta, call.tiles(1, b));
  call.finish();
}

}  // namespace granary
