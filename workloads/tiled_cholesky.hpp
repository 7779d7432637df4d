// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/workloads/tiling.hpp>
#include <granary/detail/workloads/workload.hpp>

namespace granary::workloads {

/// The Cholesky factorization of the lower triangle, as granary::potrf emits it: codelets potrf, trsm, syrk (herk on
/// complex scalars), gemm.
///
/// ```cpp
/// granary::workloads::TiledCholesky const cholesky(
///     {.tiles = 10, .tile = 960, .precision = granary::Precision::Single});
/// assert(cholesky.working_set() == 55 * 960 * 960 * sizeof(float));  // the tiles of one triangle
/// std::printf("%g GFlop\n", cholesky.flops() / 1e9);
/// ```
class GRANARY_EXPORT TiledCholesky final : public Workload {
 public:
  /// Throws InvalidArgument: see Tiling::check.
  explicit TiledCholesky(Tiling tiling, bool left_looking = false) : m_tiling(tiling), m_left_looking(left_looking) {
    tiling.check();
  }
  void submit(Submitter& submitter, DataHome home) const override;
  [[nodiscard]] std::string name() const override { return m_left_looking ? "cholesky-left" : "cholesky"; }
  [[nodiscard]] Bytes working_set() const override;
  [[nodiscard]] double flops() const override;

 private:
  Tiling m_tiling;
  bool m_left_looking;
};

}  // namespace granary::workloads
