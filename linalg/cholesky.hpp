// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/linalg/cholesky_priorities.hpp>
#include <granary/linalg/factor_order.hpp>
#include <granary/linalg/not_positive_definite.hpp>
#include <granary/linalg/task_emitter.hpp>
#include <granary/linalg/tiled_matrix.hpp>

namespace granary {

struct CholeskyOptions {
  FactorOrder order = FactorOrder::RightLooking;
  /// Bottom levels in closed form as priorities. Switch it off to submit to a BottomLevelScope, which computes them
  /// from a record.
  bool priorities = true;
  CholeskyTimes times{};
};

/// Emits the tasks that overwrite the stored triangle of A by its Cholesky factor: A = L L^H where A's part is Lower,
/// A = U^H U where it is Upper. The other triangle is neither read nor written. n³/3 flops (4n³/3 where T is complex) in
/// N(N+1)(N+2)/6 tasks, N tiles in a row. T is one of the four scalars.
///
/// A task that meets a pivot that is not positive throws NotPositiveDefinite. Throws InvalidArgument when A is not
/// square or its part is All, and what Submitter documents.
template <class T>
void potrf(TaskEmitter& tasks, TiledMatrix<T> const& a, CholeskyOptions const& options = {});

}  // namespace granary
