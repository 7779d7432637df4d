// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/engine/backend.hpp>
#include <granary/detail/core/engine/mailbox.hpp>
#include <granary/detail/core/engine/worker_lane.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <vector>

namespace granary::detail {

/// The thread that launches the kernels of all device workers and sees them end.
class DeviceDriver {
 public:
  DeviceDriver(LaneThread& thread, LaunchBackend& devices, Mailbox& mailbox, std::atomic<bool> const& stopping);

  /// Until `stopping`.
  void run();

 private:
  using Clock = std::chrono::steady_clock;

  // A lane, and what of it is launched.
  struct Launching {
    WorkerLane& lane;
    std::size_t launched = 0;       // of the tasks in `lane.incoming`
    bool last_failed = false;       // the last task that ended failed or was skipped
    Clock::time_point ended = {};   // that task
    std::exception_ptr unusable{};  // why the worker cannot run anything, if it cannot
  };

  void enter();
  [[nodiscard]] bool launch(Launching& at);
  [[nodiscard]] bool poll(Launching& at);
  static bool failed_before(Launching& at);
  void finish(Launching& at, LaunchEnd ended);
  [[nodiscard]] bool any_handed() const;
  [[nodiscard]] bool any_running() const;

  Bell& m_bell;
  LaunchBackend& m_devices;
  Mailbox& m_mailbox;
  std::atomic<bool> const& m_stopping;
  std::vector<Launching> m_lanes;
};

}  // namespace granary::detail
