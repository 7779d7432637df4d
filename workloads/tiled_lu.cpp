// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/linalg/algorithms/lu.hpp>
#include <granary/workloads/registration.hpp>
#include <granary/workloads/tiled_lu.hpp>

namespace granary {
namespace {

template <class T>
void emit_lu(Submitter& submitter, DataHome home, Tiling const& tiling, FactorOrder order) {
  TiledMatrix<T> const a(square_grid(tiling.order(), tiling.tile), MatrixPart::All, Layout::RowMajor,
                         [&](std::uint64_t i, std::uint64_t j) {
                           return detail::add_home_data(submitter, home, tile_name("A", i, j), tiling.tile_bytes(),
                                                        tile_position(i, j));
                         });
  detail::AnyWorkerSubmitter anywhere(submitter);
  TaskEmitter tasks(anywhere);
  tasks.set_inner_tile(static_cast<std::int32_t>(tiling.inner_tile));
  getrf_nopiv(tasks, a, {.order = order, .priorities = false, .commuting = tiling.commuting});
}

}  // namespace

void TiledLu::submit(Submitter& submitter, DataHome home) const {
  auto const order = m_left_looking ? FactorOrder::LeftLooking : FactorOrder::RightLooking;
  if (m_tiling.single_precision) {
    emit_lu<float>(submitter, home, m_tiling, order);
  } else {
    emit_lu<double>(submitter, home, m_tiling, order);
  }
}

// N getrf, N(N-1)/2 of each trsm, N(N-1)(2N-1)/6 gemm: 2/3 n^3 in all.
double TiledLu::flops() const {
  auto const n = static_cast<double>(m_tiling.tiles);
  return m_tiling.cube() * (2 * n / 3 + n * (n - 1) + n * (n - 1) * (2 * n - 1) / 3);
}

}  // namespace granary
