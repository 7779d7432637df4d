// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/ids.hpp>

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace granary::detail {

class Engine;

/// The tasks of external codelets that have begun: a thread asks again and again whether what they stand for has ended.
class OutsideWork {
 public:
  /// The parameters of such a task: whether it has ended, asked from its beginning on; what it throws fails the task.
  using Ended = std::function<bool()>;

  /// `report` takes the outcome of a task, null on success, on the thread that asks, which works for the engine
  /// (EngineScope).
  OutsideWork(Engine const& engine, std::function<void(TaskId, std::exception_ptr)> report)
      : m_engine(engine), m_report(std::move(report)) {}
  ~OutsideWork();
  OutsideWork(OutsideWork const&) = delete;
  OutsideWork& operator=(OutsideWork const&) = delete;

  // Under the planner's lock.

  /// Starts the thread unless it runs. Throws Error if the system refuses.
  void expect();
  /// `ended` exists until the task's end was reported.
  void begin(TaskId task, Ended const& ended);

 private:
  struct Begun {
    TaskId task;
    Ended const* ended;
  };
  void run();
  [[nodiscard]] bool report_end(Begun const& begun) const;

  Engine const& m_engine;
  std::function<void(TaskId, std::exception_ptr)> const m_report;
  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::vector<Begun> m_new;  // not seen by the thread yet
  bool m_stopping = false;
  std::thread m_thread;
};

}  // namespace granary::detail
