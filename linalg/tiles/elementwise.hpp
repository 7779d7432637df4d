// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/data/scalar.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>
#include <granary/detail/linalg/tiles/task_emitter.hpp>

#include <cstdint>

namespace granary::detail {

/// The treatment of elements outside a part in the same tile: the other triangle in the diagonal tiles. Zeroed writes
/// such a tile without reading it, which a temporary matrix without values needs.
enum class GRANARY_EXPORT OtherTriangle { Kept, Zeroed };

}  // namespace granary::detail

/// Each function emits one task on tiles, which passes once over their elements; T is one of the four scalars. The part
/// is the tile's own (All off the diagonal of a matrix); elements outside it are kept or zeroed. Tiles are read only if
/// old values stay or count. Sizes must match; the kernels, not these functions, throw InvalidArgument. `priority` as
/// in TaskSubmission.
namespace granary::tiles {

/// B := A, or its conjugate. From and To may differ in precision.
template <class From, class To>
GRANARY_EXPORT void copy(TaskEmitter& tasks, MatrixPart part, bool conjugated, detail::TileRef const& a,
                         detail::TileRef const& b, detail::OtherTriangle other = detail::OtherTriangle::Kept,
                         std::int64_t priority = 0);

/// One value on the tile's diagonal and one elsewhere.
template <class T>
GRANARY_EXPORT void set(TaskEmitter& tasks, MatrixPart part, T off_diagonal, T diagonal, detail::TileRef const& a,
                        detail::OtherTriangle other = detail::OtherTriangle::Kept, std::int64_t priority = 0);

/// B := alpha A + beta B; B is written, not read, when beta is 0 and nothing is kept. 3 m n flops (14 m n).
template <class T>
GRANARY_EXPORT void add(TaskEmitter& tasks, MatrixPart part, T alpha, detail::TileRef const& a, T beta,
                        detail::TileRef const& b, detail::OtherTriangle other = detail::OtherTriangle::Kept,
                        std::int64_t priority = 0);

/// d(j) := Σ_i |a_ij|² if it is the `first` tile of its columns, otherwise += ; d is a column with a row for each
/// column of A. 2 m n flops (8 m n).
template <class T>
void add_column_squares(TaskEmitter& tasks, bool first, detail::TileRef const& a, detail::TileRef const& d);

}  // namespace granary::tiles
