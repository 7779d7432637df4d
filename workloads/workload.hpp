// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/ids.hpp>
#include <granary/core/base/units.hpp>
#include <granary/core/model/submitter.hpp>

#include <cstdint>
#include <string>

#pragma GCC visibility push(default)

namespace granary {

/// Where a workload's data start and end.
struct DataHome {
  NodeId node;
  bool in_place = false;  ///< workers on the node use the data where they are: see DataDescription
};

/// A graph of tasks to schedule: tiled algorithms, stencils, trees, graphs from files. Emits the same tasks each time.
class Workload {
 public:
  virtual ~Workload() = default;
  /// Registers data and codelets and submits all tasks, in the workload's stated order.
  virtual void submit(Submitter& submitter, DataHome home) const = 0;
  [[nodiscard]] virtual std::string name() const = 0;
  /// Bytes of the data that have a home.
  [[nodiscard]] virtual Bytes working_set() const = 0;
  /// Floating-point operations of all tasks.
  [[nodiscard]] virtual double flops() const = 0;
};

}  // namespace granary

#pragma GCC visibility pop
