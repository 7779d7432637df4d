// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>

namespace granary {

/// Makes the scheduler "auto" known to the registry; further calls do nothing. Its eviction policy is its own, of the
/// same name.
///
/// ```cpp
/// #include <granary/policy.hpp>
/// granary::register_auto();
/// auto const policies = granary::make_policies("auto", granary::default_eviction("auto"));
/// assert(policies.eviction != nullptr);
/// ```
GRANARY_EXPORT void register_auto();

}  // namespace granary
