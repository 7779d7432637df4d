// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>

#include <filesystem>
#include <optional>

namespace granary::detail {

// The limits that Linux' control groups (cgroups, versions 1 and 2) set for a process; containers and batch systems use
// them. `membership` is in the format of /proc/self/cgroup, and the groups' files are below `root` (/sys/fs/cgroup). A
// limit of any group along the path counts; groups that are not mounted have none.

/// The lowest limit of memory; `unbounded` if there is none.
[[nodiscard]] GRANARY_EXPORT Bytes control_group_memory_limit(std::filesystem::path const& membership,
                                                              std::filesystem::path const& root);

/// The lowest quota of processor time, in cores: 1.5 are 150 ms of processor time in each 100 ms. Empty if there is
/// none.
[[nodiscard]] GRANARY_EXPORT std::optional<double> control_group_cpu_quota(std::filesystem::path const& membership,
                                                                           std::filesystem::path const& root);

}  // namespace granary::detail
