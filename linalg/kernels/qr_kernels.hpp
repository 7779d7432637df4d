// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/kernels/tile_kernels.hpp>

#include <cstddef>

/// Kernels of tile QR factorizations (Hierarchical paper, section V; Buttari, Langou, Kurzak, Dongarra: A class of
/// parallel tiled linear algebra algorithms for multicore architectures, Parallel Computing 35, 2009). tile_kernels.hpp
/// has the common properties of all kernels.
///
/// Q is a product of reflectors H_j = I - tau_j v_j v_j^H, as LAPACK's larfg computes them: R has a real diagonal,
/// columns of any size neither overflow nor underflow, and tau_j is 0 if column j is zero below a real diagonal entry.
///
/// Blocks of ib reflectors have LAPACK's compact WY form H_1 ... H_ib = I - V T V^H. The tile T has ib rows, and the ib
/// x ib upper triangles of the blocks side by side, a column for each reflector, with zeros below them. It may have
/// more columns, which are not touched. A larger ib makes GEMM faster, but T costs ib flops for each reflector and
/// column of C: 32 to 128 are usual.
///
/// Each kernel gets workspace from the caller: qr_factor_workspace and qr_apply_workspace have its size. It needs no
/// other memory, unless V and C are complex and differ in layout: then GEMM copies panels of V.
///
/// Flops are those for ib << n in real arithmetic; complex arithmetic needs four times as many.
namespace granary::kernels {

/// Entries in the workspace of geqrt for a rows x cols tile, or of tsqrt and ttqrt for a lower tile of that size.
template <class T>
[[nodiscard]] GRANARY_EXPORT std::size_t qr_factor_workspace(int rows, int cols, int ib);

/// Entries in the workspace of unmqr, tsmqr and ttmqr for C with `lines` columns, or rows if Q is on the right.
template <class T>
[[nodiscard]] GRANARY_EXPORT std::size_t qr_apply_workspace(int lines, int ib);

/// A := Q R, as LAPACK's geqrt: R in the upper triangle of A, and the vectors below it, without their ones. A is m x n,
/// either may be larger; T has k = min(m, n) columns or more. 2 n² (m - n/3) flops for m >= n.
///
/// Blocks of ib columns are factored in a column-major copy, whatever the layout of A (QrPanel). Each then updates the
/// columns on its right (BlockReflector).
template <class T>
GRANARY_EXPORT void geqrt(detail::TileView<T> a, detail::TileView<T> t,
                          typename detail::NotDeduced<T>::type* workspace);

/// C := op(Q) C (left) or C op(Q) (right) with Q of geqrt, as LAPACK's gemqrt. op(Q) is Q or Q^H; Trans stands for Q^H
/// if T is real, and throws InvalidArgument if T is complex. V is geqrt's A, m x n; its upper triangle is not read. C
/// has m rows (right: columns). 2 k (2 m - k) flops for each of its columns (right: rows), k = min(m, n).
template <class T>
GRANARY_EXPORT void unmqr(Side side, Op op, detail::ConstTileView<T> v, detail::ConstTileView<T> t,
                          detail::TileView<T> c, typename detail::NotDeduced<T>::type* workspace);

/// [R; A] := Q [R'; 0] with an upper triangle R of order n and A of m x n, as LAPACK's tpqrt with l = 0. R' overwrites
/// R. The vectors are those of an identity above A, which they overwrite. R is in the first rows of a tile that may
/// have more than n; below its diagonal nothing is read or written. T has n columns or more. 2 m n² flops.
template <class T>
GRANARY_EXPORT void tsqrt(detail::TileView<T> r, detail::TileView<T> a, detail::TileView<T> t,
                          typename detail::NotDeduced<T>::type* workspace);

/// [C_1; C_2] := op(Q) [C_1; C_2] (left) or [C_1 C_2] := [C_1 C_2] op(Q) (right) with Q of tsqrt, as LAPACK's tpmqrt;
/// op as for unmqr. V is tsqrt's A, m x n. C_2 has m rows; C_1 is the first n rows of a tile that may have more (right:
/// columns). 4 m n flops for each column of C (right: row).
template <class T>
GRANARY_EXPORT void tsmqr(Side side, Op op, detail::ConstTileView<T> v, detail::ConstTileView<T> t,
                          detail::TileView<T> c1, detail::TileView<T> c2,
                          typename detail::NotDeduced<T>::type* workspace);

/// Like tsqrt for [R_1; R_2], R_2 being the upper triangle or trapezoid of an m x n tile, as LAPACK's tpqrt with l =
/// min(m, n). The vectors overwrite R_2. Below the diagonals of both tiles nothing is read or written. 2 n³/3 flops for
/// m >= n.
template <class T>
GRANARY_EXPORT void ttqrt(detail::TileView<T> r1, detail::TileView<T> r2, detail::TileView<T> t,
                          typename detail::NotDeduced<T>::type* workspace);

/// Like tsmqr with Q of ttqrt. V is ttqrt's tile of R_2, m x n; below its diagonal nothing is read. C_2 has m rows, of
/// which the first min(m, n) change (right: columns). 2 n² flops for each column of C (right: row) for m >= n.
template <class T>
GRANARY_EXPORT void ttmqr(Side side, Op op, detail::ConstTileView<T> v, detail::ConstTileView<T> t,
                          detail::TileView<T> c1, detail::TileView<T> c2,
                          typename detail::NotDeduced<T>::type* workspace);

}  // namespace granary::kernels
