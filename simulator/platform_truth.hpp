// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/model/estimator.hpp>
#include <granary/detail/simulator/ground_truth.hpp>
#include <granary/detail/simulator/platform.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace granary {

/// The kernel times of a platform. A codelet's variant "s", "d", "c" or "z" is its precision; codelets without one
/// have the default. Codelets that the platform names run on the workers for which it has times, independently of their
/// kernels. Others run on workers for which they have kernels, at the default speed of the worker's model.
///
/// ```cpp
/// auto const platform = granary::Platform::find("v100x1");
/// granary::PlatformTruth const truth(platform, {.jitter = 0.05});        // the times of kernels vary by 5 %
/// granary::PlatformEstimator const estimator(platform, {.error = 0.2});  // policies misjudge them by 20 %
/// granary::Codelet const gemm{.name = "gemm", .variant = "d"};
/// assert(truth.runs_on(gemm, granary::WorkerKind::Device) && !truth.runs_on(gemm,
/// granary::WorkerKind::Cpu));
/// ```
class GRANARY_EXPORT PlatformTruth final : public GroundTruth {
 public:
  struct Options {
    detail::Precision precision = detail::Precision::Single;  ///< for codelets without a variant
    std::optional<double> jitter{};                           ///< in [0, 1), instead of the platform's
    std::uint64_t seed = 0;                                   ///< of the jitter: one draw per task
    /// In [0, 1): all times of a codelet on a kind of worker are multiplied by a factor from [1 - error, 1 + error).
    /// The policies' estimates, by a PlatformEstimator, keep the platform's times.
    double error = 0;
    std::uint64_t error_seed = 0;  ///< of these factors
    double scale = 1;              ///< multiplies all times; positive
  };

  /// The platform must outlive the truth. Throws InvalidArgument when the jitter, the error or the scale is out of
  /// range.
  explicit PlatformTruth(Platform const& platform) : PlatformTruth(platform, Options{}) {}
  PlatformTruth(Platform const& platform, Options options);
  /// Throws InvalidArgument when the platform states no time for it.
  [[nodiscard]] Duration kernel_time(Task const& task, detail::Codelet const& codelet,
                                     detail::Worker const& worker) const override;
  [[nodiscard]] bool runs_on(detail::Codelet const& codelet, detail::WorkerKind kind) const override;
  [[nodiscard]] double processor_share(Task const& task, detail::Codelet const& codelet,
                                       detail::Worker const& worker) const override;
  /// The factor on the times of the codelet on this kind of worker, apart from jitter.
  [[nodiscard]] double factor(detail::Codelet const& codelet, detail::WorkerKind kind) const;

 private:
  Platform const& m_platform;
  Options m_options;
};

/// A policy's estimates for a platform: the times of a kind's models, averaged over its workers, times a random factor
/// per codelet and kind from [1 - error, 1 + error]. Measurements do not change them. Workers that share a device are
/// expected to run the same kernel at once.
class GRANARY_EXPORT PlatformEstimator final : public Estimator {
 public:
  struct Options {
    detail::Precision precision = detail::Precision::Single;  ///< for codelets without a variant
    double error = 0;                                         ///< in [0, 1)
    std::uint64_t seed = 0;                                   ///< of the factors
  };

  /// The platform must outlive the estimator. Throws InvalidArgument when the error is out of range.
  explicit PlatformEstimator(Platform const& platform) : PlatformEstimator(platform, Options{}) {}
  PlatformEstimator(Platform const& platform, Options options);
  void codelet_added(detail::CodeletId id, detail::Codelet const& codelet) override;
  [[nodiscard]] Duration kernel_time(detail::CodeletId codelet, double flops, detail::WorkerKind kind) const override;
  void observe_kernel(detail::CodeletId, double, detail::WorkerKind, Duration) override {}

 private:
  struct Share {
    detail::KernelTimes times;
    double weight;    // the share of the kind's workers with these times, times the factor
    double together;  // workers that share the device with it, itself included
  };
  using Shares = std::vector<Share>;

  [[nodiscard]] std::vector<std::uint32_t> sharing() const;

  Platform const& m_platform;
  Options m_options;
  std::vector<std::array<Shares, detail::worker_kinds>> m_shares;  // by codelet
};

/// The precision of a codelet's variant, or `otherwise` if it names none.
[[nodiscard]] GRANARY_EXPORT detail::Precision precision_of(detail::Codelet const& codelet,
                                                            detail::Precision otherwise);

}  // namespace granary
