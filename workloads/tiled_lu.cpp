// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/algorithms/lu.hpp>
#include <granary/detail/workloads/registration.hpp>
#include <granary/detail/workloads/tiled_lu.hpp>
#include <granary/detail/workloads/with_scalar.hpp>

namespace granary::workloads {
namespace {

template <class T>
detail::TiledMatrix<T> add_matrix(Submitter& submitter, DataHome home, Tiling const& tiling) {
  return {tiling.grid(), MatrixPart::All, detail::TileLayout::RowMajor, [&](std::uint64_t i, std::uint64_t j) {
            return detail::add_home_data(submitter, home, detail::tile_name("A", i, j), tiling.tile_bytes(i, j),
                                         detail::tile_position(i, j));
          }};
}

template <class T>
void emit_lu(Submitter& submitter, DataHome home, Tiling const& tiling, detail::FactorOrder order) {
  auto const a = add_matrix<T>(submitter, home, tiling);
  detail::AnyWorkerSubmitter anywhere(submitter);
  TaskEmitter tasks(anywhere);
  tasks.set_inner_tile(static_cast<std::int32_t>(tiling.inner_tile));
  getrf_nopiv(tasks, a, {.order = order, .priorities = false, .commuting = tiling.commuting});
}

template <class T>
void emit_pivoted_lu(Submitter& submitter, DataHome home, Tiling const& tiling, detail::FactorOrder order) {
  auto const a = add_matrix<T>(submitter, home, tiling);
  detail::AnyWorkerSubmitter anywhere(submitter);
  TaskEmitter tasks(anywhere);
  auto const pivots = make_temporary_pivots(submitter, a.grid());
  getrf(tasks, a, pivots, {.order = order, .priorities = false, .host_panels = true, .leaf_tiles = tiling.tiles});
}

// Of each diagonal tile getrf, both trsm with all that is beside it, and gemm with the rest: 2/3 n^3 in all on real
// scalars.
double flops_of_lu(Tiling const& tiling) {
  auto const grid = tiling.grid();
  double total = 0;
  for (std::uint64_t k = 0; k < tiling.tiles; ++k) {
    auto const b = static_cast<double>(grid.cols_in(k));
    auto const rest = static_cast<double>(tiling.order() - grid.first(k)) - b;
    total += 2 * b * b * b / 3 + 2 * b * b * rest + 2 * b * rest * rest;
  }
  return tiling.flops(total);
}

detail::FactorOrder order_of(bool left_looking) {
  return left_looking ? detail::FactorOrder::LeftLooking : detail::FactorOrder::RightLooking;
}

}  // namespace

void TiledLu::submit(Submitter& submitter, DataHome home) const {
  auto const order = order_of(m_left_looking);
  detail::with_scalar(m_tiling.precision, [&]<class T>(T) { emit_lu<T>(submitter, home, m_tiling, order); });
}

double TiledLu::flops() const { return flops_of_lu(m_tiling); }

void TiledPivotedLu::submit(Submitter& submitter, DataHome home) const {
  auto const order = order_of(m_left_looking);
  detail::with_scalar(m_tiling.precision, [&]<class T>(T) { emit_pivoted_lu<T>(submitter, home, m_tiling, order); });
}

double TiledPivotedLu::flops() const { return flops_of_lu(m_tiling); }

}  // namespace granary::workloads
