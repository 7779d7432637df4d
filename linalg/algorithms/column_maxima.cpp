// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/algorithms/column_maxima.hpp>
#include <granary/detail/linalg/kernels/elementwise_kernels.hpp>
#include <granary/detail/linalg/tiles/tile_call.hpp>

namespace granary {
namespace {

struct ColumnMaximaCall {
  detail::TileShape b;
  bool first = false;  // of its tile column: the maxima have no values yet
};

template <class T>
void run_column_maxima(detail::KernelCall const& call) {
  auto const& p = detail::parameters_of<ColumnMaximaCall>(call);
  auto const b = detail::input_tile<T>(call, 0, p.b);
  auto* const maxima = reinterpret_cast<double*>(call.data[1]);
  for (int c = 0; c < b.cols; ++c) {
    detail::TileView<T const> const column{&b(0, c), b.rows, 1, b.ld, b.layout};
    double const largest = kernels::max_modulus<T>({}, column);
    maxima[c] = p.first ? largest : kernels::max_or_nan(maxima[c], largest);
  }
}

template <class T>
void launch_column_maxima(detail::KernelCall const& call, detail::DeviceLane const& lane) {
  auto const& p = detail::parameters_of<ColumnMaximaCall>(call);
  kernels::column_maxima(lane, detail::input_tile<T>(call, 0, p.b), p.first, reinterpret_cast<double*>(call.data[1]));
}

template <class T>
detail::Codelet const column_maxima_codelet = detail::tile_codelet<T>("column_maxima", run_column_maxima<T>,
                                                                      detail::on_lane<launch_column_maxima<T>>);

}  // namespace

template <class T>
void submit_column_maxima(TaskEmitter& tasks, detail::TiledMatrix<T> const& b, std::span<DataId const> maxima) {
  auto const& grid = b.grid();
  if (maxima.size() != grid.tile_cols()) {
    throw InvalidArgument("the maxima of " + std::to_string(grid.tile_cols()) +
                          " tile columns need as many data, not " + std::to_string(maxima.size()) + " data");
  }
  for (std::uint64_t j = 0; j < grid.tile_cols(); ++j) {
    for (std::uint64_t i = 0; i < grid.tile_rows(); ++i) {
      auto const tile = b(i, j);
      tasks.emit(column_maxima_codelet<T>,
                 {detail::read(tile),
                  detail::Access{maxima[j], i == 0 ? detail::AccessMode::Write : detail::AccessMode::ReadWrite}},
                 0, static_cast<double>(tile.rows) * static_cast<double>(tile.cols),
                 ColumnMaximaCall{tile.shape(), i == 0});
    }
  }
}

template void submit_column_maxima(TaskEmitter&, detail::TiledMatrix<float> const&, std::span<DataId const>);
template void submit_column_maxima(TaskEmitter&, detail::TiledMatrix<double> const&, std::span<DataId const>);
template void submit_column_maxima(TaskEmitter&, detail::TiledMatrix<Kokkos::complex<float>> const&,
                                   std::span<DataId const>);
template void submit_column_maxima(TaskEmitter&, detail::TiledMatrix<Kokkos::complex<double>> const&,
                                   std::span<DataId const>);

}  // namespace granary
