// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/owned_data.hpp>
#include <granary/detail/linalg/algorithms/factor_order.hpp>
#include <granary/detail/linalg/data/blas_enums.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>
#include <granary/detail/linalg/tiles/task_emitter.hpp>

#include <cstdint>

/// QR factorizations by panels, with LAPACK's result: R in the upper triangle or trapezoid of A, the vectors of Q's
/// reflectors below it, and their factors tau. A task holds two tile columns in memory. T is float, double,
/// Kokkos::complex<float> or Kokkos::complex<double>. Every function throws what Submitter documents, and
/// InvalidArgument if sizes do not match.
namespace granary::detail {

struct GRANARY_EXPORT PanelQrOptions {
  FactorOrder order = FactorOrder::RightLooking;
  /// With FactorOrder::LeftLooking: tile columns that get all their updates together, at least 1. Each tile of Q's
  /// vectors is then loaded once for all of them.
  std::uint64_t columns = 1;
};

/// True if the memory holds what the tasks need: a panel with its copies, and another column beside it.
[[nodiscard]] GRANARY_EXPORT bool panels_fit(TileGrid const& grid, Bytes element, Bytes memory);

/// Options for a matrix whose tiles a memory of `memory` bytes holds in part: right-looking if it holds them all, else
/// left-looking with as many columns together as fit in it beside the copies of a panel. `element`: bytes of one.
[[nodiscard]] GRANARY_EXPORT PanelQrOptions fit_columns(TileGrid const& grid, Bytes element, Bytes memory);

/// The triangles T of the panels, without origin and home: square tiles of as many columns as the panels.
template <class T>
[[nodiscard]] GRANARY_EXPORT OwnedData make_triangles(Submitter& submitter, TileGrid const& grid);

/// Emits the tasks that overwrite A with its factors, `tau`, a column of min(m, n) rows in A's tile size, and the
/// triangles. 2 n² (m - n/3) flops for m >= n (four times that if T is complex), and m tile n / 2 for the triangles.
template <class T>
GRANARY_EXPORT void submit_geqrf(TaskEmitter& tasks, TiledMatrix<T> const& a, TiledMatrix<T> const& tau,
                                 OwnedData const& triangles, PanelQrOptions const& options = {});

/// Emits the tasks that compute the triangles from the vectors and tau: m tile n flops.
template <class T>
GRANARY_EXPORT void submit_triangles(TaskEmitter& tasks, TiledMatrix<T> const& a, TiledMatrix<T> const& tau,
                                     OwnedData const& triangles);

/// Emits the tasks of C := op(Q) C, C with the rows and the tile size of A; op is NoTrans or ConjTrans, or Trans if T
/// is real. 2 k (2 m - k) flops for each column of C, k = min(m, n).
template <class T>
GRANARY_EXPORT void submit_unmqr(TaskEmitter& tasks, Op op, TiledMatrix<T> const& a, OwnedData const& triangles,
                                 TiledMatrix<T> const& c);

}  // namespace granary::detail
