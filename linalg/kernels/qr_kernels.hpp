// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/kernels/tile_kernels.hpp>

#include <cstddef>

/// Kernels of tile QR factorizations (Hierarchical paper, section V; Buttari, Langou, Kurzak, Dongarra: A class of
/// parallel tiled linear algebra algorithms for multicore architectures, Parallel Computing 35, 2009); see
/// tile_kernels.hpp for the common properties of all kernels.
///
/// The factor Q of a tile, or of two tiles one below the other, is a product of reflectors H_j = I - tau_j v_j v_j^H,
/// with tau_j and the vectors as LAPACK's larfg computes them: R has a real diagonal, columns of any size neither
/// overflow nor underflow, and a column that is zero below the diagonal has tau_j = 0. Blocks of ib reflectors are
/// stored in LAPACK's compact WY form: H_1 ... H_ib = I - V T V^H. A tile T of ib rows has the ib x ib upper triangles
/// T side by side, one column for each reflector, with zeros below them; what its columns behind those are does not
/// matter. Its rows choose ib. Larger ib make the products faster, but add ib/m to the flops: 32 to 128 are usual.
///
/// Flops are those for ib << n, of real arithmetic; complex arithmetic has four times as many.
///
/// The caller hands each kernel workspace, whose entries factor_workspace and apply_workspace count. Operands in one
/// layout need no other memory. If V and C are complex and differ in layout, GEMM copies panels of V.
namespace granary::kernels {

/// Entries of the workspace of geqrt, tsqrt and ttqrt of a rows x cols tile (of the lower one in a stack).
template <class T>
[[nodiscard]] GRANARY_EXPORT std::size_t factor_workspace(int rows, int cols, int ib);

/// Entries of the workspace of unmqr, tsmqr and ttmqr for C with `lines` columns, or rows if Q is on the right.
template <class T>
[[nodiscard]] GRANARY_EXPORT std::size_t apply_workspace(int lines, int ib);

/// A := Q R, as LAPACK's geqrt: R in the upper triangle of A, the vectors below it, without their ones. A is m x n of
/// any shape and has k = min(m, n) reflectors; T has k columns or more. 2 n² (m - n/3) flops for m >= n.
///
/// Columns are factored by blocks of ib, each in a column-major copy (QrPanel), whatever the layout of A; each updates
/// the columns on its right by GEMM.
template <class T>
GRANARY_EXPORT void geqrt(detail::TileView<T> a, detail::TileView<T> t,
                          typename detail::NotDeduced<T>::type* workspace);

/// C := op(Q) C (left) or C op(Q) (right) with Q of geqrt, as LAPACK's gemqrt; op is NoTrans or ConjTrans, or Trans if
/// T is real. V is A of geqrt, with as many rows as C (right: as C has columns). Its upper triangle is not read. 2 k (2
/// m - k) flops for each column of C.
template <class T>
GRANARY_EXPORT void unmqr(Side side, Op op, detail::ConstTileView<T> v, detail::ConstTileView<T> t,
                          detail::TileView<T> c, typename detail::NotDeduced<T>::type* workspace);

/// [R; A] := Q [R'; 0], as LAPACK's tpqrt with l = 0: R' overwrites the upper triangle R, and the vectors, m x n,
/// overwrite A; above them are those of an identity. R is n x n, in the first rows of a tile that may have more;
/// nothing below its diagonal is read or written. 2 m n² flops.
template <class T>
GRANARY_EXPORT void tsqrt(detail::TileView<T> r, detail::TileView<T> a, detail::TileView<T> t,
                          typename detail::NotDeduced<T>::type* workspace);

/// [C_1; C_2] := op(Q) [C_1; C_2] (left) or [C_1 C_2] := [C_1 C_2] op(Q) (right) with Q of tsqrt, as LAPACK's tpmqrt;
/// op as in unmqr. V is A of tsqrt, m x n; C_2 has m rows, and C_1 is the first n rows of a tile that may have more
/// (right: columns). 4 m n flops for each column of C.
template <class T>
GRANARY_EXPORT void tsmqr(Side side, Op op, detail::ConstTileView<T> v, detail::ConstTileView<T> t,
                          detail::TileView<T> c1, detail::TileView<T> c2,
                          typename detail::NotDeduced<T>::type* workspace);

/// tsqrt of [R_1; R_2] with an upper triangle, or trapezoid, R_2 in an m x n tile, as LAPACK's tpqrt with l = min(m,
/// n). The vectors overwrite R_2. Below the diagonals of both tiles nothing is read or written. 2/3 n³ flops for m >=
/// n.
template <class T>
GRANARY_EXPORT void ttqrt(detail::TileView<T> r1, detail::TileView<T> r2, detail::TileView<T> t,
                          typename detail::NotDeduced<T>::type* workspace);

/// tsmqr with Q of ttqrt. V is R_2 of ttqrt, m x n; below its diagonal nothing is read. C_2 has m rows, of which the
/// first min(m, n) change. 2 n² flops for each column of C for m >= n.
template <class T>
GRANARY_EXPORT void ttmqr(Side side, Op op, detail::ConstTileView<T> v, detail::ConstTileView<T> t,
                          detail::TileView<T> c1, detail::TileView<T> c2,
                          typename detail::NotDeduced<T>::type* workspace);

}  // namespace granary::kernels
