// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/units.hpp>
#include <granary/core/model/submitter.hpp>
#include <granary/linalg/tiled_matrix.hpp>

#include <cstdint>
#include <span>

namespace granary {

/// Sums of squares over some tiles of a symmetric matrix, elements of the other triangle included.
struct ResidualSums {
  double residual = 0;  ///< of A - L Lᵀ
  double matrix = 0;    ///< of A
};

struct ResidualCodelets {
  CodeletId product;
  CodeletId last_product;
  CodeletId sums;
};

template <class T>
[[nodiscard]] ResidualCodelets add_residual_codelets(Submitter& submitter);
extern template ResidualCodelets add_residual_codelets<float>(Submitter&);
extern template ResidualCodelets add_residual_codelets<double>(Submitter&);

/// Tiles per side of the blocks in which residual tiles are accumulated: the largest c for which c² accumulators and a
/// column of 2 c tiles of L, with as many to come, fit in `memory`; at least 1, at most the tiles in a row.
[[nodiscard]] std::uint64_t residual_block(TileGrid const& grid, Bytes tile_bytes, Bytes memory);

/// Emits the tasks that measure how far L Lᵀ is from A, about n³/3 flops, each on at most three tiles.
///
/// Both matrices are of one grid and store the same triangle (A = Uᵀ U is checked in the lower form). The products of a
/// tile are accumulated in one of `sums.size()` temporary tiles, block by block: sqrt(sums.size()) tiles in a row.
/// `sums[s]` is the datum of a ResidualSums that was set to zero: the sums of the tiles that temporary s served. What
/// L's diagonal tiles hold above the diagonal counts for nothing. Throws InvalidArgument when the grids differ, and
/// what Submitter documents.
template <class T>
void submit_residual(Submitter& submitter, ResidualCodelets const& codelets, TiledMatrix<T> const& a,
                     TiledMatrix<T> const& l, std::span<DataId const> sums);
extern template void submit_residual(Submitter&, ResidualCodelets const&, TiledMatrix<float> const&,
                                     TiledMatrix<float> const&, std::span<DataId const>);
extern template void submit_residual(Submitter&, ResidualCodelets const&, TiledMatrix<double> const&,
                                     TiledMatrix<double> const&, std::span<DataId const>);

/// ‖A - L Lᵀ‖_F / (n ε ‖A‖_F) with ε the distance from 1 to the next T: 2⁻⁵² or 2⁻²³. 0 when L Lᵀ is A.
template <class T>
[[nodiscard]] double relative_residual(std::uint64_t n, std::span<ResidualSums const> sums);
extern template double relative_residual<float>(std::uint64_t, std::span<ResidualSums const>);
extern template double relative_residual<double>(std::uint64_t, std::span<ResidualSums const>);

}  // namespace granary
