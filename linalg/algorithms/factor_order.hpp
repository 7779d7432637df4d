// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>

namespace granary::detail {

/// The order in which the tasks of a factorization are submitted. The dependencies are the same; schedulers that keep
/// the order of submission move different amounts of data.
enum class GRANARY_EXPORT FactorOrder {
  RightLooking,  ///< each panel updates all tiles right of it immediately
  LeftLooking,   ///< each tile receives all its updates just before it is factored
};

}  // namespace granary::detail
