// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/runtime/setup/environment.hpp>
#include <granary/detail/runtime/setup/options.hpp>

#include <optional>
#include <string>
#include <vector>

namespace granary {

/// A process among those that run on its node.
struct GRANARY_EXPORT NodeShare {
  unsigned number = 0;  ///< of the process, from 0
  unsigned count = 1;   ///< of processes on the node
  /// The same among the processes that may run on exactly the same cores.
  unsigned number_on_cores = 0, count_on_cores = 1;
};

/// The resources of its node that a process may use beside others.
struct GRANARY_EXPORT NodeResources {
  std::vector<unsigned> cores = {};  ///< as HostResources::cores
  unsigned all_cores = 0;            ///< of the node
  Bytes memory = 0;
  unsigned devices = 0;     ///< of the vendor
  Bytes device_memory = 0;  ///< free on each
};

/// Fills in the cores, host memory and devices that were not asked for, neither in `options` nor in the environment, so
/// that the processes of the node divide what they may use: cores that several of them may use, half of the memory, and
/// devices; more processes than devices share one. `environment` tells whether a variable is set.
[[nodiscard]] GRANARY_EXPORT RuntimeOptions share_node(RuntimeOptions options, NodeShare const& share,
                                                       NodeResources const& resources,
                                                       bool (*environment)(std::string const&) = is_in_environment);

/// The resources that this process may use now.
[[nodiscard]] GRANARY_EXPORT NodeResources find_node_resources();

/// A warning if the process may run on fewer cores than its share of the node, as with mpirun's default binding.
[[nodiscard]] GRANARY_EXPORT std::optional<std::string> find_narrow_binding(NodeShare const& share,
                                                                            NodeResources const& resources);

}  // namespace granary
