// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/access.hpp>
#include <granary/detail/core/model/codelet.hpp>
#include <granary/detail/core/model/data.hpp>
#include <granary/detail/core/model/machine.hpp>
#include <granary/detail/core/model/task.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>

namespace granary {

/// The actual run times and results of kernels in a simulation. Policies never see them: they use an Estimator.
class GRANARY_EXPORT GroundTruth {
 public:
  virtual ~GroundTruth() = default;
  /// The duration of the task on the worker; not negative. Must depend only on its arguments, so that runs are
  /// reproducible.
  [[nodiscard]] virtual Duration kernel_time(Task const& task, detail::Codelet const& codelet,
                                             detail::Worker const& worker) const = 0;
  /// True if workers of this kind run the codelet. It may differ from the codelet's kernels, which a simulation never
  /// calls.
  [[nodiscard]] virtual bool runs_on(detail::Codelet const& codelet, detail::WorkerKind kind) const {
    return codelet.runs_on(kind);
  }
  /// Workers of one memory node may share a processor: docs/platforms.md. The part of it, up to 1, that the task uses
  /// while it runs alone; 0: the worker has a processor of its own.
  [[nodiscard]] virtual double processor_share(Task const&, detail::Codelet const&, detail::Worker const&) const {
    return 0;
  }
  /// The bytes of the value that the task makes of a varying datum, at most `room`. Must depend only on its arguments.
  [[nodiscard]] virtual Bytes value_bytes(Task const& /*task*/, detail::Access const& /*written*/,
                                          detail::DataDescription const&, Bytes room) const {
    return room;
  }

 protected:
  /// The task's factor in [1 - jitter, 1 + jitter), independent of the order in which tasks run.
  [[nodiscard]] static double jitter_factor(TaskId task, double jitter, std::uint64_t seed);
};

namespace detail {

/// Kernels with constant speeds, and a relative jitter that depends on the task's number and a seed.
class GRANARY_EXPORT ConstantSpeeds final : public GroundTruth {
 public:
  struct Options {
    /// Seconds per floating-point operation, by kind of worker, for codelets that `codelets` does not name.
    std::array<double, worker_kinds> seconds_per_flop{1e-10, 1e-12};
    /// Overrides for single codelets, by name.
    std::map<std::string, std::array<double, worker_kinds>, std::less<>> codelets;
    /// The duration of tasks with 0 flops.
    Duration without_flops = std::chrono::microseconds(10);
    double jitter = 0;  ///< in [0, 1): each duration is multiplied by a factor in [1 - jitter, 1 + jitter)
    std::uint64_t seed = 0;
  };

  ConstantSpeeds() = default;
  /// Throws InvalidArgument when a speed or the jitter is out of range.
  explicit ConstantSpeeds(Options options);
  [[nodiscard]] Duration kernel_time(Task const& task, Codelet const& codelet, Worker const& worker) const override;

 private:
  Options m_options;
};

}  // namespace detail

}  // namespace granary
