// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/algorithms/diagonal.hpp>
#include <granary/detail/linalg/algorithms/operands.hpp>
#include <granary/detail/linalg/data/scalar.hpp>
#include <granary/detail/linalg/tiles/tile_call.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace granary {
namespace {

struct DiagonalCall {
  detail::TileShape a, d;
};

template <class T>
void run_diagonal(detail::KernelCall const& call) {
  auto const& p = detail::parameters_of<DiagonalCall>(call);
  auto const a = detail::input_tile<T>(call, 0, p.a);
  auto const d = detail::output_tile<T>(call, 1, p.d);
  for (int i = 0; i < d.rows; ++i) d(i, 0) = a(i, i);
}

struct LogCall {
  detail::TileShape a;
  bool first = false;  // on the diagonal: the sum has no value yet
};

template <class T>
void run_log_diagonal(detail::KernelCall const& call) {
  auto const& p = detail::parameters_of<LogCall>(call);
  auto const a = detail::input_tile<T>(call, 0, p.a);
  double logarithms = 0;
  for (int i = 0; i < a.rows; ++i) logarithms += std::log(double(detail::real_part(a(i, i))));
  auto& sum = *reinterpret_cast<double*>(call.data[1]);
  sum = (p.first ? 0 : sum) + 2 * logarithms;
}

template <class T>
detail::Codelet const diagonal_codelet = detail::tile_codelet<T>("diagonal", run_diagonal<T>);
template <class T>
detail::Codelet const log_diagonal_codelet = detail::tile_codelet<T>("log_diagonal", run_log_diagonal<T>);

}  // namespace

template <class T>
void submit_diag(TaskEmitter& tasks, detail::TiledMatrix<T> const& a, detail::TiledMatrix<T> const& d) {
  auto const& grid = a.grid();
  detail::require_fit("diag", d.grid().cols == 1 && d.grid().rows == std::min(grid.rows, grid.cols),
                      {{"A", a}, {"d", d}});
  for (std::uint64_t k = 0; k < d.grid().tile_rows(); ++k) {
    auto const tile = a(k, k);
    auto const part = d(k, 0);
    tasks.emit(diagonal_codelet<T>, {detail::read(tile), detail::write(part)}, 0, static_cast<double>(part.rows),
               DiagonalCall{tile.shape(), part.shape()});
  }
}

template <class T>
void submit_logdet(TaskEmitter& tasks, detail::TiledMatrix<T> const& a, DataId result) {
  auto const& grid = a.grid();
  detail::require_fit("logdet", grid.rows == grid.cols, {{"A", a}});
  for (std::uint64_t k = 0; k < grid.tile_rows(); ++k) {
    auto const tile = a(k, k);
    tasks.emit(log_diagonal_codelet<T>,
               {detail::read(tile),
                detail::Access{result, k == 0 ? detail::AccessMode::Write : detail::AccessMode::ReadWrite}},
               0, static_cast<double>(tile.rows), LogCall{tile.shape(), k == 0});
  }
}

#define GRANARY_INSTANTIATE(T)                                                                           \
  template void submit_diag(TaskEmitter&, detail::TiledMatrix<T> const&, detail::TiledMatrix<T> const&); \
  template void submit_logdet(TaskEmitter&, detail::TiledMatrix<T> const&, DataId);
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary
