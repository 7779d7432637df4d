// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/model/submitter.hpp>
#include <granary/linalg/tiled_matrix.hpp>

#include <optional>
#include <vector>

#pragma GCC visibility push(default)

namespace granary::tiles {

/// What a task measures on a tile that it changes: the largest modulus of all of it before and of a part of it after
/// the change, each a datum of a double; where an id is invalid, nothing.
struct Measurement {
  TileRef tile;
  DataId before;
  DataId after;
  MatrixPart after_part = MatrixPart::All;
};

/// Hands tasks on to another submitter, and has some of them measure a tile while they have it in memory: tasks of
/// their own would bring it there once more, and hold up the ones that they measure for. A task that measures keeps its
/// name, its priority and its operations, and does not run as a finer graph. T: of the tiles' elements, one of the four
/// scalars.
template <class T>
class MeasuringSubmitter final : public Submitter {
 public:
  explicit MeasuringSubmitter(Submitter& submitter) : m_submitter(submitter) {}

  /// The next task measures; one of its accesses writes the tile.
  void measure(Measurement const& measurement) { m_next = measurement; }

  CodeletId add_codelet(Codelet codelet) override;
  DataId add_data(DataDescription description) override { return m_submitter.add_data(std::move(description)); }
  void release_data(DataId data) override { m_submitter.release_data(data); }
  TaskId submit(TaskSubmission const& submission, Parameters parameters) override;

 private:
  struct Known {
    Codelet codelet;
    CodeletId id;
    CodeletId measuring;  // invalid until a task measures
  };

  Submitter& m_submitter;
  std::vector<Known> m_codelets;
  std::optional<Measurement> m_next;
};

}  // namespace granary::tiles

#pragma GCC visibility pop
