// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/workloads/workload.hpp>

#include <array>
#include <cstdint>

namespace granary::workloads {

/// A 2-D or 3-D grid of blocks, iterated; codelet stencil, one task per block and iteration.
///
/// With halos, a task updates its block in place, reads the faces that its neighbours wrote in the previous iteration
/// and writes its own. There are two generations of faces, so that no task waits for readers of its own iteration.
/// Without halos, there are two generations of blocks, and a task reads its own and its neighbours' whole blocks.
///
/// ```cpp
/// granary::workloads::Stencil const stencil({.blocks = {4, 4, 4}, .iterations = 10, .halo_bytes = 0, .flops = 1e9});
/// assert(stencil.flops() == 640e9);
/// assert(stencil.working_set() == 64 * (granary::Bytes{8} << 20));  // the other generation has no home
/// ```
class GRANARY_EXPORT Stencil final : public Workload {
 public:
  struct Options {
    std::array<std::uint64_t, 3> blocks{8, 8, 1};  ///< in each direction; 1 in the third: 2-D
    std::uint64_t iterations = 16;
    Bytes block_bytes = Bytes{8} << 20;
    Bytes halo_bytes = Bytes{8} << 10;  ///< of a face; 0: no halos
    double flops = 6e6;                 ///< of a task
    std::string variant = "d";          ///< Codelet::variant
  };

  /// Throws InvalidArgument if there are no blocks, bytes or iterations, more than 4096 blocks in a direction, or if
  /// flops are negative.
  explicit Stencil(Options options);
  void submit(Submitter& submitter, DataHome home) const override;
  [[nodiscard]] std::string name() const override { return "stencil"; }
  [[nodiscard]] Bytes working_set() const override;
  [[nodiscard]] double flops() const override;

 private:
  [[nodiscard]] std::uint64_t count() const;
  [[nodiscard]] std::uint64_t faces() const;

  Options m_options;
};

}  // namespace granary::workloads
