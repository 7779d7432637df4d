// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/kernels/elementwise_kernels.hpp>
#include <granary/detail/linalg/kernels/fold_rows.hpp>
#include <granary/detail/linalg/kernels/stored_tile.hpp>
#include <granary/detail/linalg/tiles/panel_call.hpp>
#include <granary/detail/linalg/tiles/tall_qr.hpp>
#include <granary/detail/linalg/tiles/tile_call.hpp>

#include <cmath>
#include <string>
#include <utility>

namespace granary::tiles {
namespace {

using detail::TileView;

struct FoldCall {
  std::vector<detail::TileShape> row;
  detail::TileShape r;
  std::shared_ptr<RowForm const> form;
  std::uint64_t first = 0;
  bool has_rows = false;
};

// Multiplies row i of the slice by the root of its weight, which is in row first + i of the tile.
template <class T>
void weigh(FoldCall const& p, TileView<T const> const& tile, int first, TileView<T> const& slice) {
  for (int i = 0; i < slice.rows; ++i) {
    auto const weight = detail::real_part(tile(first + i, p.form->weight_column));
    if (!(weight >= 0)) {
      throw DataError("the weight of row " + std::to_string(p.first + static_cast<std::uint64_t>(first + i) + 1) +
                      ", counted from 1, is negative or not a number");
    }
    auto const root = std::sqrt(weight);
    for (int j = 0; j < slice.cols; ++j) slice(i, j) *= root;
  }
}

template <class T>
void run_fold(detail::KernelCall const& call) {
  auto const& p = detail::parameters_of<FoldCall>(call);
  std::vector<TileView<T const>> tiles;
  for (std::size_t j = 0; j < p.row.size(); ++j) tiles.push_back(detail::input_tile<T>(call, j, p.row[j]));
  auto const r = detail::output_tile<T>(call, p.row.size(), p.r);
  if (!p.has_rows) kernels::set(MatrixPart::All, T(0), T(0), r);
  std::vector<T> workspace(kernels::fold_workspace<T>(r.cols));
  auto const load = [&](int first, TileView<T> slice) {
    for (auto const& run : p.form->runs) {
      auto const to = kernels::sub(slice, 0, run.to, slice.rows, run.count);
      if (run.tile == ColumnRun::ones) {
        kernels::set(MatrixPart::All, T(1), T(1), to);
      } else {
        kernels::copy<T, T>(
            MatrixPart::All, false,
            kernels::sub(tiles[static_cast<std::size_t>(run.tile)], first, run.from, slice.rows, run.count), to);
      }
    }
    if (p.form->weight_tile != RowForm::no_weights)
      weigh(p, tiles[static_cast<std::size_t>(p.form->weight_tile)], first, slice);
  };
  kernels::fold_rows<T>(r, p.row.front().rows, load, workspace.data());
}

template <class T>
detail::Codelet const fold_codelet = detail::tile_codelet<T>("fold_rows", run_fold<T>);

}  // namespace

template <class T>
void fold_rows(TaskEmitter& tasks, std::span<detail::TileRef const> row, std::shared_ptr<RowForm const> form,
               std::uint64_t first, bool has_rows, detail::TileRef const& r, std::int64_t priority) {
  FoldCall call{{}, r.shape(), std::move(form), first, has_rows};
  for (auto const& tile : row) call.row.push_back(tile.shape());
  auto accesses = detail::accesses_to<detail::AccessMode::Read>(row);
  accesses.push_back(has_rows ? detail::read_write(r) : detail::write(r));
  double const rows = row.front().rows, cols = r.cols;
  tasks.emit(fold_codelet<T>, accesses, priority, detail::flops_of<T>(rows * cols * cols), std::move(call));
}

#define GRANARY_INSTANTIATE(T)                                                                               \
  template void fold_rows<T>(TaskEmitter&, std::span<detail::TileRef const>, std::shared_ptr<RowForm const>, \
                             std::uint64_t, bool, detail::TileRef const&, std::int64_t);
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary::tiles
