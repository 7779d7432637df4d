// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/tiles/blas3.hpp>
#include <granary/detail/linalg/tiles/expand.hpp>
#include <granary/detail/linalg/tiles/tile_call.hpp>
#include <granary/detail/linalg/tiles/trsm.hpp>

namespace granary::tiles {
namespace {

using detail::DeviceLane;
using detail::expandable_codelet;
using detail::flops_of;
using detail::input_tile;
using detail::LeftTriangle;
using detail::on_lane;
using detail::output_tile;
using detail::parameters_of;
using detail::read;
using detail::read_write;
using detail::rows_of_op;
using detail::splits;
using detail::sub_tiles;

// Accesses: A, B. `inner` is the sub-tile size: see TaskEmitter::inner_tile.
template <class T>
struct SolveCall {
  detail::TileShape a, b;
  std::int32_t inner = 0;
  T alpha;
  Side side = Side::Left;
  Uplo uplo = Uplo::Lower;
  Op op = Op::NoTrans;
  Diag diag = Diag::NonUnit;
};

template <class T, class... Lane>
void run_trsm(detail::KernelCall const& call, Lane const&... lane) {
  auto const& p = parameters_of<SolveCall<T>>(call);
  kernels::trsm(lane..., p.side, p.uplo, p.op, p.diag, p.alpha, input_tile<T>(call, 0, p.a),
                output_tile<T>(call, 1, p.b));
}

template <class T>
void expand_trsm(void const* parameters, detail::InnerGraph& graph) {
  auto const& p = *static_cast<SolveCall<T> const*>(parameters);
  if (!splits(p.b, p.inner)) return;
  TaskEmitter tasks(graph);
  auto const b = sub_tiles<T>(graph, 1, p.b, p.inner);
  bool const left = p.side == Side::Left;
  auto const count = left ? b.grid().tile_cols() : b.grid().tile_rows();
  // With alpha 0 the kernel clears B.
  if (count == 1 && p.alpha != T(0)) {
    auto const a = sub_tiles<T>(graph, 0, p.a, p.inner, detail::part_of(p.uplo));
    return trsm(tasks, LeftTriangle<T>(p.side, p.uplo, p.op, a, b), p.diag, p.alpha);
  }
  auto const whole = detail::shape_now<T>(graph, 0, p.a);
  detail::TileRef const a{whole, graph.part(0, 0)};
  for (std::uint64_t i = 0; i < count; ++i) {
    auto const panel = left ? rows_of_op<T>(graph, 1, p.b, Op::Trans, b.grid().first(i), b(0, i).cols)
                            : rows_of_op<T>(graph, 1, p.b, Op::NoTrans, b.grid().first(i), b(i, 0).rows);
    trsm(tasks, p.side, p.uplo, p.op, p.diag, p.alpha, a, panel);
  }
}

template <class T>
detail::Codelet const trsm_codelet = expandable_codelet<T>("trsm", run_trsm<T>, expand_trsm<T>,
                                                           on_lane<run_trsm<T, DeviceLane>>);
// The solves of an LU factorization have separate names, as in the DARTS paper: their speeds differ on devices.
template <class T>
detail::Codelet const trsm_ll_codelet = expandable_codelet<T>("trsm_ll", run_trsm<T>, expand_trsm<T>,
                                                              on_lane<run_trsm<T, DeviceLane>>);
template <class T>
detail::Codelet const trsm_ru_codelet = expandable_codelet<T>("trsm_ru", run_trsm<T>, expand_trsm<T>,
                                                              on_lane<run_trsm<T, DeviceLane>>);
// Bottom levels in a solve of `count` steps, with time 1 for a solve and 2 for an update. The longest path from a solve
// leads through the update of the next step's tile; from an update, through the later updates of its tile and the
// tile's solve.
struct SolveLevels {
  std::uint64_t count;
  [[nodiscard]] std::int64_t solve(std::uint64_t step) const {
    return static_cast<std::int64_t>(1 + 3 * (count - 1 - step));
  }
  [[nodiscard]] std::int64_t update(std::uint64_t later, std::uint64_t step) const {
    return static_cast<std::int64_t>(2 * (later - step)) + solve(later);
  }
};

}  // namespace

template <class T>
void trsm(TaskEmitter& tasks, Side side, Uplo uplo, Op op, Diag diag, T alpha, detail::TileRef const& a,
          detail::TileRef const& b, std::int64_t priority) {
  SolveCall<T> const call{a.shape(), b.shape(), tasks.inner_tile(), alpha, side, uplo, op, diag};
  double const fmas = 0.5 * b.rows * b.cols * a.rows;
  auto const& codelet = op != Op::NoTrans                            ? trsm_codelet<T>
                        : side == Side::Left && uplo == Uplo::Lower  ? trsm_ll_codelet<T>
                        : side == Side::Right && uplo == Uplo::Upper ? trsm_ru_codelet<T>
                                                                     : trsm_codelet<T>;
  tasks.emit(codelet, {read(a), read_write(b)}, priority, flops_of<T>(fmas), call);
}

template <class T>
void trsm(TaskEmitter& tasks, LeftTriangle<T> const& problem, Diag diag, T alpha) {
  auto const& [a, b, uplo, op, op_of_a, op_is_lower] = problem;
  auto const steps = b.grid().tile_rows();
  auto const cols = b.grid().tile_cols();
  auto const row = [&](std::uint64_t step) { return problem.op_is_lower ? step : steps - 1 - step; };
  SolveLevels const levels{steps};
  for (std::uint64_t s = 0; s < steps; ++s) {
    auto const k = row(s);
    // Every tile of B is scaled by alpha in the first step.
    T const scale = s == 0 ? alpha : T(1);
    for (std::uint64_t j = 0; j < cols; ++j) {
      // B(k,j) := op(A)(k,k)^-1 B(k,j)
      trsm(tasks.at(k, j, k), Side::Left, uplo, op, diag, scale, a(k, k), b(k, j), levels.solve(s));
    }
    for (std::uint64_t later = s + 1; later < steps; ++later) {
      auto const i = row(later);
      for (std::uint64_t j = 0; j < cols; ++j) {
        // B(i,j) := B(i,j) - op(A)(i,k) B(k,j)
        gemm(tasks.at(i, j, k), op, Op::NoTrans, T(-1), op_of_a(i, k), b(k, j), scale, b(i, j),
             levels.update(later, s));
      }
    }
  }
}

#define GRANARY_INSTANTIATE(T)                                                                              \
  template void trsm(TaskEmitter&, Side, Uplo, Op, Diag, T, detail::TileRef const&, detail::TileRef const&, \
                     std::int64_t);                                                                         \
  template void trsm(TaskEmitter&, LeftTriangle<T> const&, Diag, T);
GRANARY_INSTANTIATE(float)
GRANARY_INSTANTIATE(double)
GRANARY_INSTANTIATE(Kokkos::complex<float>)
GRANARY_INSTANTIATE(Kokkos::complex<double>)
#undef GRANARY_INSTANTIATE

}  // namespace granary::tiles
