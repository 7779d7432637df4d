// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/schedules/search/constraints/constraint_search.hpp>

namespace granary {

bool have_constraint_search() { return false; }

ConstraintResult constraint_search(search::ListProblem const&, ConstraintOptions const&) {
  throw InvalidArgument("this build of granary has no constraint solver, Gecode");
}

}  // namespace granary
