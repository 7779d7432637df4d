// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/kernels/elementwise_kernels.hpp>
#include <granary/detail/linalg/tiles/elementwise.hpp>
#include <granary/detail/linalg/tiles/tile_call.hpp>

#include <type_traits>

namespace granary::tiles {
namespace {

using detail::DeviceLane;
using detail::input_tile;
using detail::on_lane;
using detail::output_tile;
using detail::parameters_of;
using detail::read;
using detail::tile_codelet;

// The parameters of a task, with operands in the order of its accesses.
struct ElementwiseCall {
  MatrixPart part = MatrixPart::All;
  detail::OtherTriangle other = detail::OtherTriangle::Kept;
  bool conjugated = false;
  detail::TileShape a, b;
};
template <class T>
struct ScalarCall : ElementwiseCall {
  T alpha, beta;
};

bool zeroes(ElementwiseCall const& p) { return p.other == detail::OtherTriangle::Zeroed; }

template <class T>
void finish(ElementwiseCall const& p, detail::TileView<T> const& output) {
  if (zeroes(p)) kernels::clear_outside(p.part, output);
}

template <class From, class To>
void run_copy(detail::KernelCall const& call) {
  auto const& p = parameters_of<ElementwiseCall>(call);
  auto const b = output_tile<To>(call, 1, p.b);
  kernels::copy(p.part, p.conjugated, input_tile<From>(call, 0, p.a), b);
  finish(p, b);
}

template <class T>
void run_set(detail::KernelCall const& call) {
  auto const& p = parameters_of<ScalarCall<T>>(call);
  auto const a = output_tile<T>(call, 0, p.a);
  kernels::set(p.part, p.alpha, p.beta, a);
  finish(p, a);
}

template <class T>
void run_add(detail::KernelCall const& call) {
  auto const& p = parameters_of<ScalarCall<T>>(call);
  auto const b = output_tile<T>(call, 1, p.b);
  kernels::add(p.part, p.alpha, input_tile<T>(call, 0, p.a), p.beta, b);
  finish(p, b);
}

template <class From, class To>
void launch_copy(detail::KernelCall const& call, DeviceLane const& lane) {
  auto const& p = parameters_of<ElementwiseCall>(call);
  kernels::copy(lane, p.part, p.conjugated, input_tile<From>(call, 0, p.a), output_tile<To>(call, 1, p.b), zeroes(p));
}

template <class T>
void launch_set(detail::KernelCall const& call, DeviceLane const& lane) {
  auto const& p = parameters_of<ScalarCall<T>>(call);
  kernels::set(lane, p.part, p.alpha, p.beta, output_tile<T>(call, 0, p.a), zeroes(p));
}

template <class T>
void launch_add(detail::KernelCall const& call, DeviceLane const& lane) {
  auto const& p = parameters_of<ScalarCall<T>>(call);
  kernels::add(lane, p.part, p.alpha, input_tile<T>(call, 0, p.a), p.beta, output_tile<T>(call, 1, p.b), zeroes(p));
}

struct SquaresCall {
  detail::TileShape a, d;
  bool first = false;
};

template <class T, class... Lane>
void run_squares(detail::KernelCall const& call, Lane const&... lane) {
  auto const& p = parameters_of<SquaresCall>(call);
  kernels::add_column_squares(lane..., p.first, input_tile<T>(call, 0, p.a), output_tile<T>(call, 1, p.d));
}

template <class From, class To>
detail::Codelet const copy_codelet = tile_codelet<From>(std::is_same_v<From, To> ? "copy" : "convert",
                                                        run_copy<From, To>, on_lane<launch_copy<From, To>>);
template <class T>
detail::Codelet const set_codelet = tile_codelet<T>("set", run_set<T>, on_lane<launch_set<T>>);
template <class T>
detail::Codelet const add_codelet = tile_codelet<T>("add", run_add<T>, on_lane<launch_add<T>>);

template <class T>
detail::Codelet const squares_codelet = tile_codelet<T>("column_squares", run_squares<T>,
                                                        on_lane<run_squares<T, DeviceLane>>);

// Writes without reading, unless old elements stay or count.
detail::Access output(detail::TileRef const& tile, MatrixPart part, detail::OtherTriangle other, bool counts = false) {
  bool const stays = part != MatrixPart::All && other == detail::OtherTriangle::Kept;
  return {tile.data, stays || counts ? detail::AccessMode::ReadWrite : detail::AccessMode::Write};
}

}  // namespace

template <class From, class To>
void copy(TaskEmitter& tasks, MatrixPart part, bool conjugated, detail::TileRef const& a, detail::TileRef const& b,
          detail::OtherTriangle other, std::int64_t priority) {
  tasks.emit(copy_codelet<From, To>, {read(a), output(b, part, other)}, priority, 0,
             ElementwiseCall{part, other, conjugated, a.shape(), b.shape()});
}

template <class T>
void set(TaskEmitter& tasks, MatrixPart part, T off_diagonal, T diagonal, detail::TileRef const& a,
         detail::OtherTriangle other, std::int64_t priority) {
  tasks.emit(set_codelet<T>, {output(a, part, other)}, priority, 0,
             ScalarCall<T>{{part, other, false, a.shape(), {}}, off_diagonal, diagonal});
}

template <class T>
void add(TaskEmitter& tasks, MatrixPart part, T alpha, detail::TileRef const& a, T beta, detail::TileRef const& b,
         detail::OtherTriangle other, std::int64_t priority) {
  double const flops = (detail::is_complex<T> ? 14.0 : 3.0) * a.rows * a.cols;
  tasks.emit(add_codelet<T>, {read(a), output(b, part, other, beta != T(0))}, priority, flops,
             ScalarCall<T>{{part, other, false, a.shape(), b.shape()}, alpha, beta});
}

template <class T>
void add_column_squares(TaskEmitter& tasks, bool first, detail::TileRef const& a, detail::TileRef const& d) {
  tasks.emit(squares_codelet<T>,
             {read(a), detail::Access{d.data, first ? detail::AccessMode::Write : detail::AccessMode::ReadWrite}}, 0,
             detail::flops_of<T>(static_cast<double>(a.rows) * a.cols), SquaresCall{a.shape(), d.shape(), first});
}

#define GRANARY_INSTANTIATE(T, Other)                                                                             \
  template void copy<T, T>(TaskEmitter&, MatrixPart, bool, detail::TileRef const&, detail::TileRef const&,        \
                           detail::OtherTriangle, std::int64_t);                                                  \
  template void copy<T, Other>(TaskEmitter&, MatrixPart, bool, detail::TileRef const&, detail::TileRef const&,    \
                               detail::OtherTriangle, std::int64_t);                                              \
  template void set(TaskEmitter&, MatrixPart, T, T, detail::TileRef const&, detail::OtherTriangle, std::int64_t); \
  template void add(TaskEmitter&, MatrixPart, T, detail::TileRef const&, T, detail::TileRef const&,               \
                    detail::OtherTriangle, std::int64_t);                                                         \
  template void add_column_squares<T>(TaskEmitter&, bool, detail::TileRef const&, detail::TileRef const&);
GRANARY_INSTANTIATE(float, double)
GRANARY_INSTANTIATE(double, float)
GRANARY_INSTANTIATE(Kokkos::complex<float>, Kokkos::complex<double>)
GRANARY_INSTANTIATE(Kokkos::complex<double>, Kokkos::complex<float>)
#undef GRANARY_INSTANTIATE

}  // namespace granary::tiles
