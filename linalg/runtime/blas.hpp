// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/algorithms/blas3.hpp>
#include <granary/detail/linalg/runtime/matrix_call.hpp>

/// Level 3 BLAS on a runtime. The functions in `granary::async` submit their tasks and return; those in `granary` also
/// wait, for their own results alone, and throw what Pending::wait throws. Operands satisfy MatrixOperand. An output
/// shares no element with another operand; of a triangular or Hermitian operand only the triangle `uplo` is read or
/// written. All throw InvalidArgument, with names and sizes and before anything is changed, if the operands do not
/// match.
///
/// ```cpp
/// using granary::Op;
/// using Matrix = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
/// Matrix a("A", 300, 200), b("B", 200, 100), c("C", 300, 100), l("L", 300, 300);
/// Kokkos::deep_copy(a, 1.0);
/// Kokkos::deep_copy(b, 1.0);
/// for (std::size_t i = 0; i < 300; ++i) l(i, i) = 2.0;
/// granary::Runtime runtime;
/// granary::async::gemm(runtime, Op::NoTrans, Op::NoTrans, 1.0, a, b, 0.0, c);  // C := A B, submitted
/// auto solve = granary::async::trsm(runtime, granary::Side::Left, granary::Uplo::Lower, Op::NoTrans,
///                                   granary::Diag::NonUnit, 1.0, l, c);  // C := L^-1 C, after it
/// solve.wait();
/// assert(c(299, 99) == 100.0);
/// ```
namespace granary {
namespace detail {

/// A product with a matrix A of which only the triangle `uplo` is stored: checks the operands, and lets multiply(tasks,
/// a, b, c) emit its tasks on their tiles.
template <class A, class B, class C, class Multiply>
[[nodiscard]] Pending<> multiply_symmetric(RuntimeCall runtime, char const* name, Side side, Uplo uplo, A const& a,
                                           B const& b, C const& c, TileSize tile, Multiply const& multiply) {
  return matrix_call(runtime, name, [&](MatrixCall& call) {
    auto const& x = call.reads("A", a);
    auto const& y = call.reads("B", b);
    auto const& z = call.writes("C", c);
    call.require_square(0);
    call.require_match(y.rows == z.rows && y.cols == z.cols && x.rows == (side == Side::Left ? z.rows : z.cols));
    call.prepare(tile);
    multiply(call.tasks(), call.tiles(0, a, part_of(uplo)), call.tiles(1, b), call.tiles(2, c));
    return call.submitted();
  });
}

/// The same for a triangular matrix A that changes B: apply(tasks, a, b) emits its tasks on their tiles.
template <class A, class B, class Apply>
[[nodiscard]] Pending<> apply_triangle(RuntimeCall runtime, char const* name, Side side, Uplo uplo, A const& a,
                                       B const& b, TileSize tile, Apply const& apply) {
  return matrix_call(runtime, name, [&](MatrixCall& call) {
    auto const& x = call.reads("A", a);
    auto const& y = call.writes("B", b);
    call.require_square(0);
    call.require_match(x.rows == (side == Side::Left ? y.rows : y.cols));
    call.prepare(tile);
    apply(call.tasks(), call.tiles(0, a, part_of(uplo)), call.tiles(1, b));
    return call.submitted();
  });
}

}  // namespace detail

namespace async {

/// C := alpha op(A) op(B) + beta C; xGEMM. If beta is 0, C needs no values.
template <MatrixOperand A, MatrixOperand B, MutableMatrix C>
requires SameScalars<A, B, C>
auto gemm(RuntimeCall runtime, Op op_a, Op op_b, detail::ScalarOf<C> alpha, A const& a, B const& b,
          detail::ScalarOf<C> beta, C const& c, detail::TileSize tile = {}) -> Pending<> {
  return detail::matrix_call(runtime, "gemm", [&](detail::MatrixCall& call) {
    auto const& x = call.reads("A", a, op_a);
    auto const& y = call.reads("B", b, op_b);
    auto const& z = call.writes("C", c);
    call.require_match(x.op_rows() == z.rows && x.op_cols() == y.op_rows() && y.op_cols() == z.cols);
    call.prepare(tile);
    granary::gemm(call.tasks(), op_a, op_b, alpha, call.tiles(0, a), call.tiles(1, b), beta, call.tiles(2, c));
    return call.submitted();
  });
}

/// C := alpha op(A) op(A)^H + beta C on the triangle `uplo` of C, op being NoTrans or ConjTrans; xHERK, for real
/// scalars xSYRK.
template <MatrixOperand A, MutableMatrix C>
requires SameScalars<A, C>
auto herk(RuntimeCall runtime, Uplo uplo, Op op, detail::RealOf<detail::ScalarOf<C>> alpha, A const& a,
          detail::RealOf<detail::ScalarOf<C>> beta, C const& c, detail::TileSize tile = {}) -> Pending<> {
  return detail::matrix_call(runtime, "herk", [&](detail::MatrixCall& call) {
    auto const& x = call.reads("A", a, op);
    auto const& z = call.writes("C", c);
    call.require_match(x.op_rows() == z.rows && z.rows == z.cols);
    call.prepare(tile);
    granary::herk<detail::ScalarOf<C>>(call.tasks(), uplo, op, alpha, call.tiles(0, a), beta,
                                       call.tiles(1, c, detail::part_of(uplo)));
    return call.submitted();
  });
}

/// C := alpha op(A) op(A)^T + beta C on the triangle `uplo` of C, op being NoTrans or Trans; xSYRK.
template <MatrixOperand A, MutableMatrix C>
requires SameScalars<A, C>
auto syrk(RuntimeCall runtime, Uplo uplo, Op op, detail::ScalarOf<C> alpha, A const& a, detail::ScalarOf<C> beta,
          C const& c, detail::TileSize tile = {}) -> Pending<> {
  return detail::matrix_call(runtime, "syrk", [&](detail::MatrixCall& call) {
    auto const& x = call.reads("A", a, op);
    auto const& z = call.writes("C", c);
    call.require_match(x.op_rows() == z.rows && z.rows == z.cols);
    call.prepare(tile);
    granary::syrk(call.tasks(), uplo, op, alpha, call.tiles(0, a), beta, call.tiles(1, c, detail::part_of(uplo)));
    return call.submitted();
  });
}

/// C := alpha A B + beta C (left) or alpha B A + beta C (right) with A Hermitian, symmetric if real; xHEMM or xSYMM. If
/// beta is 0, C needs no values.
template <MatrixOperand A, MatrixOperand B, MutableMatrix C>
requires SameScalars<A, B, C>
auto hemm(RuntimeCall runtime, Side side, Uplo uplo, detail::ScalarOf<C> alpha, A const& a, B const& b,
          detail::ScalarOf<C> beta, C const& c, detail::TileSize tile = {}) -> Pending<> {
  return detail::multiply_symmetric(runtime, "hemm", side, uplo, a, b, c, tile,
                                    [&](TaskEmitter& tasks, auto const& x, auto const& y, auto const& z) {
                                      granary::hemm(tasks, side, uplo, alpha, x, y, beta, z);
                                    });
}

/// C := alpha A B + beta C (left) or alpha B A + beta C (right) with A symmetric, also if complex; xSYMM. If beta
/// is 0, C needs no values.
template <MatrixOperand A, MatrixOperand B, MutableMatrix C>
requires SameScalars<A, B, C>
auto symm(RuntimeCall runtime, Side side, Uplo uplo, detail::ScalarOf<C> alpha, A const& a, B const& b,
          detail::ScalarOf<C> beta, C const& c, detail::TileSize tile = {}) -> Pending<> {
  return detail::multiply_symmetric(runtime, "symm", side, uplo, a, b, c, tile,
                                    [&](TaskEmitter& tasks, auto const& x, auto const& y, auto const& z) {
                                      granary::symm(tasks, side, uplo, alpha, x, y, beta, z);
                                    });
}

/// B := alpha op(A)^-1 B (left) or alpha B op(A)^-1 (right) with A triangular; xTRSM. A zero on its diagonal results in
/// infinities, as in the BLAS.
template <MatrixOperand A, MutableMatrix B>
requires SameScalars<A, B>
auto trsm(RuntimeCall runtime, Side side, Uplo uplo, Op op, Diag diag, detail::ScalarOf<B> alpha, A const& a,
          B const& b, detail::TileSize tile = {}) -> Pending<> {
  return detail::apply_triangle(runtime, "trsm", side, uplo, a, b, tile,
                                [&](TaskEmitter& tasks, auto const& x, auto const& y) {
                                  granary::trsm(tasks, side, uplo, op, diag, alpha, x, y);
                                });
}

/// B := alpha op(A) B (left) or alpha B op(A) (right) with A triangular; xTRMM.
template <MatrixOperand A, MutableMatrix B>
requires SameScalars<A, B>
auto trmm(RuntimeCall runtime, Side side, Uplo uplo, Op op, Diag diag, detail::ScalarOf<B> alpha, A const& a,
          B const& b, detail::TileSize tile = {}) -> Pending<> {
  return detail::apply_triangle(runtime, "trmm", side, uplo, a, b, tile,
                                [&](TaskEmitter& tasks, auto const& x, auto const& y) {
                                  granary::trmm(tasks, side, uplo, op, diag, alpha, x, y);
                                });
}

}  // namespace async

// The same, with a wait for the result.

template <MatrixOperand A, MatrixOperand B, MutableMatrix C>
requires SameScalars<A, B, C>
void gemm(RuntimeCall runtime, Op op_a, Op op_b, detail::ScalarOf<C> alpha, A const& a, B const& b,
          detail::ScalarOf<C> beta, C const& c, detail::TileSize tile = {}) {
  runtime.refuse_in_task("gemm");
  async::gemm(runtime, op_a, op_b, alpha, a, b, beta, c, tile).wait();
}

template <MatrixOperand A, MutableMatrix C>
requires SameScalars<A, C>
void herk(RuntimeCall runtime, Uplo uplo, Op op, detail::RealOf<detail::ScalarOf<C>> alpha, A const& a,
          detail::RealOf<detail::ScalarOf<C>> beta, C const& c, detail::TileSize tile = {}) {
  runtime.refuse_in_task("herk");
  async::herk(runtime, uplo, op, alpha, a, beta, c, tile).wait();
}

template <MatrixOperand A, MutableMatrix C>
requires SameScalars<A, C>
void syrk(RuntimeCall runtime, Uplo uplo, Op op, detail::ScalarOf<C> alpha, A const& a, detail::ScalarOf<C> beta,
          C const& c, detail::TileSize tile = {}) {
  runtime.refuse_in_task("syrk");
  async::syrk(runtime, uplo, op, alpha, a, beta, c, tile).wait();
}

template <MatrixOperand A, MatrixOperand B, MutableMatrix C>
requires SameScalars<A, B, C>
void hemm(RuntimeCall runtime, Side side, Uplo uplo, detail::ScalarOf<C> alpha, A const& a, B const& b,
          detail::ScalarOf<C> beta, C const& c, detail::TileSize tile = {}) {
  runtime.refuse_in_task("hemm");
  async::hemm(runtime, side, uplo, alpha, a, b, beta, c, tile).wait();
}

template <MatrixOperand A, MatrixOperand B, MutableMatrix C>
requires SameScalars<A, B, C>
void symm(RuntimeCall runtime, Side side, Uplo uplo, detail::ScalarOf<C> alpha, A const& a, B const& b,
          detail::ScalarOf<C> beta, C const& c, detail::TileSize tile = {}) {
  runtime.refuse_in_task("symm");
  async::symm(runtime, side, uplo, alpha, a, b, beta, c, tile).wait();
}

template <MatrixOperand A, MutableMatrix B>
requires SameScalars<A, B>
void trsm(RuntimeCall runtime, Side side, Uplo uplo, Op op, Diag diag, detail::ScalarOf<B> alpha, A const& a,
          B const& b, detail::TileSize tile = {}) {
  runtime.refuse_in_task("trsm");
  async::trsm(runtime, side, uplo, op, diag, alpha, a, b, tile).wait();
}

template <MatrixOperand A, MutableMatrix B>
requires SameScalars<A, B>
void trmm(RuntimeCall runtime, Side side, Uplo uplo, Op op, Diag diag, detail::ScalarOf<B> alpha, A const& a,
          B const& b, detail::TileSize tile = {}) {
  runtime.refuse_in_task("trmm");
  async::trmm(runtime, side, uplo, op, diag, alpha, a, b, tile).wait();
}

}  // namespace granary
