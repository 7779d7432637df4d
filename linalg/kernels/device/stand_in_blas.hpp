// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/model/lane_storage.hpp>
#include <granary/detail/linalg/kernels/block_blas.hpp>

#include <cstddef>
#include <span>

namespace granary::kernels {

/// Stands in for the vendor's library where Kokkos has no device, for tests of what surrounds it: the host's BLAS and
/// LAPACK, at once. See VendorBlas. Factorizations want a workspace, as those of vendors do: eight entries a column.
class StandInBlas : public BlockBlas {
 public:
  StandInBlas(detail::LaneStorage&, void const*) {}

  template <class T>
  [[nodiscard]] std::size_t potrf(Uplo uplo, Block<T> a, int* info, std::span<std::byte> workspace) const {
    if (needed_for(a) > workspace.size()) return needed_for(a);
    *info = blas::potrf(uplo, a.rows, a.data, a.ld);
    return 0;
  }
  template <class T>
  [[nodiscard]] std::size_t getrf(Block<T> a, int* pivots, int* info, std::span<std::byte> workspace) const {
    if (needed_for(a) > workspace.size()) return needed_for(a);
    *info = blas::getrf(a.rows, a.cols, a.data, a.ld, pivots);
    return 0;
  }

 private:
  template <class T>
  [[nodiscard]] static std::size_t needed_for(Block<T> const& a) {
    return static_cast<std::size_t>(a.cols) * 8 * sizeof(T);
  }
};

}  // namespace granary::kernels
