// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/engine/model_file.hpp>
#include <granary/core/model/estimator.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// Classes of tasks by their flops, eight to a doubling and none wider than 12.5 %: tiles of a cubic operation whose
/// orders differ by 4 % are told apart. Class 0 is that of tasks without stated flops.
class SizeClass {
 public:
  static SizeClass of(double flops);
  /// The fewest flops of the class; 0 for class 0.
  [[nodiscard]] double least_flops() const;
  auto operator<=>(SizeClass const&) const = default;

 private:
  explicit SizeClass(std::uint32_t index) : m_index(index) {}
  std::uint32_t m_index;
};

/// Believes what was measured, in this process and in others before it: per codelet (name and variant), kind of worker
/// and size class one robust mean.
///
/// Each measurement counts as the median of the last three of its class, and as at most four times and at least a
/// quarter of what was believed; its weight is 1/n, and 1/16 from the 16th on, so that beliefs follow a machine that
/// changes. The first run of a codelet on a kind of worker in a process is its warm-up: it is believed only while
/// nothing else is known. Between measured classes the time per flop is interpolated linearly (over the logarithm of
/// the flops), outside them it is that of the nearest; before any measurement it is that of a stated speed.
class PerformanceModels final : public Estimator {
 public:
  struct Prior {
    std::array<double, worker_kinds> flops_per_second = {1e10, 1e12};  // a core, a device
    Duration without_flops = std::chrono::microseconds(10);
  };

  explicit PerformanceModels(std::vector<KernelModel> const& known = {}) : PerformanceModels(known, Prior()) {}
  PerformanceModels(std::vector<KernelModel> const& known, Prior const& prior);

  [[nodiscard]] Duration kernel_time(CodeletId codelet, double flops, WorkerKind kind) const override;
  /// ~20 ns. Measurements below 1 ns count as 1 ns; those of a codelet that was never added are not kept.
  void observe_kernel(CodeletId codelet, double flops, WorkerKind kind, Duration measured) override;
  void codelet_added(CodeletId id, Codelet const& codelet) override;
  [[nodiscard]] std::unique_ptr<Estimator> copy() const override { return std::make_unique<PerformanceModels>(*this); }

  /// Whether anything was measured since this began.
  [[nodiscard]] bool changed() const { return m_changed; }
  /// What is believed of codelets with a name, in the order of name, variant, kind and class.
  [[nodiscard]] std::vector<KernelModel> learnt() const;
  /// Enters what was measured since this began into models that others may have changed in the meantime: where they
  /// did, both means count by their number of samples, of which at most 16 each.
  void merge_into(std::vector<KernelModel>& stored) const;

 private:
  struct Known {  // of one size class
    SizeClass size;
    double mean = 0;            // seconds per flop, or seconds in class 0
    std::uint64_t samples = 0;  // 0: only a warm-up is known
    double first_mean = 0;      // when this began; 0: not known then
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

}  // namespace granary

#pragma GCC visibility pop
