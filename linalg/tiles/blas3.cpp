// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/tiles/blas3.hpp>
#include <granary/detail/linalg/tiles/expand.hpp>
#include <granary/detail/linalg/tiles/not_positive_definite.hpp>
#include <granary/detail/linalg/tiles/tile_call.hpp>

namespace granary::tiles {
namespace {

using detail::DeviceLane;
using detail::expandable_codelet;
using detail::flops_of;
using detail::input_tile;
using detail::on_lane;
using detail::output_tile;
using detail::parameters_of;
using detail::read;
using detail::read_write;
using detail::rows_of_op;
using detail::splits;
using detail::sub_tiles;
using detail::tile_codelet;

// Kernels of host workers are called without a lane, kernels of devices with theirs.

// The parameters of a task, with operands in the order of its accesses; each operation uses only its own flags. `inner`
// is the sub-tile size: see TaskEmitter::inner_tile.
template <class Scalar>
struct Call {
  detail::TileShape a, b;
  std::int32_t inner = 0;
  Scalar alpha, beta;
  Side side = Side::Left;
  Uplo uplo = Uplo::Lower;
  Op op_a = Op::NoTrans, op_b = Op::NoTrans;
  Diag diag = Diag::NonUnit;
};

// For GEMM and similar tasks with three tiles.
template <class Scalar>
struct Call3 : Call<Scalar> {
  detail::TileShape c;
};

template <class T, class... Lane>
void run_gemm(detail::KernelCall const& call, Lane const&... lane) {
  auto const& p = parameters_of<Call3<T>>(call);
  kernels::gemm(lane..., p.op_a, p.op_b, p.alpha, input_tile<T>(call, 0, p.a), input_tile<T>(call, 1, p.b), p.beta,
                output_tile<T>(call, 2, p.c));
}

template <class T, class... Lane>
void run_herk(detail::KernelCall const& call, Lane const&... lane) {
  auto const& p = parameters_of<Call<detail::RealOf<T>>>(call);
  kernels::herk(lane..., p.uplo, p.op_a, p.alpha, input_tile<T>(call, 0, p.a), p.beta, output_tile<T>(call, 1, p.b));
}

template <class T, class... Lane>
void run_syrk(detail::KernelCall const& call, Lane const&... lane) {
  auto const& p = parameters_of<Call<T>>(call);
  kernels::syrk(lane..., p.uplo, p.op_a, p.alpha, input_tile<T>(call, 0, p.a), p.beta, output_tile<T>(call, 1, p.b));
}

template <class T, class... Lane>
void run_hemm(detail::KernelCall const& call, Lane const&... lane) {
  auto const& p = parameters_of<Call3<T>>(call);
  kernels::hemm(lane..., p.side, p.uplo, p.alpha, input_tile<T>(call, 0, p.a), input_tile<T>(call, 1, p.b), p.beta,
                output_tile<T>(call, 2, p.c));
}

template <class T, class... Lane>
void run_trmm(detail::KernelCall const& call, Lane const&... lane) {
  auto const& p = parameters_of<Call<T>>(call);
  kernels::trmm(lane..., p.side, p.uplo, p.op_a, p.diag, p.alpha, input_tile<T>(call, 0, p.a),
                output_tile<T>(call, 1, p.b));
}

template <class T>
struct PotrfCall {
  detail::TileShape a;
  std::int32_t inner = 0;
  Uplo uplo = Uplo::Lower;
  std::uint64_t first = 0;
  TiledPotrf<T> tiled = nullptr;
};

template <class T>
void run_potrf(detail::KernelCall const& call) {
  auto const& p = parameters_of<PotrfCall<T>>(call);
  int const minor = kernels::potrf(p.uplo, output_tile<T>(call, 0, p.a));
  if (minor > 0) throw NotPositiveDefinite(p.first + static_cast<std::uint64_t>(minor));
}

template <class T>
void launch_potrf(detail::KernelCall const& call, DeviceLane const& lane) {
  auto const& p = parameters_of<PotrfCall<T>>(call);
  kernels::potrf(lane, p.uplo, output_tile<T>(call, 0, p.a));
}

template <class T>
void check_potrf(void const* parameters, detail::KernelReport const& report) {
  auto const& p = *static_cast<PotrfCall<T> const*>(parameters);
  if (report.info > 0) throw NotPositiveDefinite(p.first + static_cast<std::uint64_t>(report.info));
}

// The tasks as finer graphs.
template <class T>
void expand_gemm(void const* parameters, detail::InnerGraph& graph) {
  auto const& p = *static_cast<Call3<T> const*>(parameters);
  if (!splits(p.c, p.inner)) return;
  TaskEmitter tasks(graph);
  auto const c = sub_tiles<T>(graph, 2, p.c, p.inner);
  Op const op_b_transposed = p.op_b == Op::NoTrans ? Op::Trans : Op::NoTrans;
  for (std::uint64_t j = 0; j < c.grid().tile_cols(); ++j) {
    for (std::uint64_t i = 0; i < c.grid().tile_rows(); ++i) {
      gemm(tasks, p.op_a, p.op_b, p.alpha, rows_of_op<T>(graph, 0, p.a, p.op_a, c.grid().first(i), c(i, j).rows),
           rows_of_op<T>(graph, 1, p.b, op_b_transposed, c.grid().first(j), c(i, j).cols), p.beta, c(i, j));
    }
  }
}

template <class T>
void expand_herk(void const* parameters, detail::InnerGraph& graph) {
  auto const& p = *static_cast<Call<detail::RealOf<T>> const*>(parameters);
  if (!splits(p.b, p.inner)) return;
  TaskEmitter tasks(graph);
  auto const c = sub_tiles<T>(graph, 1, p.b, p.inner, detail::part_of(p.uplo));
  Op const op_right = p.op_a == Op::NoTrans ? Op::ConjTrans : Op::NoTrans;
  for (std::uint64_t j = 0; j < c.grid().tile_cols(); ++j) {
    auto const right = rows_of_op<T>(graph, 0, p.a, p.op_a, c.grid().first(j), c(j, j).cols);
    for (std::uint64_t i = 0; i < c.grid().tile_rows(); ++i) {
      if (!holds(c.part(), i, j)) continue;
      auto const left = rows_of_op<T>(graph, 0, p.a, p.op_a, c.grid().first(i), c(i, j).rows);
      if (i == j) {
        herk<T>(tasks, p.uplo, p.op_a, p.alpha, left, p.beta, c(i, i));
      } else {
        gemm(tasks, p.op_a, op_right, T(p.alpha), left, right, T(p.beta), c(i, j));
      }
    }
  }
}

template <class T>
void expand_potrf(void const* parameters, detail::InnerGraph& graph) {
  auto const& p = *static_cast<PotrfCall<T> const*>(parameters);
  if (!splits(p.a, p.inner)) return;
  TaskEmitter tasks(graph);
  p.tiled(tasks, sub_tiles<T>(graph, 0, p.a, p.inner, detail::part_of(p.uplo)), p.first);
}

template <class T>
detail::Codelet const gemm_codelet = expandable_codelet<T>("gemm", run_gemm<T>, expand_gemm<T>,
                                                           on_lane<run_gemm<T, DeviceLane>>);
template <class T>
detail::Codelet const herk_codelet = expandable_codelet<T>(detail::is_complex<T> ? "herk" : "syrk", run_herk<T>,
                                                           expand_herk<T>, on_lane<run_herk<T, DeviceLane>>);
template <class T>
detail::Codelet const syrk_codelet = tile_codelet<T>("syrk", run_syrk<T>, on_lane<run_syrk<T, DeviceLane>>);
template <class T>
detail::Codelet const hemm_codelet = tile_codelet<T>(detail::is_complex<T> ? "hemm" : "symm", run_hemm<T>,
                                                     on_lane<run_hemm<T, DeviceLane>>);
template <class T>
detail::Codelet const trmm_codelet = tile_codelet<T>("trmm", run_trmm<T>, on_lane<run_trmm<T, DeviceLane>>);
template <class T>
detail::Codelet const potrf_codelet = expandable_codelet<T>("potrf", run_potrf<T>, expand_potrf<T>,
                                                            on_lane<launch_potrf<T>>, check_potrf<T>);

// Entries of C that its task updates, times the inner dimension.
double volume(detail::TileRef const& c, std::int32_t inner) {
  return static_cast<double>(c.rows) * static_cast<double>(c.cols) * static_cast<double>(inner);
}
double triangle_volume(detail::TileRef const& a, Op op, detail::TileRef const& c) {
  auto const n = static_cast<double>(c.rows);
  return n * (n + 1) / 2 * static_cast<double>(op == Op::NoTrans ? a.cols : a.rows);
}

}  // namespace

template <class T>
void gemm(TaskEmitter& tasks, Op op_a, Op op_b, T alpha, detail::TileRef const& a, detail::TileRef const& b, T beta,
          detail::TileRef const& c, std::int64_t priority) {
  Call3<T> call{{a.shape(), b.shape(), tasks.inner_tile(), alpha, beta, {}, {}, op_a, op_b}, c.shape()};
  tasks.emit(gemm_codelet<T>, {read(a), read(b), beta == T(0) ? detail::write(c) : read_write(c)}, priority,
             flops_of<T>(volume(c, op_a == Op::NoTrans ? a.cols : a.rows)), call);
}

template <class T>
void herk(TaskEmitter& tasks, Uplo uplo, Op op, detail::RealOf<T> alpha, detail::TileRef const& a,
          detail::RealOf<T> beta, detail::TileRef const& c, std::int64_t priority) {
  Call<detail::RealOf<T>> call{a.shape(), c.shape(), tasks.inner_tile(), alpha, beta, {}, uplo, op};
  tasks.emit(herk_codelet<T>, {read(a), read_write(c)}, priority, flops_of<T>(triangle_volume(a, op, c)), call);
}

template <class T>
void syrk(TaskEmitter& tasks, Uplo uplo, Op op, T alpha, detail::TileRef const& a, T beta, detail::TileRef const& c,
          std::int64_t priority) {
  Call<T> call{a.shape(), c.shape(), 0, alpha, beta, {}, uplo, op};
  tasks.emit(syrk_codelet<T>, {read(a), read_write(c)}, priority, flops_of<T>(triangle_volume(a, op, c)), call);
}

template <class T>
void hemm(TaskEmitter& tasks, Side side, Uplo uplo, T alpha, detail::TileRef const& a, detail::TileRef const& b, T beta,
          detail::TileRef const& c, std::int64_t priority) {
  Call3<T> call{{a.shape(), b.shape(), 0, alpha, beta, side, uplo}, c.shape()};
  tasks.emit(hemm_codelet<T>, {read(a), read(b), beta == T(0) ? detail::write(c) : read_write(c)}, priority,
             flops_of<T>(volume(c, a.rows)), call);
}

template <class T>
void trmm(TaskEmitter& tasks, Side side, Uplo uplo, Op op, Diag diag, T alpha, detail::TileRef const& a,
          detail::TileRef const& b, std::int64_t priority) {
  Call<T> call{a.shape(), b.shape(), 0, alpha, T(0), side, uplo, op, {}, diag};
  tasks.emit(trmm_codelet<T>, {read(a), read_write(b)}, priority, flops_of<T>(volume(b, a.rows) / 2), call);
}

template <class T>
void potrf(TaskEmitter& tasks, Uplo uplo, detail::TileRef const& a, std::uint64_t first, TiledPotrf<T> tiled,
           std::int64_t priority) {
  double const n = a.rows;
  tasks.emit(potrf_codelet<T>, {read_write(a)}, priority, flops_of<T>(n * n * n / 6),
             PotrfCall<T>{a.shape(), tasks.inner_tile(), uplo, first, tiled});
}

#define GRANARY_INSTANTIATE(T)                                                                                    \
  template void gemm(TaskEmitter&, Op, Op, T, detail::TileRef const&, detail::TileRef const&, T,                  \
                     detail::TileRef const&, std::int64_t);                                                       \
  template void herk<T>(TaskEmitter&, Uplo, Op, detail::RealOf<T>, detail::TileRef const&, detail::RealOf<T>,     \
                        detail::TileRef const&, std::int64_t);                                                    \
  template void syrk(TaskEmitter&, Uplo, Op, T, detail::TileRef const&, T, detail::TileRef const&, std::int64_t); \
  template void hemm(TaskEmitter&, Side, Uplo, T, detail::TileRef const&, detail::TileRef const&, T,              \
                     detail::TileRef const&, std::int64_t);                                                       \
  template void trmm(TaskEmitter&, Side, Uplo, Op, Diag, T, detail::TileRef const&, detail::TileRef const&,       \
                     std::int64_t);                                                                               \
  template void potrf<T>(TaskEmitter&, Uplo, detail::TileRef const&, std::uint64_t, TiledPotrf<T>, std::int64_t);
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary::tiles
