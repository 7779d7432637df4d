// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/algorithms/matrix_ops.hpp>
#include <granary/detail/linalg/algorithms/panel_qr.hpp>
#include <granary/detail/linalg/runtime/matrix_call.hpp>

#include <algorithm>
#include <string>

/// QR factorizations on a runtime, in LAPACK's form. The functions in `granary::async` submit their tasks and return;
/// those in `granary` also wait, for their own results alone. All throw InvalidArgument, with names and sizes and
/// before anything is changed, if their operands do not match. For one process, on cores. A task holds two tile columns
/// of A in memory.
///
/// ```cpp
/// using Matrix = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
/// Matrix a("A", 300, 200), q("Q", 300, 200);
/// Kokkos::View<double*, Kokkos::HostSpace> tau("tau", 200);
/// granary::Runtime runtime;
/// granary::set(runtime, 1.0, 4.0, a);
/// granary::geqrf(runtime, a, tau);  // A has R, and Q's reflectors below it
/// granary::ungqr(runtime, a, tau, q);
/// double product = 0;
/// for (std::size_t i = 0; i < 300; ++i) product += q(i, 0) * q(i, 199);
/// assert(std::abs(product) < 1e-14);  // columns are orthogonal
/// ```
namespace granary {

namespace detail {

inline void refuse_other_processes(MatrixCall& call) {
  call.session().refuse_with_others("reflectors cannot be applied");
}

[[nodiscard]] inline bool is_tau_of(CallOperand const& tau, CallOperand const& a) {
  return tau.rows == std::min(a.rows, a.cols) && tau.cols == 1;
}

/// C := op(Q) C with Q of A and tau, in the call.
template <class T>
void apply_q(MatrixCall& call, Op op, TiledMatrix<T> const& a, TiledMatrix<T> const& tau, TiledMatrix<T> const& c) {
  auto const triangles = make_triangles<T>(call.session().submitter(), a.grid());
  submit_triangles(call.tasks(), a, tau, triangles);
  submit_unmqr(call.tasks(), op, a, triangles, c);
}

}  // namespace detail

namespace async {

/// Overwrites A, m x n of any shape, with the factors of A = Q R, and `tau`, a column of k = min(m, n) elements;
/// xGEQRF. R is in the upper triangle or trapezoid, with a real diagonal. Below it are the vectors v_j of Q = H_1 ...
/// H_k, H_j = I - tau_j v_j v_j^H, without their ones. 2 n² (m - n/3) flops for m >= n (8 if complex).
template <MutableMatrix A, MutableMatrix Tau>
requires SameScalars<A, Tau>
auto geqrf(RuntimeCall runtime, A const& a, Tau const& tau, detail::TileSize tile = {}) -> Pending<> {
  return detail::matrix_call(runtime, "geqrf", [&](detail::MatrixCall& call) {
    using T = detail::ScalarOf<A>;
    auto const& x = call.writes("A", a);
    auto const& y = call.writes("tau", tau);
    detail::refuse_other_processes(call);
    call.require_match(detail::is_tau_of(y, x));
    call.prepare(tile);
    auto const tiles = call.tiles(0, a);
    auto const triangles = detail::make_triangles<T>(call.session().submitter(), tiles.grid());
    auto const options = detail::MatrixTraits<A>::is_view ? detail::PanelQrOptions{}
                                                          : detail::fit_columns(tiles.grid(), sizeof(T), call.memory());
    detail::submit_geqrf(call.tasks(), tiles, call.tiles(1, tau), triangles, options);
    return call.submitted();
  });
}

/// C := op(Q) C with Q of geqrf, from the left; xUNMQR, xORMQR. op is NoTrans or ConjTrans, or Trans if the elements
/// are real. C has the rows of A. 2 k (2 m - k) flops for each column of C, and m k tile for the triangles of the
/// reflectors' blocks.
template <MatrixOperand A, MatrixOperand Tau, MutableMatrix C>
requires SameScalars<A, Tau, C>
auto unmqr(RuntimeCall runtime, Op op, A const& a, Tau const& tau, C const& c, detail::TileSize tile = {})
    -> Pending<> {
  return detail::matrix_call(runtime, "unmqr", [&](detail::MatrixCall& call) {
    auto const& x = call.reads("A", a);
    auto const& y = call.reads("tau", tau);
    auto const& z = call.writes("C", c);
    detail::refuse_other_processes(call);
    call.require_match(detail::is_tau_of(y, x) && z.rows == x.rows);
    call.prepare(tile);
    detail::apply_q(call, op, call.tiles(0, a), call.tiles(1, tau), call.tiles(2, c));
    return call.submitted();
  });
}

/// Overwrites Q, m x p with p <= m, with the first p columns of the unitary matrix Q of geqrf; xUNGQR, xORGQR, but
/// beside the factors. 4 m p k flops at most.
template <MatrixOperand A, MatrixOperand Tau, MutableMatrix Q>
requires SameScalars<A, Tau, Q>
auto ungqr(RuntimeCall runtime, A const& a, Tau const& tau, Q const& q, detail::TileSize tile = {}) -> Pending<> {
  return detail::matrix_call(runtime, "ungqr", [&](detail::MatrixCall& call) {
    using T = detail::ScalarOf<A>;
    auto const& x = call.reads("A", a);
    auto const& y = call.reads("tau", tau);
    auto const& z = call.writes("Q", q);
    detail::refuse_other_processes(call);
    call.require_match(detail::is_tau_of(y, x) && z.rows == x.rows);
    call.require_tall(2);
    call.prepare(tile);
    auto const tiles = call.tiles(2, q);
    granary::set<T>(call.tasks(), T(0), T(1), tiles);
    detail::apply_q(call, Op::NoTrans, call.tiles(0, a), call.tiles(1, tau), tiles);
    return call.submitted();
  });
}

}  // namespace async

// The same, with a wait for the result.

template <MutableMatrix A, MutableMatrix Tau>
requires SameScalars<A, Tau>
void geqrf(RuntimeCall runtime, A const& a, Tau const& tau, detail::TileSize tile = {}) {
  runtime.refuse_in_task("geqrf");
  async::geqrf(runtime, a, tau, tile).wait();
}

template <MatrixOperand A, MatrixOperand Tau, MutableMatrix C>
requires SameScalars<A, Tau, C>
void unmqr(RuntimeCall runtime, Op op, A const& a, Tau const& tau, C const& c, detail::TileSize tile = {}) {
  runtime.refuse_in_task("unmqr");
  async::unmqr(runtime, op, a, tau, c, tile).wait();
}

template <MatrixOperand A, MatrixOperand Tau, MutableMatrix Q>
requires SameScalars<A, Tau, Q>
void ungqr(RuntimeCall runtime, A const& a, Tau const& tau, Q const& q, detail::TileSize tile = {}) {
  runtime.refuse_in_task("ungqr");
  async::ungqr(runtime, a, tau, q, tile).wait();
}

}  // namespace granary
