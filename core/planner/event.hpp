// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/ids.hpp>
#include <granary/core/base/units.hpp>
#include <granary/core/model/access.hpp>
#include <granary/core/model/codelet.hpp>
#include <granary/core/model/data.hpp>

#include <cstdint>
#include <exception>
#include <variant>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

struct AddCodelet {
  Codelet codelet;
};
struct AddData {
  DataDescription description;
};
/// The datum needs one more release.
struct RetainData {
  DataId data;
};
struct ReleaseData {
  DataId data;
};
struct SubmitTask {
  CodeletId codelet;
  std::vector<Access> accesses;
  std::int64_t priority = 0;
  double flops = 0;
};
struct CopyDone {
  TransferId transfer;
};
struct CopyFailed {
  TransferId transfer;
  std::exception_ptr error;
};
struct TaskDone {
  TaskId task;
  Duration duration{0};  ///< measured; the estimator learns from it
};
struct TaskFailed {
  TaskId task;
  std::exception_ptr error;
};
/// It followed a task that failed or was skipped, and did not start.
struct TaskSkipped {
  TaskId task;
};
/// Write the present values to the homes: of one datum, or of all.
struct FlushHomes {
  DataId data = {};  ///< invalid: all
};
/// Cancel every task that was not handed to a worker, with this error as the failure.
struct CancelAll {
  std::exception_ptr error;
};
/// The failures were reported: clear them.
struct ClearFailures {};

/// All inputs of a planner; a journal is a list of these.
using Event = std::variant<AddCodelet, AddData, ReleaseData, SubmitTask, CopyDone, CopyFailed, TaskDone, TaskFailed,
                           TaskSkipped, FlushHomes, CancelAll, ClearFailures, RetainData>;

}  // namespace granary

#pragma GCC visibility pop
