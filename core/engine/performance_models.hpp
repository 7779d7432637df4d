// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/engine/model_file.hpp>
#include <granary/detail/core/model/estimator.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace granary::detail {

/// Classes of tasks by their flops, eight per factor of two and none wider than 12.5 %: tiles of a cubic operation
/// whose sizes differ by 4 % are in different classes. Class 0 holds tasks without stated flops.
class GRANARY_EXPORT SizeClass {
 public:
  static SizeClass of(double flops);
  /// The lower bound of the class; 0 for class 0.
  [[nodiscard]] double least_flops() const;
  auto operator<=>(SizeClass const&) const = default;

 private:
  explicit SizeClass(std::uint32_t index) : m_index(index) {}
  std::uint32_t m_index;
};

/// Predicts from measurements of this process and earlier ones: one robust mean per codelet (name and variant), kind of
/// worker and size class.
///
/// The mean of a new class is its first measurement, then the smaller of the first two, then the median of the first
/// three. From then on each measurement is replaced by the median of the last three, clamped to between a quarter and
/// four times the mean, and weighted by 1/n, by 1/16 from the 16th on, so that the mean follows a machine that changes.
/// The first run of a codelet on a kind of worker in a process is a warm-up: it counts only while nothing else is
/// known.
///
/// Between measured classes the time per flop is interpolated linearly (over the logarithm of the flops); outside them
/// the nearest class counts. Before any measurement of a codelet, the known times of its kernel alone (variant
/// `<variant> alone`) are assumed; otherwise a given speed.
class GRANARY_EXPORT PerformanceModels final : public Estimator {
 public:
  struct Prior {
    std::array<double, worker_kinds> flops_per_second = {1e10, 1e12};  // a core, a device
    Duration without_flops = std::chrono::microseconds(10);
  };

  explicit PerformanceModels(std::vector<KernelModel> const& known = {}) : PerformanceModels(known, Prior()) {}
  PerformanceModels(std::vector<KernelModel> const& known, Prior const& prior);

  [[nodiscard]] Duration kernel_time(CodeletId codelet, double flops, WorkerKind kind) const override;
  [[nodiscard]] bool measured(CodeletId codelet, WorkerKind kind) const override;
  /// ~20 ns. Measurements below 1 ns count as 1 ns; unknown codelets are ignored.
  void observe_kernel(CodeletId codelet, double flops, WorkerKind kind, Duration measured) override;
  void codelet_added(CodeletId id, Codelet const& codelet) override;
  [[nodiscard]] std::unique_ptr<Estimator> copy() const override { return std::make_unique<PerformanceModels>(*this); }

  /// True if anything was measured since construction.
  [[nodiscard]] bool changed() const { return m_changed; }
  /// The models of codelets with a name, in the order of name, variant, kind and class.
  [[nodiscard]] std::vector<KernelModel> learnt() const;
  /// Merges the measurements since construction into models that other processes may have changed meanwhile. If they
  /// did, both means are weighted by their number of samples, at most 16 each.
  void merge_into(std::vector<KernelModel>& stored) const;

 private:
  struct Known {  // of one size class
    SizeClass size;
    double mean = 0;            // seconds per flop, or seconds in class 0
    std::uint64_t samples = 0;  // 0: only a warm-up is known
    double first_mean = 0;      // at construction; 0: not known then
    std::uint64_t first_samples = 0;
    std::array<double, 2> recent{};  // the last measurements, newest first
    std::uint32_t recents = 0;
    bool changed = false;
  };
  struct Model {
    std::vector<Known> classes;  // ascending
    bool warm = false;
  };
  using Name = std::pair<std::string, std::string>;  // name, variant
  using Models = std::array<Model, worker_kinds>;

  static void learn(Known& known, double measured);
  [[nodiscard]] static double per_flop(std::vector<Known> const& classes, double flops);
  static std::vector<Known>::iterator find(std::vector<Known>& classes, SizeClass size);
  std::uint32_t models_of(Name const& name);
  [[nodiscard]] static KernelModel describe(Name const& name, std::size_t kind, Known const& known);

  Prior m_prior;
  std::vector<Models> m_models;
  std::map<Name, std::uint32_t> m_names;  // to m_models
  std::vector<std::uint32_t> m_of;        // by codelet, to m_models
  bool m_changed = false;
};

}  // namespace granary::detail
