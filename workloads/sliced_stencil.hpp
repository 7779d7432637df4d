// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/workloads/workload.hpp>

#include <array>
#include <cstdint>

namespace granary::workloads {

/// StarPU's example "stencil", the game of life on a periodic grid of bytes, which LAHeteroprio's evaluation runs: a
/// grid that is cut along z only, and copies of the slices' borders.
///
/// Each slice has two generations and a ghost layer on each side. stencil_update reads the copies of the neighbours'
/// borders, of both generations, and changes both generations of its slice. Before each iteration stencil_save_top and
/// stencil_save_bottom copy the borders of a slice, of both generations, for its neighbours. Operations: 10 for each
/// updated cell (8 neighbours are added, 2 comparisons), 1 for each copied byte.
///
/// ```cpp
/// granary::workloads::SlicedStencil const life({.size = {1024, 1024, 1024}, .slices = 64, .iterations = 32});
/// assert(life.flops() > 32.0 * 1024 * 1024 * 1024 * 10);
/// assert(life.working_set() == granary::Bytes{2} * 1026 * 1026 * (1024 + 2 * 64));
/// ```
class GRANARY_EXPORT SlicedStencil final : public Workload {
 public:
  struct Options {
    std::array<std::uint64_t, 3> size{1024, 1024, 1024};  ///< cells in x, y, z, of a byte each
    std::uint64_t slices = 64;                            ///< of equal depth, rounded up; the last ones may be thinner
    std::uint64_t iterations = 32;                        ///< updates of each slice
    std::string variant = "d";                            ///< Codelet::variant
  };

  /// Throws InvalidArgument if a number is 0 or above 65536, or a slice would have no layer.
  explicit SlicedStencil(Options options);
  void submit(Submitter& submitter, DataHome home) const override;
  [[nodiscard]] std::string name() const override { return "stencil-z"; }
  /// Both generations of all slices; the copies of borders have no home.
  [[nodiscard]] Bytes working_set() const override;
  [[nodiscard]] double flops() const override;

 private:
  [[nodiscard]] std::uint64_t layers_of(std::uint64_t slice) const;
  [[nodiscard]] Bytes layer_bytes() const { return (m_options.size[0] + 2) * (m_options.size[1] + 2); }

  Options m_options;
};

}  // namespace granary::workloads
