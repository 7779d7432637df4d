// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/kernels/qr_stack.hpp>
#include <granary/detail/linalg/tiles/panel_call.hpp>
#include <granary/detail/linalg/tiles/qr_stack.hpp>
#include <granary/detail/linalg/tiles/tile_call.hpp>

#include <algorithm>
#include <vector>

namespace granary::tiles {
namespace {

using detail::input_tile;
using detail::output_tile;
using detail::parameters_of;
using detail::TileStack;
using detail::TileView;

// First the panel's tiles, then tau, T and others.
struct StackCall {
  TileStack panel;
  detail::TileShape tau, t;
};
struct ApplyStackCall {
  TileStack panel, c;
  detail::TileShape t;
  Op op = Op::NoTrans;
};

// The tiles of a stack that a task only reads.
template <class T>
std::vector<TileView<T const>> inputs(detail::KernelCall const& call, TileStack const& stack, std::size_t first) {
  std::vector<TileView<T const>> tiles;
  for (auto const& tile : stack.views<T>(call, first)) tiles.emplace_back(tile);
  return tiles;
}

template <class T>
void run_panel(detail::KernelCall const& call) {
  auto const& p = parameters_of<StackCall>(call);
  auto const n = p.panel.count;
  kernels::qr_panel<T>(p.panel.views<T>(call, 0), output_tile<T>(call, n, p.tau), output_tile<T>(call, n + 1, p.t),
                       reinterpret_cast<T*>(call.data[n + 2]));
}

template <class T>
void run_triangle(detail::KernelCall const& call) {
  auto const& p = parameters_of<StackCall>(call);
  auto const n = p.panel.count;
  std::vector<T> workspace(kernels::qr_triangle_workspace<T>(p.panel.shape.rows, p.t.cols));
  kernels::qr_triangle<T>(inputs<T>(call, p.panel, 0), input_tile<T>(call, n, p.tau), output_tile<T>(call, n + 1, p.t),
                          workspace.data());
}

template <class T>
void run_apply(detail::KernelCall const& call) {
  auto const& p = parameters_of<ApplyStackCall>(call);
  auto const n = p.panel.count;
  std::vector<T> workspace(kernels::apply_panel_workspace<T>(p.t.cols, p.c.shape.cols));
  kernels::apply_panel<T>(p.op, inputs<T>(call, p.panel, 0), input_tile<T>(call, n, p.t), p.c.views<T>(call, n + 1),
                          workspace.data());
}

template <class T>
detail::Codelet const panel_codelet = detail::tile_codelet<T>("qr_panel", run_panel<T>);
template <class T>
detail::Codelet const triangle_codelet = detail::tile_codelet<T>("qr_triangle", run_triangle<T>);
template <class T>
detail::Codelet const apply_codelet = detail::tile_codelet<T>("apply_panel", run_apply<T>);

double reflectors_of(TileStack const& panel) { return std::min(panel.rows, panel.shape.cols); }

}  // namespace

template <class T>
void qr_panel(TaskEmitter& tasks, std::span<detail::TileRef const> panel, detail::TileRef const& tau,
              detail::TileRef const& t, DataId workspace, std::int64_t priority) {
  StackCall const call{TileStack(panel), tau.shape(), t.shape()};
  auto accesses = detail::accesses_to<detail::AccessMode::ReadWrite>(panel);
  accesses.insert(accesses.end(), {detail::write(tau), detail::write(t), {workspace, detail::AccessMode::Write}});
  double const m = call.panel.rows, n = call.panel.shape.cols, k = reflectors_of(call.panel);
  double const fmas = 2 * k * (m * n - k * (m + n) / 2 + k * k / 3) + m * k * k / 2;
  tasks.emit(panel_codelet<T>, accesses, priority, detail::flops_of<T>(fmas), call);
}

template <class T>
Bytes qr_panel_bytes(std::uint64_t rows, std::uint64_t cols) {
  return kernels::qr_panel_workspace<T>(to_int32(rows, "a panel with a number of rows"), to_int32(cols, "columns")) *
         sizeof(T);
}

template <class T>
void qr_triangle(TaskEmitter& tasks, std::span<detail::TileRef const> panel, detail::TileRef const& tau,
                 detail::TileRef const& t, std::int64_t priority) {
  StackCall const call{TileStack(panel), tau.shape(), t.shape()};
  auto accesses = detail::accesses_to<detail::AccessMode::Read>(panel);
  accesses.insert(accesses.end(), {detail::read(tau), detail::write(t)});
  double const k = reflectors_of(call.panel);
  tasks.emit(triangle_codelet<T>, accesses, priority, detail::flops_of<T>(call.panel.rows * k * k / 2), call);
}

template <class T>
void apply_panel(TaskEmitter& tasks, Op op, std::span<detail::TileRef const> panel, detail::TileRef const& t,
                 std::span<detail::TileRef const> c, std::int64_t priority) {
  ApplyStackCall const call{TileStack(panel), TileStack(c), t.shape(), op};
  auto accesses = detail::accesses_to<detail::AccessMode::Read>(panel);
  accesses.push_back(detail::read(t));
  for (auto const& tile : c) accesses.push_back(detail::read_write(tile));
  double const m = call.panel.rows, k = reflectors_of(call.panel);
  tasks.emit(apply_codelet<T>, accesses, priority, detail::flops_of<T>(k * (2 * m - k) * call.c.shape.cols), call);
}

#define GRANARY_INSTANTIATE(T)                                                                             \
  template void qr_panel<T>(TaskEmitter&, std::span<detail::TileRef const>, detail::TileRef const&,        \
                            detail::TileRef const&, DataId, std::int64_t);                                 \
  template Bytes qr_panel_bytes<T>(std::uint64_t, std::uint64_t);                                          \
  template void qr_triangle<T>(TaskEmitter&, std::span<detail::TileRef const>, detail::TileRef const&,     \
                               detail::TileRef const&, std::int64_t);                                      \
  template void apply_panel<T>(TaskEmitter&, Op, std::span<detail::TileRef const>, detail::TileRef const&, \
                               std::span<detail::TileRef const>, std::int64_t);
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary::tiles
