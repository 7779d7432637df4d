// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/workloads/tiling.hpp>
#include <granary/detail/workloads/workload.hpp>

namespace granary::workloads {

enum class GRANARY_EXPORT GemmOrder {
  ByTile,  ///< all updates of a tile of C, then the next tile, row by row
  ByStep,  ///< one update of every tile of C, then the next ones: outer products
};

/// C := C + A B of square matrices; codelet gemm, 2 b^3 flops with tiles of order b (8 b^3 on complex scalars).
///
/// ```cpp
/// granary::workloads::TiledGemm const gemm({.tiles = 10, .tile = 960}, granary::workloads::GemmOrder::ByStep);
/// assert(gemm.flops() == 2.0 * 9600 * 9600 * 9600);
/// assert(gemm.name() == "gemm-outer");
/// ```
class GRANARY_EXPORT TiledGemm final : public Workload {
 public:
  /// Throws InvalidArgument: see Tiling::check.
  explicit TiledGemm(Tiling tiling, GemmOrder order = GemmOrder::ByTile) : m_tiling(tiling), m_order(order) {
    tiling.check();
  }
  void submit(Submitter& submitter, DataHome home) const override;
  [[nodiscard]] std::string name() const override { return m_order == GemmOrder::ByTile ? "gemm" : "gemm-outer"; }
  [[nodiscard]] Bytes working_set() const override { return 3 * m_tiling.matrix_bytes(); }
  [[nodiscard]] double flops() const override;

 private:
  Tiling m_tiling;
  GemmOrder m_order;
};

}  // namespace granary::workloads
