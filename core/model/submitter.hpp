// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/ids.hpp>
#include <granary/core/model/access.hpp>
#include <granary/core/model/codelet.hpp>
#include <granary/core/model/data.hpp>
#include <granary/core/model/parameters.hpp>
#include <granary/core/model/task_index.hpp>

#include <cstdint>
#include <initializer_list>
#include <span>

#pragma GCC visibility push(default)

namespace granary {

/// A task as it is submitted.
struct TaskSubmission {
  CodeletId codelet;
  std::span<Access const> accesses;
  std::int64_t priority = 0;   ///< larger is more urgent
  double flops = 0;            ///< floating-point operations, for estimates; 0 when unknown
  TaskIndex index = no_index;  ///< for traces
};

/// What algorithms emit to; an engine or a simulator stands behind it. Dependencies follow from the accesses in the
/// order of submission: a task sees what the last task before it that writes a datum left there.
class Submitter {
 public:
  virtual ~Submitter() = default;

  virtual CodeletId add_codelet(Codelet codelet) = 0;
  /// Throws InvalidArgument for a datum without bytes.
  virtual DataId add_data(DataDescription description) = 0;
  /// Gives the datum up once the tasks submitted so far have used it; its value goes to its home first if it has one.
  virtual void release_data(DataId data) = 0;
  /// Throws MemoryLimitError when the task's data fit on no node whose workers can run it, InvalidArgument when a datum
  /// or codelet is unknown, no worker can run the codelet, or a datum is read that has no value: nobody has written it,
  /// or an earlier failure, which was reported, poisoned it. A task that only writes the datum gives it a value again.
  virtual TaskId submit(TaskSubmission const& submission, Parameters parameters) = 0;
};

}  // namespace granary

#pragma GCC visibility pop
