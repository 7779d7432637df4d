// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/backends/core_groups.hpp>
#include <granary/detail/core/backends/discover.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/runtime/setup/options.hpp>

#include <vector>

namespace granary {

/// The cores of a host's workers, and the NUMA domains of its pages.
struct GRANARY_EXPORT HostPlan {
  std::vector<detail::CoreGroup> workers;  ///< by worker; empty: they are not bound
  std::vector<unsigned> memory_domains;  ///< of the pool, see `interleave_pages`; empty on a host with one NUMA domain
};

/// The number of workers of `cores_per_worker` cores that fit the cores of `options`, or else those that the process
/// may use. A worker that is bound has cores of one NUMA domain.
[[nodiscard]] GRANARY_EXPORT unsigned room_for_workers(RuntimeOptions const& options, detail::HostTopology const& host);

/// The number of workers that a quota of processor time keeps busy, rounded up, at least 1; the largest number without
/// a quota.
[[nodiscard]] GRANARY_EXPORT unsigned workers_in_quota(RuntimeOptions const& options, detail::HostTopology const& host);

/// The lower one of the two. Throws InvalidArgument if no worker fits.
[[nodiscard]] GRANARY_EXPORT unsigned default_workers(RuntimeOptions const& options, detail::HostTopology const& host);

/// With options that `configure` filled in. Workers are bound if there are cores for all of them. The pool's pages are
/// dealt over the domains of the workers' cores, or of all cores if no worker is bound: tasks run where a worker is
/// free, and storage is read by other threads, so the core that touches a page first says nothing about its later use.
[[nodiscard]] GRANARY_EXPORT HostPlan plan_host(RuntimeOptions const& options, detail::HostTopology const& host);

/// The threads of a call of BLAS in a run: all cores of a worker if calls of several workers have threads of their own
/// (`by_caller`, see blas_has_threads_by_caller) or there is one caller; else 1.
[[nodiscard]] GRANARY_EXPORT int blas_threads_of(RuntimeOptions const& options, bool by_caller);

}  // namespace granary
