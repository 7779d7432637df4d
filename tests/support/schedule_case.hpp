// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "support/policy_case.hpp"

namespace granary::test {

/// The case under the scheduler static with a schedule of its tasks that is mostly nonsense: any worker, the order of
/// submission or any, workers that the machine lacks, too few or too many tasks, tasks that are others.
[[nodiscard]] PolicyCase with_random_schedule(PolicyCase drawn);

}  // namespace granary::test
