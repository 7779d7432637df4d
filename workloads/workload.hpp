// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/submitter.hpp>

#include <cstdint>
#include <string>

namespace granary::workloads {

/// The origin and home of a workload's data.
struct GRANARY_EXPORT DataHome {
  NodeId node;
  bool in_place = false;  ///< workers on the node use the data in place: see DataDescription
};

/// A graph of tasks to schedule: tiled algorithms, stencils, trees, graphs from files. It emits the same tasks each
/// time.
///
/// ```cpp
/// #include <granary/workloads.hpp>
/// struct Chain : granary::workloads::Workload {  // ten tasks, one after the other
///   void submit(granary::Submitter& to, granary::workloads::DataHome home) const override {
///     auto const gemm = to.add_codelet({.name = "gemm", .variant = "d"});
///     auto const x = to.add_data({.name = "x", .bytes = working_set(), .origin = home.node, .home = home.node,
///                                 .origin_is_home = true, .in_place = home.in_place});
///     granary::Access const changes_x[] = {{x, granary::AccessMode::ReadWrite}};
///     for (int i = 0; i < 10; ++i) to.submit({.codelet = gemm, .accesses = changes_x, .flops = 1e9}, {});
///   }
///   std::string name() const override { return "chain"; }
///   granary::Bytes working_set() const override { return 8'000'000; }
///   double flops() const override { return 1e10; }
/// };
/// assert(granary::workloads::TaskGraphFile::record(Chain()).description().tasks.size() == 10);
/// ```
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
  /// The bytes of a value of a varying datum, which is the `version`-th, from 1; 0: as many as there is room for.
  [[nodiscard]] virtual Bytes value_bytes(detail::MatrixPosition /*datum*/, std::uint32_t /*version*/) const {
    return 0;
  }
};

}  // namespace granary::workloads
