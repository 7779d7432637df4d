// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/workloads/workload.hpp>

#include <cstdint>

namespace granary::workloads {

/// A random graph in layers: each task writes its own datum, which has a home, and reads data of the previous layer.
/// The same options produce the same graph.
///
/// ```cpp
/// #include <granary/workloads.hpp>
/// granary::workloads::RandomLayers const layers({.layers = 10, .width = 20, .seed = 7});
/// auto const graph = granary::workloads::TaskGraphFile::record(layers);
/// assert(graph.description().tasks.size() == 200);
/// graph.write("random.json");  // for granary-simulate --algorithm graph
/// ```
class GRANARY_EXPORT RandomLayers final : public Workload {
 public:
  struct Options {
    std::uint64_t layers = 16;
    std::uint64_t width = 32;      ///< tasks of a layer
    std::uint64_t most_reads = 4;  ///< a task reads 1 to this many data
    Bytes bytes = Bytes{8} << 20;  ///< bytes of a datum: between 0.5 and 1.5 of this
    double flops = 1e9;            ///< flops of a task: likewise
    double cpu_only = 0;           ///< fraction of the tasks that run only on CPUs
    std::uint64_t seed = 1;
    std::string variant = "d";  ///< Codelet::variant
  };

  /// Throws InvalidArgument if `layers`, `width`, `most_reads` or `bytes` is 0, `flops` is negative, or `cpu_only` is
  /// not in [0, 1].
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

}  // namespace granary::workloads
