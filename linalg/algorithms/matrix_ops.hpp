// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/data/scalar.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>
#include <granary/detail/linalg/tiles/elementwise.hpp>
#include <granary/detail/linalg/tiles/task_emitter.hpp>

#include <type_traits>

/// Elementwise operations on matrices of any layout and shape; T is one of the four scalars. Each emits one task per
/// tile of the part, which reads and writes every element once. Throws InvalidArgument if sizes or parts do not match,
/// and what Submitter documents.
///
/// `other` matters if the part is a triangle or trapezoid. Kept reads the diagonal tiles of the output, which must have
/// values; Zeroed does not.
namespace granary {

/// B := A on A's part; B's part is All or the same. LAPACK's xLACPY; with another precision xLAG2y, but without its
/// check for overflow: values that overflow To become infinite. From and To are both real or both complex.
template <class From, class To>
GRANARY_EXPORT void copy(TaskEmitter& tasks, detail::TiledMatrix<From> const& a, detail::TiledMatrix<To> const& b,
                         detail::OtherTriangle other = detail::OtherTriangle::Kept);

/// B := A^T or A^H (NoTrans: A). B's part is All or A's part, transposed. Throws InvalidArgument if A and B share a
/// tile.
template <class T>
GRANARY_EXPORT void transpose(TaskEmitter& tasks, Op op, detail::TiledMatrix<T> const& a,
                              detail::TiledMatrix<T> const& b,
                              detail::OtherTriangle other = detail::OtherTriangle::Kept);

/// `diagonal` on the diagonal and `off_diagonal` elsewhere, on A's part. LAPACK's xLASET, which leaves the diagonal
/// tiles' other triangle alone.
template <class T>
GRANARY_EXPORT void set(TaskEmitter& tasks, std::type_identity_t<T> off_diagonal, std::type_identity_t<T> diagonal,
                        detail::TiledMatrix<T> const& a, detail::OtherTriangle other = detail::OtherTriangle::Kept);

/// B := alpha A + beta B on A's part; B's part is All or the same. If beta is 0, B's old values do not count, and are
/// not read if the part is All.
template <class T>
GRANARY_EXPORT void add(TaskEmitter& tasks, std::type_identity_t<T> alpha, detail::TiledMatrix<T> const& a,
                        std::type_identity_t<T> beta, detail::TiledMatrix<T> const& b,
                        detail::OtherTriangle other = detail::OtherTriangle::Kept);

}  // namespace granary
