// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/linalg/algorithms/cholesky.hpp>
#include <granary/workloads/registration.hpp>
#include <granary/workloads/tiled_cholesky.hpp>
#include <granary/workloads/with_scalar.hpp>

namespace granary {
namespace {

template <class T>
void emit_cholesky(Submitter& submitter, DataHome home, Tiling const& tiling, FactorOrder order) {
  TiledMatrix<T> const a(square_grid(tiling.order(), tiling.tile), MatrixPart::Lower, Layout::RowMajor,
                         [&](std::uint64_t i, std::uint64_t j) {
                           return detail::add_home_data(submitter, home, tile_name("A", i, j), tiling.tile_bytes(),
                                                        tile_position(i, j));
                         });
  detail::AnyWorkerSubmitter anywhere(submitter);
  TaskEmitter tasks(anywhere);
  tasks.set_inner_tile(static_cast<std::int32_t>(tiling.inner_tile));
  potrf(tasks, a, {.order = order, .priorities = false, .commuting = tiling.commuting});
}

}  // namespace

void TiledCholesky::submit(Submitter& submitter, DataHome home) const {
  auto const order = m_left_looking ? FactorOrder::LeftLooking : FactorOrder::RightLooking;
  detail::with_scalar(m_tiling.precision, [&]<class T>(T) { emit_cholesky<T>(submitter, home, m_tiling, order); });
}

Bytes TiledCholesky::working_set() const { return m_tiling.tiles * (m_tiling.tiles + 1) / 2 * m_tiling.tile_bytes(); }

// N potrf, N(N-1)/2 trsm and syrk, N(N-1)(N-2)/6 gemm, with the flops of the emitter.
double TiledCholesky::flops() const {
  auto const n = static_cast<double>(m_tiling.tiles);
  auto const b = static_cast<double>(m_tiling.tile);
  return m_tiling.flops(n * m_tiling.cube() / 3 + n * (n - 1) / 2 * (m_tiling.cube() + b * b * (b + 1)) +
                        n * (n - 1) * (n - 2) / 3 * m_tiling.cube());
}

}  // namespace granary
