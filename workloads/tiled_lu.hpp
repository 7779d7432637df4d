// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/workloads/tiling.hpp>
#include <granary/detail/workloads/workload.hpp>

namespace granary::workloads {

/// The LU factorization without pivoting of a square matrix, as granary::getrf_nopiv emits it, with tiles of order b
/// of real scalars (four times the flops on complex ones):
///   getrf    A(k,k) := L U                      2/3 b^3 flops
///   trsm_ll  A(k,j) := L(k,k)^-1 A(k,j), j > k  b^3
///   trsm_ru  A(i,k) := A(i,k) U(k,k)^-1, i > k  b^3
///   gemm     A(i,j) := A(i,j) - A(i,k) A(k,j)   2 b^3
///
/// ```cpp
/// #include <granary/workloads.hpp>
/// granary::workloads::TiledLu const lu({.tiles = 3, .tile = 960}, /*left_looking=*/true);
/// auto const graph = granary::workloads::TaskGraphFile::record(lu).description();
/// assert(graph.tasks.size() == 14);  // 3 getrf, 6 trsm, 5 gemm
/// ```
class GRANARY_EXPORT TiledLu final : public Workload {
 public:
  /// Left-looking: each tile receives all its updates just before its last task, column by column. Throws
  /// InvalidArgument: see Tiling::check.
  explicit TiledLu(Tiling tiling, bool left_looking = false) : m_tiling(tiling), m_left_looking(left_looking) {
    tiling.check();
  }
  void submit(Submitter& submitter, DataHome home) const override;
  [[nodiscard]] std::string name() const override { return m_left_looking ? "lu-left" : "lu"; }
  [[nodiscard]] Bytes working_set() const override { return m_tiling.matrix_bytes(); }
  [[nodiscard]] double flops() const override;

 private:
  Tiling m_tiling;
  bool m_left_looking;
};

/// The LU factorization with partial pivoting of a square matrix, as granary::getrf emits it with panels of one task:
///   getrf_panel    P(k) A(k:,k) := L U
///   swap_rows      A(:,j) := P(k) A(:,j), j > k
///   trsm_ll, gemm  as without pivoting
///   swap_all_rows  the exchanges of all later panels in a column of L, at the end
///
/// ```cpp
/// #include <granary/workloads.hpp>
/// granary::workloads::TiledPivotedLu const lu({.tiles = 3, .tile = 960}, /*left_looking=*/true);
/// auto const graph = granary::workloads::TaskGraphFile::record(lu).description();
/// assert(graph.tasks.size() == 16);  // 3 getrf_panel, 3 swap_rows, 3 trsm_ll, 5 gemm, 2 swap_all_rows
/// ```
class GRANARY_EXPORT TiledPivotedLu final : public Workload {
 public:
  /// Left-looking: column by column, each gets all its updates before the next one begins: the order for matrices
  /// larger than memory. Throws InvalidArgument: see Tiling::check.
  explicit TiledPivotedLu(Tiling tiling, bool left_looking = false) : m_tiling(tiling), m_left_looking(left_looking) {
    tiling.check();
  }
  void submit(Submitter& submitter, DataHome home) const override;
  [[nodiscard]] std::string name() const override { return m_left_looking ? "lu-pivot-left" : "lu-pivot"; }
  [[nodiscard]] Bytes working_set() const override { return m_tiling.matrix_bytes(); }
  [[nodiscard]] double flops() const override;

 private:
  Tiling m_tiling;
  bool m_left_looking;
};

}  // namespace granary::workloads
