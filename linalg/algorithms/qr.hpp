// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/model/submitter.hpp>
#include <granary/detail/linalg/algorithms/qr_tree.hpp>
#include <granary/detail/linalg/data/blas_enums.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>
#include <granary/detail/linalg/tiles/task_emitter.hpp>

#include <cstdint>
#include <vector>

/// QR factorizations by tiles (Buttari, Langou, Kurzak, Dongarra: A class of parallel tiled linear algebra algorithms
/// for multicore architectures, Parallel Computing 35, 2009; trees: see QrTree). T is float, double,
/// Kokkos::complex<float> or Kokkos::complex<double>. Every function throws what Submitter documents, and
/// InvalidArgument if sizes do not match.
namespace granary {

struct GRANARY_EXPORT QrOptions {
  QrTree tree{};
  /// Gives the tasks of the first panels and columns precedence, so that the next panel is factored early.
  bool priorities = true;
};

namespace detail {

/// The triangular factors T of a QR factorization by tiles, as data: `of_tile` of a tile that was factored alone, in
/// panel k tile row i at grid.slot(i, k); `of_stack` of a row that another one has eliminated. Both without a datum
/// where the tree needs none.
struct GRANARY_EXPORT ReflectorData {
  std::int32_t inner_block = 32;  ///< ib, the rows of each T
  std::vector<DataId> of_tile;
  std::vector<DataId> of_stack;
};

/// Bytes of the datum of a T in tile column k: ib x cols_in(k) elements.
template <class T>
[[nodiscard]] GRANARY_EXPORT Bytes reflector_bytes(TileGrid const& grid, std::int32_t inner_block, std::uint64_t k);

/// Data without origin and home for the factorization of a matrix with that grid. Throws InvalidArgument unless
/// 1 <= `inner_block`.
template <class T>
[[nodiscard]] GRANARY_EXPORT ReflectorData make_temporary_reflectors(Submitter& submitter, TileGrid const& grid,
                                                                     QrTree const& tree, std::int32_t inner_block);

}  // namespace detail

/// Emits the tasks that overwrite A with its factors A = Q R: R in the upper triangle or trapezoid, and the Householder
/// vectors of Q, as the tasks of tiles/qr.hpp store them, elsewhere; the triangular factors of these go to
/// `reflectors`. m x n, either may be larger; A's part is All. Q depends on the tree and on the tile size, |R| does not
/// but for rounding. 2 n² (m - n/3) flops for m >= n (four times that if T is complex), and about ib / (2 tile) more.
///
/// A copy of the vectors of each tile that is factored alone lives until the tile's row is updated: R above them may
/// change meanwhile.
template <class T>
GRANARY_EXPORT void geqrf(TaskEmitter& tasks, detail::TiledMatrix<T> const& a, detail::ReflectorData const& reflectors,
                          QrOptions const& options = {});

/// Emits the tasks of C := op(Q) C with the factors of geqrf and the same options; op is NoTrans or ConjTrans, or Trans
/// if T is real. C has the rows and the tile size of A. 2 k (2 m - k) flops for each column of C, k = min(m, n).
template <class T>
GRANARY_EXPORT void unmqr(TaskEmitter& tasks, Op op, detail::TiledMatrix<T> const& a,
                          detail::ReflectorData const& reflectors, detail::TiledMatrix<T> const& c,
                          QrOptions const& options = {});

}  // namespace granary
