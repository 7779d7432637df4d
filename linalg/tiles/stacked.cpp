// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/kernels/panel_kernels.hpp>
#include <granary/detail/linalg/tiles/blas3.hpp>
#include <granary/detail/linalg/tiles/panel_call.hpp>
#include <granary/detail/linalg/tiles/stacked.hpp>
#include <granary/detail/linalg/tiles/trsm.hpp>

#include <vector>

namespace granary::tiles {
namespace {

using detail::input_tile;
using detail::parameters_of;
using detail::TileStack;

struct StackedGemm {
  TileStack a, c;
  detail::TileShape b;
  Op op_b = Op::NoTrans;
};

template <class T>
struct ScaledStackedGemm : StackedGemm {
  T alpha;
};

template <class T>
void run_stacked_gemm(detail::KernelCall const& call) {
  auto const& p = parameters_of<ScaledStackedGemm<T>>(call);
  auto const b = input_tile<T>(call, 0, p.b);
  auto const a = p.a.template views<T>(call, 1), c = p.c.template views<T>(call, 1 + p.a.count);
  auto const multiply = [&](detail::TileView<T> const& left, detail::TileView<T> const& result) {
    kernels::gemm<T>(Op::NoTrans, p.op_b, p.alpha, left, b, T(1), result);
  };
  auto const all_a = kernels::as_one<T>(a), all_c = kernels::as_one<T>(c);
  if (all_a.data != nullptr && all_c.data != nullptr) return multiply(all_a, all_c);
  for (std::size_t i = 0; i < c.size(); ++i) multiply(a[i], c[i]);
}

struct StackedTrsm {
  detail::TileShape a;
  TileStack b;
  Op op = Op::NoTrans;
};

template <class T>
void run_stacked_trsm(detail::KernelCall const& call) {
  auto const& p = parameters_of<StackedTrsm>(call);
  auto const a = input_tile<T>(call, 0, p.a);
  auto const b = p.b.views<T>(call, 1);
  auto const solve = [&](detail::TileView<T> const& rows) {
    kernels::trsm<T>(Side::Right, Uplo::Lower, p.op, Diag::NonUnit, T(1), a, rows);
  };
  if (auto const all = kernels::as_one<T>(b); all.data != nullptr) return solve(all);
  for (auto const& rows : b) solve(rows);
}

template <class T>
detail::Codelet const stacked_gemm_codelet = detail::tile_codelet<T>("gemm", run_stacked_gemm<T>);
template <class T>
detail::Codelet const stacked_trsm_codelet = detail::tile_codelet<T>("trsm", run_stacked_trsm<T>);

}  // namespace

template <class T>
void gemm(TaskEmitter& tasks, Op op_b, T alpha, std::span<detail::TileRef const> a, detail::TileRef const& b,
          std::span<detail::TileRef const> c, std::int64_t priority) {
  if (c.size() == 1) return gemm(tasks, Op::NoTrans, op_b, alpha, a.front(), b, T(1), c.front(), priority);
  ScaledStackedGemm<T> const call{{TileStack(a), TileStack(c), b.shape(), op_b}, alpha};
  std::vector<detail::Access> accesses{detail::read(b)};
  for (auto const& tile : a) accesses.push_back(detail::read(tile));
  for (auto const& tile : c) accesses.push_back(detail::read_write(tile));
  double const fmas = static_cast<double>(call.c.rows) * c.front().cols * a.front().cols;
  tasks.emit(stacked_gemm_codelet<T>, accesses, priority, detail::flops_of<T>(fmas), call);
}

template <class T>
void trsm_right(TaskEmitter& tasks, Op op, detail::TileRef const& a, std::span<detail::TileRef const> b,
                std::int64_t priority) {
  if (b.size() == 1) {
    return trsm(tasks, Side::Right, Uplo::Lower, op, Diag::NonUnit, T(1), a, b.front(), priority);
  }
  StackedTrsm const call{a.shape(), TileStack(b), op};
  std::vector<detail::Access> accesses{detail::read(a)};
  for (auto const& tile : b) accesses.push_back(detail::read_write(tile));
  tasks.emit(stacked_trsm_codelet<T>, accesses, priority, detail::flops_of<T>(0.5 * call.b.rows * a.rows * a.rows),
             call);
}

#define GRANARY_INSTANTIATE(T)                                                                      \
  template void gemm(TaskEmitter&, Op, T, std::span<detail::TileRef const>, detail::TileRef const&, \
                     std::span<detail::TileRef const>, std::int64_t);                               \
  template void trsm_right<T>(TaskEmitter&, Op, detail::TileRef const&, std::span<detail::TileRef const>, std::int64_t);
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary::tiles
