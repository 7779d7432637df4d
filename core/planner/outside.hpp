// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/planner/command.hpp>
#include <granary/detail/core/planner/failure.hpp>

namespace granary::detail {

/// Performs those commands of a planner that concern other processes. A driver calls it while it performs commands:
/// what follows reaches the planner later.
class GRANARY_EXPORT OutsideCommands {
 public:
  virtual ~OutsideCommands() = default;

  /// A stub (Codelet::stub) was submitted; no command that concerns it was performed yet.
  virtual void submitted(TaskId task) = 0;
  virtual void begin(BeginCommand const& command) = 0;
  /// A copy from the node of the other processes.
  virtual void receive(CopyCommand const& command) = 0;
  virtual void ship(ShipCommand const& command) = 0;
  /// Also of tasks that are not external. `failure`: why the task failed or did not run; null if it ran.
  virtual void retire(RetireCommand const& command, Failure const* failure) = 0;
  /// Also of data of this process.
  virtual void forget(ForgetCommand const& command) = 0;
};

}  // namespace granary::detail
