// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/ids.hpp>
#include <granary/core/model/trace.hpp>

#pragma GCC visibility push(default)

namespace granary {

/// Is told of each eviction when it is decided, from inside the planner: must be quick, and must not call it.
class EvictionObserver {
 public:
  virtual ~EvictionObserver() = default;
  /// `written_back`: the value is nowhere else, so that the replica goes only once it has been copied.
  virtual void evicted(DataId data, NodeId node, EvictionReason reason, bool written_back) = 0;
};

}  // namespace granary

#pragma GCC visibility pop
