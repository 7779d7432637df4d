// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/workloads/workload.hpp>

#include <cstdint>

namespace granary::workloads {

/// A random graph without layers: data of very different sizes, tasks that write one datum or two or update one in
/// place, and reads of recent results as well as of data from long ago. The same options produce the same graph.
///
/// Some data exist at the start and have a home. A quarter of the results are temporary; the others have a home.
///
/// ```cpp
/// #include <granary/workloads.hpp>
/// granary::workloads::RandomDag const dag({.tasks = 100, .inputs = 20, .seed = 7});
/// auto const graph = granary::workloads::TaskGraphFile::record(dag);
/// assert(graph.description().tasks.size() == 100);
/// assert(graph.description().data.size() >= 20);
/// ```
class GRANARY_EXPORT RandomDag final : public Workload {
 public:
  struct Options {
    std::uint64_t tasks = 576;
    std::uint64_t inputs = 144;    ///< data that exist at the start
    std::uint64_t most_reads = 4;  ///< a task reads 1 to this many data, and the one that it updates
    std::uint64_t recent = 32;     ///< every second read is of one of this many newest data
    Bytes bytes = Bytes{8} << 20;  ///< a datum has a quarter of this to four times this, each octave equally often
    double flops = 1e9;            ///< flops of a task: between 0.5 and 1.5 of this
    double updates = 0.3;          ///< fraction of the tasks that update a datum in place and have no other output
    std::uint64_t seed = 1;
    std::string variant = "d";  ///< Codelet::variant
  };

  /// Throws InvalidArgument if there are no tasks, inputs or reads, `recent` is 0, `bytes` is below 4, flops are
  /// negative, or `updates` is not from 0 to 1. Cost: linear in the accesses.
  explicit RandomDag(Options options);
  void submit(Submitter& submitter, DataHome home) const override;
  [[nodiscard]] std::string name() const override { return "random-dag"; }
  [[nodiscard]] Bytes working_set() const override { return m_working_set; }
  [[nodiscard]] double flops() const override { return m_flops; }

 private:
  template <class NewDatum, class NewTask>
  void draw(NewDatum&& new_datum, NewTask&& new_task) const;

  Options m_options;
  Bytes m_working_set = 0;
  double m_flops = 0;
};

}  // namespace granary::workloads
