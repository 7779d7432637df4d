// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#pragma GCC visibility push(default)

namespace granary {

/// The order in which the tasks of a factorization are submitted. The dependencies are the same; schedulers that keep
/// the order of submission differ in what they read.
enum class FactorOrder {
  RightLooking,  ///< each panel updates all that is right of it at once
  LeftLooking,   ///< each tile receives all its updates just before it is factored
};

}  // namespace granary

#pragma GCC visibility pop
