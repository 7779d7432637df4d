// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/model/precision.hpp>
#include <granary/detail/core/model/submitter.hpp>
#include <granary/detail/workloads/assembly_front.hpp>
#include <granary/detail/workloads/workload.hpp>

#include <cstdint>
#include <vector>

namespace granary::detail {

/// The square blocks of all fronts.
struct FrontBlocks {
  std::uint64_t order;
  Precision precision;
};

/// Emits the tasks of all fronts, children first: data are block columns, as in QrMumps.
void emit_qr_fronts(Submitter& submitter, workloads::DataHome home, FrontBlocks const& blocks,
                    std::vector<workloads::AssemblyFront> const& fronts);
/// The same with square tiles, as in QrMumps with two-dimensional blocks.
void emit_qr_tile_fronts(Submitter& submitter, workloads::DataHome home, FrontBlocks const& blocks,
                         std::vector<workloads::AssemblyFront> const& fronts);
/// The same with blocks of the lower triangle, as in SpLDLT.
void emit_ldlt_fronts(Submitter& submitter, workloads::DataHome home, FrontBlocks const& blocks,
                      std::vector<workloads::AssemblyFront> const& fronts);

}  // namespace granary::detail
