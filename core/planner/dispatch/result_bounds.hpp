// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/planner/context.hpp>
#include <granary/detail/core/planner/dispatch/live_task.hpp>
#include <granary/detail/core/planner/movement/movement.hpp>

#include <exception>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace granary::detail {

/// The number of bytes that tasks may leave in the varying data that they write.
class GRANARY_EXPORT ResultBounds {
 public:
  ResultBounds(PlannerContext& context, Movement& movement) : m_context(context), m_movement(movement) {}

  /// See Planner::look_up_parameters.
  void look_up_parameters(std::function<void const*(TaskId)> look_up) { m_parameters = std::move(look_up); }
  /// True if the task accesses varying data.
  [[nodiscard]] bool concern(Task const& task) const { return m_movement.data().any_varies() && varies(task); }
  /// Tells the movement what the task may leave, at most. Its predecessors have ended, so the sizes of what it reads
  /// are known. False if its codelet throws instead of telling: the task is then cancelled, and `take_error` has the
  /// reason.
  [[nodiscard]] bool expect(LiveTask& task);
  /// Null if there is none.
  [[nodiscard]] std::exception_ptr take_error(TaskId task);
  /// The size of the task's first datum; 0 if there is none, or the task writes it.
  [[nodiscard]] Bytes bytes_read(Task const& task) const;

 private:
  [[nodiscard]] bool varies(Task const& task) const;

  PlannerContext& m_context;
  Movement& m_movement;
  std::function<void const*(TaskId)> m_parameters;
  std::vector<Bytes> m_bytes;  // scratch of `expect`
  std::unordered_map<TaskId, std::exception_ptr> m_errors;
};

}  // namespace granary::detail
