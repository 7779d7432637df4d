// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/runtime/setup/options.hpp>

namespace granary {

/// Fills in options that are empty or zero from the environment, the host and its devices; variables for devices are
/// ignored if there are none. This is the only reader of the environment in granary. Throws InvalidArgument for a
/// malformed value, with the variable's name; for a named scratch directory that cannot be used; for 0 workers without
/// devices; for workers of several cores that Kokkos or the machine cannot have; for options for devices if there are
/// none; and as `find_devices`.
///
/// ```cpp
/// granary::RuntimeOptions const options = granary::configure({.workers = 1});
/// assert(*options.workers == 1 && options.host_memory > 0);
/// ```
[[nodiscard]] GRANARY_EXPORT RuntimeOptions configure(RuntimeOptions options);

/// The smallest memory, with options that `configure` filled in, that holds or passes the data of tasks: tile sizes are
/// chosen for it.
[[nodiscard]] GRANARY_EXPORT Bytes task_memory(RuntimeOptions const& options);

}  // namespace granary
