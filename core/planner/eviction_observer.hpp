// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/ids.hpp>
#include <granary/core/model/trace.hpp>

#pragma GCC visibility push(default)

namespace granary {

/// Called for each eviction when it is decided, from inside the planner: must be quick, and must not call it.
class EvictionObserver {
 public:
  virtual ~EvictionObserver() = default;
  /// `written_back`: this is the only copy of the value, so it is written back before the replica is dropped.
  virtual void evicted(DataId data, NodeId node, EvictionReason reason, bool written_back) = 0;
};

}  // namespace granary

#pragma GCC visibility pop
