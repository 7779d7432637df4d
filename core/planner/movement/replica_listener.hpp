// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>

namespace granary::detail {

/// Is told of each change of a replica at once. It must not call the part of the planner that tells it.
class GRANARY_EXPORT ReplicaListener {
 public:
  virtual ~ReplicaListener() = default;
  /// The datum was allocated in the node's memory.
  virtual void allocated(DataId data, NodeId node) = 0;
  /// The replica on the node holds the current value.
  virtual void arrived(DataId data, NodeId node) = 0;
  /// The replica on the node is gone, or it is the datum's origin or home and outdated. `evicted`: to make room.
  virtual void dropped(DataId data, NodeId node, bool evicted) = 0;
  /// The datum is forgotten, its id free.
  virtual void forgotten(DataId data) = 0;
};

}  // namespace granary::detail
