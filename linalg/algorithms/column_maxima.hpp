// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/data/scalar.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>
#include <granary/detail/linalg/tiles/task_emitter.hpp>

#include <span>

namespace granary {

/// Emits one task per tile of B, whose part is All. They overwrite maxima[j], a datum with one double per column of
/// tile column j, with the infinity norms of these columns: max_i |b_ic|, NaN if an element is NaN. Throws
/// InvalidArgument unless there is one datum per tile column, and what Submitter documents.
template <class T>
GRANARY_EXPORT void submit_column_maxima(TaskEmitter& tasks, detail::TiledMatrix<T> const& b,
                                         std::span<DataId const> maxima);

}  // namespace granary
