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
/// Is released once more than before.
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
/// Bring every home up to date.
struct FlushHomes {};
/// Run nothing more: every task that was not handed to a worker is cancelled, with this error as the failure.
struct CancelAll {
  std::exception_ptr error;
};
/// The failures were reported: start clean.
struct ClearFailures {};

/// Everything that a planner is ever told; a journal is a list of these.
using Event = std::variant<AddCodelet, AddData, ReleaseData, SubmitTask, CopyDone, CopyFailed, TaskDone, TaskFailed,
                           TaskSkipped, FlushHomes, CancelAll, ClearFailures, RetainData>;

}  // namespace granary

#pragma GCC visibility pop
