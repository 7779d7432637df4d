// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/tiles/blas3.hpp>
#include <granary/detail/linalg/tiles/singular.hpp>
#include <granary/detail/linalg/tiles/tile_call.hpp>

namespace granary::tiles {
namespace {

using detail::DeviceLane;
using detail::on_lane;
using detail::output_tile;
using detail::parameters_of;

struct Triangle {
  detail::TileShape a;
  Uplo uplo = Uplo::Lower;
  std::uint64_t first = 0;
};

void refuse_zero(Triangle const& p, std::int64_t entry) {
  if (entry > 0) throw Singular(p.first + static_cast<std::uint64_t>(entry));
}

template <class T>
void run_trtri(detail::KernelCall const& call) {
  auto const& p = parameters_of<Triangle>(call);
  refuse_zero(p, kernels::trtri(p.uplo, Diag::NonUnit, output_tile<T>(call, 0, p.a)));
}
template <class T>
void launch_trtri(detail::KernelCall const& call, DeviceLane const& lane) {
  auto const& p = parameters_of<Triangle>(call);
  kernels::trtri(lane, p.uplo, Diag::NonUnit, output_tile<T>(call, 0, p.a));
}
void check_trtri(void const* parameters, detail::KernelReport const& report) {
  refuse_zero(*static_cast<Triangle const*>(parameters), report.info);
}

template <class T, class... Lane>
void run_lauum(detail::KernelCall const& call, Lane const&... lane) {
  auto const& p = parameters_of<Triangle>(call);
  kernels::lauum(lane..., p.uplo, output_tile<T>(call, 0, p.a));
}

template <class T>
detail::Codelet const trtri_codelet = detail::tile_codelet<T>("trtri", run_trtri<T>, on_lane<launch_trtri<T>>,
                                                              check_trtri);
template <class T>
detail::Codelet const lauum_codelet = detail::tile_codelet<T>("lauum", run_lauum<T>, on_lane<run_lauum<T, DeviceLane>>);

template <class T>
double flops_of_third(detail::TileRef const& a) {
  double const n = a.rows;
  return detail::flops_of<T>(n * n * n / 6);
}

}  // namespace

template <class T>
void trtri(TaskEmitter& tasks, Uplo uplo, detail::TileRef const& a, std::uint64_t first, std::int64_t priority) {
  tasks.emit(trtri_codelet<T>, {detail::read_write(a)}, priority, flops_of_third<T>(a),
             Triangle{a.shape(), uplo, first});
}

template <class T>
void lauum(TaskEmitter& tasks, Uplo uplo, detail::TileRef const& a, std::int64_t priority) {
  tasks.emit(lauum_codelet<T>, {detail::read_write(a)}, priority, flops_of_third<T>(a), Triangle{a.shape(), uplo});
}

#define GRANARY_INSTANTIATE(T)                                                                     \
  template void trtri<T>(TaskEmitter&, Uplo, detail::TileRef const&, std::uint64_t, std::int64_t); \
  template void lauum<T>(TaskEmitter&, Uplo, detail::TileRef const&, std::int64_t);
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary::tiles
