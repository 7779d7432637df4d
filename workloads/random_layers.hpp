// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/workloads/workload.hpp>

#include <cstdint>

#pragma GCC visibility push(default)

namespace granary {

/// A random graph in layers: each task writes a datum of its own, which is home in the end, and reads data of the layer
/// before. The same options give the same graph.
class RandomLayers final : public Workload {
 public:
  struct Options {
    std::uint64_t layers = 16;
    std::uint64_t width = 32;      ///< tasks of a layer
    std::uint64_t most_reads = 4;  ///< a task reads 1 to so many
    Bytes bytes = Bytes{8} << 20;  ///< of a datum: between half and one and a half of this
    double flops = 1e9;            ///< of a task: likewise
    double cpu_only = 0;           ///< the part of the tasks that run on CPUs alone
    std::uint64_t seed = 1;
    std::string variant = "d";  ///< Codelet::variant
  };

  /// Throws InvalidArgument when a number is 0, negative or, for the part, above 1.
  explicit RandomLayers(Options options);
  void submit(Submitter& submitter, DataHome home) const override;
  [[nodiscard]] std::string name() const override { return "random"; }
  [[nodiscard]] Bytes working_set() const override { return m_working_set; }
  [[nodiscard]] double flops() const override { return m_flops; }

 private:
  template <class Visit>
  void draw(Visit&& visit) const;

  Options m_options;
  Bytes m_working_set = 0;
  double m_flops = 0;
};

}  // namespace granary

#pragma GCC visibility pop
