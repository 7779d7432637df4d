// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/export.hpp>
#include <granary/core/base/ids.hpp>
#include <granary/core/base/units.hpp>
#include <granary/core/model/submitter.hpp>

#include <cstdint>
#include <string>

namespace granary {

/// The origin and home of a workload's data.
struct GRANARY_EXPORT DataHome {
  NodeId node;
  bool in_place = false;  ///< workers on the node use the data in place: see DataDescription
};

/// A graph of tasks to schedule: tiled algorithms, stencils, trees, graphs from files. It emits the same tasks each
/// time.
class GRANARY_EXPORT Workload {
 public:
  virtual ~Workload() = default;
  /// Registers data and codelets and submits all tasks, in the workload's order.
  virtual void submit(Submitter& submitter, DataHome home) const = 0;
  [[nodiscard]] virtual std::string name() const = 0;
  /// Bytes of the data that have a home.
  [[nodiscard]] virtual Bytes working_set() const = 0;
  /// Floating-point operations of all tasks.
  [[nodiscard]] virtual double flops() const = 0;
};

}  // namespace granary
