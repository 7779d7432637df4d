// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/engine/backend.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace granary::test {

using namespace detail;

/// Lanes that log their calls. A launch ends when the test ends it, or immediately; then its kernel runs on the calling
/// thread. The parameters of its tasks are an int, the task's number.
class FakeLaunches final : public LaunchBackend {
 public:
  struct Refused : std::runtime_error {
    using std::runtime_error::runtime_error;
  };

  explicit FakeLaunches(std::size_t most = 2) : m_most(most) {}

  [[nodiscard]] Kernel kernel_of(Codelet const& codelet) const override { return codelet.kernels[1]; }
  void enter(WorkerId worker) override {
    std::lock_guard const lock(m_mutex);
    if (worker.index() >= m_lanes.size()) m_lanes.resize(worker.index() + 1);
    ++m_entered;
    if (refuses_to_enter) throw Refused("no lane");
  }
  void leave(WorkerId) noexcept override {
    std::lock_guard const lock(m_mutex);
    --m_entered;
  }
  void launch(WorkerId worker, Kernel kernel, KernelCall const& call, bool) override {
    std::lock_guard const lock(m_mutex);
    auto const number = *static_cast<int const*>(call.parameters);
    if (refused.contains(number)) throw Refused("task " + std::to_string(number) + " is refused");
    auto& lane = m_lanes[worker.index()];
    m_log.emplace_back(worker.index(), number);
    lane.push_back({number, kernel, call, {}, {}, false});
    m_most_seen = std::max(m_most_seen, lane.size());
    if (ends_at_once) run(lane.back());
    m_changed.notify_all();
  }
  [[nodiscard]] std::size_t most_launches() const override { return m_most; }
  [[nodiscard]] std::optional<LaunchEnd> poll(WorkerId worker) override {
    std::lock_guard const lock(m_mutex);
    ++m_polls;
    auto& lane = m_lanes[worker.index()];
    if (lane.empty() || !lane.front().ended) return std::nullopt;
    m_report = lane.front().report;
    LaunchEnd end{.duration = std::chrono::microseconds(1), .error = lane.front().error, .report = &m_report};
    lane.pop_front();
    return end;
  }

  /// Waits until this many launches were accepted in total; false after a long timeout.
  [[nodiscard]] bool wait_for_launches(std::size_t count) {
    std::unique_lock lock(m_mutex);
    return m_changed.wait_for(lock, std::chrono::seconds(60), [&] { return m_log.size() >= count; });
  }
  /// Ends the launch of that task, with `error` if there is one.
  void end(int number, std::exception_ptr error = nullptr, KernelReport const& report = {}) {
    std::lock_guard const lock(m_mutex);
    for (auto& lane : m_lanes) {
      for (auto& launch : lane) {
        if (launch.number != number) continue;
        launch.error = std::move(error);
        launch.report = report;
        return run(launch);
      }
    }
    throw std::logic_error("task " + std::to_string(number) + " is not under way");
  }

  /// Worker and task of each accepted launch, in order.
  [[nodiscard]] std::vector<std::pair<std::size_t, int>> log() const {
    std::lock_guard const lock(m_mutex);
    return m_log;
  }
  [[nodiscard]] std::uint64_t polls() const {
    std::lock_guard const lock(m_mutex);
    return m_polls;
  }
  [[nodiscard]] std::size_t most_seen() const {
    std::lock_guard const lock(m_mutex);
    return m_most_seen;
  }
  [[nodiscard]] int entered() const {
    std::lock_guard const lock(m_mutex);
    return m_entered;
  }

  // Set before the engine starts.
  std::set<int> refused;
  bool ends_at_once = false;
  bool refuses_to_enter = false;

 private:
  struct Launch {
    int number;
    Kernel kernel;
    KernelCall call;
    std::exception_ptr error;
    KernelReport report;
    bool ended;
  };

  static void run(Launch& launch) {
    if (!launch.error) launch.kernel(launch.call);
    launch.ended = true;
  }

  std::size_t const m_most;
  mutable std::mutex m_mutex;
  std::condition_variable m_changed;
  std::vector<std::deque<Launch>> m_lanes;  // by worker
  std::vector<std::pair<std::size_t, int>> m_log;
  KernelReport m_report;
  std::uint64_t m_polls = 0;
  std::size_t m_most_seen = 0;
  int m_entered = 0;
};

}  // namespace granary::test
