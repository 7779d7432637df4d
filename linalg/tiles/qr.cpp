// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/kernels/qr_kernels.hpp>
#include <granary/detail/linalg/tiles/qr.hpp>
#include <granary/detail/linalg/tiles/tile_call.hpp>

#include <algorithm>
#include <vector>

namespace granary::tiles {
namespace {

using detail::input_tile;
using detail::output_tile;
using detail::parameters_of;
using detail::read;
using detail::read_write;
using detail::tile_codelet;
using detail::write;

struct FactorCall {
  detail::TileShape r, a, t;  // of geqrt: without r
};
struct ApplyCall {
  detail::TileShape v, t, c1, c2;  // of unmqr: without c2
  Op op = Op::NoTrans;
};

template <class T>
void run_geqrt(detail::KernelCall const& call) {
  auto const& p = parameters_of<FactorCall>(call);
  std::vector<T> workspace(kernels::qr_factor_workspace<T>(p.a.rows, p.a.cols, p.t.rows));
  kernels::geqrt(output_tile<T>(call, 0, p.a), output_tile<T>(call, 1, p.t), workspace.data());
}

template <class T>
void run_unmqr(detail::KernelCall const& call) {
  auto const& p = parameters_of<ApplyCall>(call);
  std::vector<T> workspace(kernels::qr_apply_workspace<T>(p.c1.cols, p.t.rows));
  kernels::unmqr(Side::Left, p.op, input_tile<T>(call, 0, p.v), input_tile<T>(call, 1, p.t),
                 output_tile<T>(call, 2, p.c1), workspace.data());
}

template <class T, Lower lower>
void run_stack_qrt(detail::KernelCall const& call) {
  auto const& p = parameters_of<FactorCall>(call);
  std::vector<T> workspace(kernels::qr_factor_workspace<T>(p.a.rows, p.a.cols, p.t.rows));
  auto const kernel = lower == Lower::Full ? kernels::tsqrt<T> : kernels::ttqrt<T>;
  kernel(output_tile<T>(call, 0, p.r), output_tile<T>(call, 1, p.a), output_tile<T>(call, 2, p.t), workspace.data());
}

template <class T, Lower lower>
void run_stack_mqr(detail::KernelCall const& call) {
  auto const& p = parameters_of<ApplyCall>(call);
  std::vector<T> workspace(kernels::qr_apply_workspace<T>(p.c1.cols, p.t.rows));
  auto const kernel = lower == Lower::Full ? kernels::tsmqr<T> : kernels::ttmqr<T>;
  kernel(Side::Left, p.op, input_tile<T>(call, 0, p.v), input_tile<T>(call, 1, p.t), output_tile<T>(call, 2, p.c1),
         output_tile<T>(call, 3, p.c2), workspace.data());
}

template <class T>
detail::Codelet const geqrt_codelet = tile_codelet<T>("geqrt", run_geqrt<T>);
template <class T>
detail::Codelet const unmqr_codelet = tile_codelet<T>("unmqr", run_unmqr<T>);
template <class T, Lower lower>
detail::Codelet const qrt_codelet = tile_codelet<T>(lower == Lower::Full ? "tsqrt" : "ttqrt", run_stack_qrt<T, lower>);
template <class T, Lower lower>
detail::Codelet const mqr_codelet = tile_codelet<T>(lower == Lower::Full ? "tsmqr" : "ttmqr", run_stack_mqr<T, lower>);

// Fused multiply-adds; the kernels' comments have the flops.
double geqrt_fmas(detail::TileShape const& a) {
  double const m = a.rows, n = a.cols, k = std::min(m, n);
  return 2 * k * (m * n - k * (m + n) / 2 + k * k / 3);
}
double unmqr_fmas(detail::TileShape const& v, detail::TileShape const& c) {
  double const m = v.rows, k = std::min(v.rows, v.cols), columns = c.cols;
  return k * (2 * m - k) * columns;
}
double stack_qrt_fmas(Lower lower, detail::TileShape const& a) {
  double const m = a.rows, n = a.cols, k = std::min(m, n);
  return lower == Lower::Full ? m * n * n : k * k * (n - 2 * k / 3);
}
double stack_mqr_fmas(Lower lower, detail::TileShape const& v, detail::TileShape const& c) {
  double const m = v.rows, n = v.cols, k = std::min(m, n), columns = c.cols;
  return (lower == Lower::Full ? 2 * m * n : k * (2 * n - k)) * columns;
}

}  // namespace

template <class T>
void geqrt(TaskEmitter& tasks, detail::TileRef const& a, detail::TileRef const& t, std::int64_t priority) {
  tasks.emit(geqrt_codelet<T>, {read_write(a), write(t)}, priority, detail::flops_of<T>(geqrt_fmas(a)),
             FactorCall{{}, a.shape(), t.shape()});
}

template <class T>
void unmqr(TaskEmitter& tasks, Op op, detail::TileRef const& v, detail::TileRef const& t, detail::TileRef const& c,
           std::int64_t priority) {
  tasks.emit(unmqr_codelet<T>, {read(v), read(t), read_write(c)}, priority, detail::flops_of<T>(unmqr_fmas(v, c)),
             ApplyCall{v.shape(), t.shape(), c.shape(), {}, op});
}

template <class T>
void stack_qrt(TaskEmitter& tasks, Lower lower, detail::TileRef const& r, detail::TileRef const& a,
               detail::TileRef const& t, std::int64_t priority) {
  auto const& codelet = lower == Lower::Full ? qrt_codelet<T, Lower::Full> : qrt_codelet<T, Lower::Triangle>;
  tasks.emit(codelet, {read_write(r), read_write(a), write(t)}, priority, detail::flops_of<T>(stack_qrt_fmas(lower, a)),
             FactorCall{r.shape(), a.shape(), t.shape()});
}

template <class T>
void stack_mqr(TaskEmitter& tasks, Lower lower, Op op, detail::TileRef const& v, detail::TileRef const& t,
               detail::TileRef const& c1, detail::TileRef const& c2, std::int64_t priority) {
  auto const& codelet = lower == Lower::Full ? mqr_codelet<T, Lower::Full> : mqr_codelet<T, Lower::Triangle>;
  tasks.emit(codelet, {read(v), read(t), read_write(c1), read_write(c2)}, priority,
             detail::flops_of<T>(stack_mqr_fmas(lower, v, c2)),
             ApplyCall{v.shape(), t.shape(), c1.shape(), c2.shape(), op});
}

#define GRANARY_INSTANTIATE(T)                                                                                     \
  template void geqrt<T>(TaskEmitter&, detail::TileRef const&, detail::TileRef const&, std::int64_t);              \
  template void unmqr<T>(TaskEmitter&, Op, detail::TileRef const&, detail::TileRef const&, detail::TileRef const&, \
                         std::int64_t);                                                                            \
  template void stack_qrt<T>(TaskEmitter&, Lower, detail::TileRef const&, detail::TileRef const&,                  \
                             detail::TileRef const&, std::int64_t);                                                \
  template void stack_mqr<T>(TaskEmitter&, Lower, Op, detail::TileRef const&, detail::TileRef const&,              \
                             detail::TileRef const&, detail::TileRef const&, std::int64_t);
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary::tiles
