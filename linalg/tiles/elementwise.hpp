// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/data/scalar.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>
#include <granary/detail/linalg/tiles/task_emitter.hpp>

#include <cstdint>

namespace granary {

/// The treatment of elements outside a part in the same tile: the other triangle in the diagonal tiles. Zeroed writes
/// such a tile without reading it, which a temporary matrix without values needs.
enum class GRANARY_EXPORT OtherTriangle { Kept, Zeroed };

}  // namespace granary

/// Each function emits one task on tiles, which passes once over their elements; T is one of the four scalars. The part
/// is the tile's own (All off the diagonal of a matrix); elements outside it are kept or zeroed. Tiles are read only if
/// old values stay or count. Sizes must match; the kernels, not these functions, throw InvalidArgument. `priority` as
/// in TaskSubmission.
namespace granary::tiles {

/// B := A, or its conjugate. From and To may differ in precision.
template <class From, class To>
GRANARY_EXPORT void copy(TaskEmitter& tasks, MatrixPart part, bool conjugated, TileRef const& a, TileRef const& b,
                         OtherTriangle other = OtherTriangle::Kept, std::int64_t priority = 0);

/// One value on the tile's diagonal and one elsewhere.
template <class T>
GRANARY_EXPORT void set(TaskEmitter& tasks, MatrixPart part, T off_diagonal, T diagonal, TileRef const& a,
                        OtherTriangle other = OtherTriangle::Kept, std::int64_t priority = 0);

/// B := alpha A + beta B; B is written, not read, when beta is 0 and nothing is kept. 3 m n flops (14 m n).
template <class T>
GRANARY_EXPORT void add(TaskEmitter& tasks, MatrixPart part, T alpha, TileRef const& a, T beta, TileRef const& b,
                        OtherTriangle other = OtherTriangle::Kept, std::int64_t priority = 0);

/// d(j) := Σ_i |a_ij|² if it is the `first` tile of its columns, otherwise += ; d is a column with a row for each
/// column of A. 2 m n flops (8 m n).
template <class T>
void add_column_squares(TaskEmitter& tasks, bool first, TileRef const& a, TileRef const& d);

}  // namespace granary::tiles
