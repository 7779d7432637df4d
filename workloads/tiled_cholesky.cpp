// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/algorithms/cholesky.hpp>
#include <granary/detail/workloads/registration.hpp>
#include <granary/detail/workloads/tiled_cholesky.hpp>
#include <granary/detail/workloads/with_scalar.hpp>

namespace granary::workloads {
namespace {

template <class T>
void emit_cholesky(Submitter& submitter, DataHome home, Tiling const& tiling, detail::FactorOrder order) {
  detail::TiledMatrix<T> const a(tiling.grid(), MatrixPart::Lower, detail::TileLayout::RowMajor,
                                 [&](std::uint64_t i, std::uint64_t j) {
                                   return detail::add_home_data(submitter, home, detail::tile_name("A", i, j),
                                                                tiling.tile_bytes(i, j), detail::tile_position(i, j));
                                 });
  detail::AnyWorkerSubmitter anywhere(submitter);
  TaskEmitter tasks(anywhere);
  tasks.set_inner_tile(static_cast<std::int32_t>(tiling.inner_tile));
  potrf(tasks, a, {.order = order, .priorities = false, .commuting = tiling.commuting});
}

}  // namespace

void TiledCholesky::submit(Submitter& submitter, DataHome home) const {
  auto const order = m_left_looking ? detail::FactorOrder::LeftLooking : detail::FactorOrder::RightLooking;
  detail::with_scalar(m_tiling.precision, [&]<class T>(T) { emit_cholesky<T>(submitter, home, m_tiling, order); });
}

Bytes TiledCholesky::working_set() const { return m_tiling.matrix_bytes(MatrixPart::Lower); }

// Of each tile column potrf; then of each tile below it trsm, syrk, and gemm with all rows between the two: the flops
// of the emitter.
double TiledCholesky::flops() const {
  auto const grid = m_tiling.grid();
  double total = 0;
  for (std::uint64_t k = 0; k < m_tiling.tiles; ++k) {
    auto const b = static_cast<double>(grid.cols_in(k));
    total += b * b * b / 3;
    for (std::uint64_t i = k + 1; i < m_tiling.tiles; ++i) {
      auto const rows = static_cast<double>(grid.rows_in(i));
      auto const between = static_cast<double>(grid.first(i) - grid.first(k + 1));
      total += rows * b * (b + rows + 1 + 2 * between);
    }
  }
  return m_tiling.flops(total);
}

}  // namespace granary::workloads
