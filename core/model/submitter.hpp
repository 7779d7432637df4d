// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/model/access.hpp>
#include <granary/detail/core/model/codelet.hpp>
#include <granary/detail/core/model/data.hpp>
#include <granary/detail/core/model/parameters.hpp>

#include <cstdint>
#include <initializer_list>
#include <span>

namespace granary {

/// A task as it is submitted.
struct GRANARY_EXPORT TaskSubmission {
  detail::CodeletId codelet;
  std::span<detail::Access const> accesses;
  std::int64_t priority = 0;                   ///< larger is more urgent
  double flops = 0;                            ///< floating-point operations, for estimates; 0 when unknown
  detail::TaskIndex index = detail::no_index;  ///< for traces
  /// Its number in the order of submission, larger than those before; `next_position`: the one after the last. Gaps
  /// are left by whoever submits only some tasks of a common order. External tasks may have the number of the task that
  /// follows them.
  std::uint64_t position = next_position;
  SourceLine source_line = {};  ///< of the application; none: an algorithm submits it

  static constexpr std::uint64_t next_position = 0xffffffffffffffffU;
};

/// The interface to which algorithms submit tasks; an engine or a simulator implements it. Dependencies follow from the
/// accesses in the order of submission: a task reads the value of the last earlier task that writes the datum.
class GRANARY_EXPORT Submitter {
 public:
  virtual ~Submitter() = default;

  virtual detail::CodeletId add_codelet(detail::Codelet codelet) = 0;
  /// Throws InvalidArgument for a datum without bytes.
  virtual DataId add_data(detail::DataDescription description) = 0;
  /// Releases the datum after the tasks submitted so far have used it; if it has a home, its value is written there
  /// first.
  virtual void release_data(DataId data) = 0;
  /// Throws MemoryLimitError when the task's data fit on no node whose workers can run it. Throws InvalidArgument when
  /// a datum or codelet is unknown, no worker can run the codelet, or the task reads a datum that has no value: no task
  /// has written it, or an earlier, already reported failure has poisoned it. A task that only writes the datum gives
  /// it a value again.
  virtual TaskId submit(TaskSubmission const& submission, detail::Parameters parameters) = 0;
  /// A hint: no task that is submitted from now on reads the datum before one writes it. Processes that hold a copy of
  /// the value of another one let go of it after their tasks; with one process, nothing happens.
  virtual void last_use(DataId) {}
};

}  // namespace granary
