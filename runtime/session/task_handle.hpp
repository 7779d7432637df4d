// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>

namespace granary {

namespace detail {
class Engine;
}  // namespace detail

/// A submitted task; Runtime::submit returns it. It may be copied and dropped at will. Use it while the Runtime lives.
///
/// ```cpp
/// struct Increment {
///   static constexpr bool launches_kokkos_kernels = false;
///   template <class Exec, class X>
///   void operator()(Exec const&, X x) const {
///     x() += 1;
///   }
/// };
/// granary::Runtime runtime;
/// auto const x = runtime.scalar("x", 0), y = runtime.scalar("y", 0);
/// granary::TaskHandle const task = runtime.submit("increment", Increment{}, read_write(x));
/// runtime.submit("increment", Increment{}, read_write(y));
/// task.wait();  // not for the other one
/// assert(task.done());
/// ```
class GRANARY_EXPORT TaskHandle {
 public:
  // Of no task, and of an engine's. For granary itself.
  TaskHandle() = default;
  TaskHandle(detail::Engine& engine, TaskId id) : m_engine(&engine), m_id(id) {}

  [[nodiscard]] TaskId id() const { return m_id; }
  /// True if the task has ended: it ran, failed or was cancelled.
  [[nodiscard]] bool done() const;
  /// Returns when the task has ended; values that it wrote need not be at home then (Runtime::wait). Rethrows the
  /// exception because of which the task failed or was cancelled, unless a Runtime::wait has reported that before; the
  /// next Runtime::wait reports it, too. Throws InvalidArgument inside a task of the same Runtime.
  void wait() const;

 private:
  detail::Engine* m_engine = nullptr;
  TaskId m_id;
};

}  // namespace granary
