// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/model/precision.hpp>
#include <granary/detail/workloads/assembly_front.hpp>
#include <granary/detail/workloads/workload.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace granary::detail {
class Random;
}  // namespace granary::detail

namespace granary::workloads {

/// Task graphs shaped like multifrontal factorizations of sparse matrices, as in the two solvers of LAHeteroprio's
/// evaluation ("Applications"). Fronts grow toward the root. They exist from their first task until their factors are
/// home and their parent has read the rest, so most data are temporary. The same options produce the same graph.
///
/// ```cpp
/// granary::workloads::AssemblyTree const tree(
///     {.shape = granary::workloads::AssemblyTree::Shape::Ldlt, .levels = 4, .root_blocks = 12});
/// assert(tree.fronts().back().blocks == 12);  // the root is the last
/// std::printf("%zu fronts, %s\n", tree.fronts().size(), granary::format_bytes(tree.working_set()).c_str());
/// ```
class GRANARY_EXPORT AssemblyTree final : public Workload {
 public:
  enum class Shape {
    /// QrMumps: four types of tasks, three of them also on devices. Data are block columns.
    ///   qr_init (CPU only), qr_assemble, qr_panel, qr_update
    Qr,
    /// QrMumps with two-dimensional blocks. Data are tiles.
    ///   qr_tile_assemble, qr_geqrt (CPU only), qr_gemqrt, qr_tpqrt, qr_tpmqrt
    QrTiles,
    /// SpLDLT: four types, one of them also on devices. Data are blocks.
    ///   ldlt_assemble, ldlt_factor, ldlt_solve (CPU only), ldlt_update
    Ldlt,
  };
  struct Options {
    Shape shape = Shape::Qr;
    std::uint64_t levels = 6;        ///< of the tree
    std::uint64_t root_blocks = 24;  ///< width of the root in blocks
    std::uint64_t block = 512;       ///< rows and columns of a block
    std::uint64_t seed = 1;
    detail::Precision precision = detail::Precision::Double;
  };

  /// Throws InvalidArgument unless there are 1 to 16 levels, 1 to 512 root blocks, and 1 to 65536 rows in a block.
  explicit AssemblyTree(Options options);
  void submit(Submitter& submitter, DataHome home) const override;
  /// The name in granary-simulate.
  [[nodiscard]] std::string name() const override;
  [[nodiscard]] Bytes working_set() const override { return m_working_set; }
  [[nodiscard]] double flops() const override { return m_flops; }
  /// Children before parents.
  [[nodiscard]] std::vector<AssemblyFront> const& fronts() const { return m_fronts; }

 private:
  std::size_t grow(std::uint64_t level, std::uint64_t blocks, detail::Random& random);

  Options m_options;
  std::vector<AssemblyFront> m_fronts;
  Bytes m_working_set = 0;
  double m_flops = 0;
};

}  // namespace granary::workloads
