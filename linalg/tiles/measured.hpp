// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/model/submitter.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>

#include <optional>
#include <vector>

namespace granary::tiles {

/// Measurements of a task on a tile that it changes: the largest modulus of the whole tile before, and of a part of it
/// after the change, each a datum of one double. An invalid id means no measurement.
struct GRANARY_EXPORT Measurement {
  detail::TileRef tile;
  DataId before;
  DataId after;
  MatrixPart after_part = MatrixPart::All;
};

/// Forwards tasks to another submitter, and lets some of them measure a tile while it is in their memory. Separate
/// tasks would load the tile again, and delay the measured tasks. A measuring task keeps its name, priority and
/// operations, and does not run as a finer graph. T: the tiles' elements, one of the four scalars.
template <class T>
class GRANARY_EXPORT MeasuringSubmitter final : public Submitter {
 public:
  explicit MeasuringSubmitter(Submitter& submitter) : m_submitter(submitter) {}

  /// The next task measures; one of its accesses writes the tile.
  void measure(Measurement const& measurement) { m_next = measurement; }

  detail::CodeletId add_codelet(detail::Codelet codelet) override;
  DataId add_data(detail::DataDescription description) override { return m_submitter.add_data(std::move(description)); }
  void release_data(DataId data) override { m_submitter.release_data(data); }
  void last_use(DataId data) override { m_submitter.last_use(data); }
  TaskId submit(TaskSubmission const& submission, detail::Parameters parameters) override;

 private:
  struct Known {
    detail::Codelet codelet;
    detail::CodeletId id;
    detail::CodeletId measuring;  // invalid until a task measures
  };

  Submitter& m_submitter;
  std::vector<Known> m_codelets;
  std::optional<Measurement> m_next;
};

}  // namespace granary::tiles
