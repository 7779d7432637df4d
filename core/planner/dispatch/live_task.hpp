// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/model/task_graph.hpp>

namespace granary::detail {

/// A task that has not ended, and how far it has come.
struct LiveTask : Task {
  [[no_unique_address]] Assignment assignment;
  bool cancelled = false;  ///< will not run: it depends on a failure, or the run was cancelled
};

using LiveTasks = BasicTaskGraph<LiveTask>;

}  // namespace granary::detail
