// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/model/graph_recorder.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>
#include <granary/detail/linalg/residuals/residual.hpp>

#include <cstdint>
#include <vector>

namespace granary::app {

/// Memory that the largest tasks of an algorithm need.
struct MemoryNeed {
  Bytes host = 0;    ///< the largest task's data in host memory, without those used in place
  Bytes device = 0;  ///< the same in device memory, where nothing is used in place
  Bytes datum = 0;   ///< the largest datum, in host memory

  void cover(MemoryNeed const& other);
};

/// A submitter that runs nothing. It counts an algorithm's tasks and computes the memory of its largest tasks:
/// emit to it before the run. It keeps 16 bytes per datum and nothing per task; about 20 ns per task.
class DryRun final : public Submitter {
 public:
  DryRun() = default;
  /// Also records the tasks. The graph must be empty, and outlive this.
  explicit DryRun(detail::GraphRecorder& graph) : m_graph(&graph) {}
  detail::CodeletId add_codelet(detail::Codelet codelet) override;
  DataId add_data(detail::DataDescription description) override;
  void release_data(DataId) override {}
  TaskId submit(TaskSubmission const& submission, detail::Parameters parameters) override;

  /// A matrix whose tiles count against the limit.
  template <class T>
  [[nodiscard]] detail::TiledMatrix<T> matrix(detail::TileGrid grid, MatrixPart part) {
    return make_temporary_matrix<T>(*this, grid, part, "");
  }
  /// A datum in the program's own memory, which does not count against the limit.
  [[nodiscard]] DataId in_place(Bytes bytes) { return add_data({.bytes = bytes, .in_place = true}); }

  /// Numbers for the result of a check.
  [[nodiscard]] detail::ResidualData residual_data() { return {.residual = in_place(8), .norm = in_place(8)}; }
  /// The same for a solution with these tiles, with numbers for each column.
  [[nodiscard]] detail::ResidualData residual_data(detail::TileGrid const& columns) {
    auto data = residual_data();
    for (std::uint64_t j = 0; j < columns.tile_cols(); ++j) data.columns.push_back(in_place(8 * columns.cols_in(j)));
    return data;
  }

  [[nodiscard]] std::uint64_t tasks() const { return m_tasks; }
  [[nodiscard]] MemoryNeed const& need() const { return m_need; }

 private:
  struct Datum {
    Bytes host;  // 0: used in place
    Bytes device;
  };
  detail::GraphRecorder* m_graph = nullptr;  // assigns the same ids
  std::vector<Datum> m_data;
  std::uint32_t m_codelets = 0;
  std::uint64_t m_tasks = 0;
  MemoryNeed m_need;
};

}  // namespace granary::app
