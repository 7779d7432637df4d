// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/linalg/cholesky_codelets.hpp>
#include <granary/linalg/cholesky_priorities.hpp>
#include <granary/linalg/not_positive_definite.hpp>
#include <granary/linalg/tiled_matrix.hpp>

namespace granary {

/// The order in which the tasks are submitted. The dependencies are the same; schedulers that keep the order of
/// submission differ in what they read.
enum class CholeskyOrder {
  RightLooking,  ///< each panel updates all that is right of it at once
  LeftLooking,   ///< each tile receives all its updates just before it is factored
};

struct CholeskyOptions {
  CholeskyOrder order = CholeskyOrder::RightLooking;
  /// Bottom levels in closed form as priorities. Switch it off to submit to a BottomLevelScope, which computes them
  /// from a record.
  bool priorities = true;
  CholeskyTimes times{};
};

/// Emits the tasks that overwrite the stored triangle of A by its Cholesky factor: A = L Lᵀ where A's lower triangle is
/// stored, else A = Uᵀ U. The other triangle is neither read nor written. n³/3 flops in N(N+1)(N+2)/6 tasks, N tiles in
/// a row.
///
/// A task that meets a pivot that is not positive throws NotPositiveDefinite. Throws what Submitter documents.
template <class T>
void potrf(Submitter& submitter, CholeskyCodelets const& codelets, TiledMatrix<T> const& a,
           CholeskyOptions const& options = {});
extern template void potrf(Submitter&, CholeskyCodelets const&, TiledMatrix<float> const&, CholeskyOptions const&);
extern template void potrf(Submitter&, CholeskyCodelets const&, TiledMatrix<double> const&, CholeskyOptions const&);

}  // namespace granary
