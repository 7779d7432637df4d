// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The thread that launches the kernels of all device workers and sees them end.
#include <granary/core/base/error.hpp>
#include <granary/core/engine/engine.hpp>
#include <granary/core/engine/engine_section.hpp>
#include <granary/core/engine/poll_pause.hpp>
#include <granary/core/planner/driver_rules.hpp>

#include <algorithm>
#include <utility>

namespace granary {

// While kernels run it polls without pause for a moment, then with naps: a lane that holds a second task does not wait
// for it.
void Engine::drive(LaneThread& driver) {
  EngineScope const scope(this);
  auto& devices = *m_backends.devices;
  for (auto* lane : driver.lanes) {
    try {
      devices.enter(lane->id);
    } catch (...) {
      lane->unusable = std::current_exception();
    }
  }
  auto const handed = [&] {
    return std::ranges::any_of(driver.lanes, [](auto* lane) { return lane->incoming.peek(lane->launched) != nullptr; });
  };
  auto const running = [&] { return std::ranges::any_of(driver.lanes, [](auto* lane) { return lane->launched > 0; }); };
  PollPause pause(std::chrono::microseconds(100), m_options.spin);
  for (;;) {
    bool progress = false;
    for (auto* lane : driver.lanes) progress |= launch_all(*lane);
    for (auto* lane : driver.lanes) progress |= poll_all(*lane);
    if (m_pending.load(std::memory_order_relaxed) != 0) try_drain();
    if (progress) {
      pause.progress();
    } else if (!running()) {
      wait_for(driver.bell, [&] { return handed() || m_stop.load(); });
      if (!handed() && m_stop.load()) break;
    } else {
      pause.pause();
    }
  }
  for (auto* lane : driver.lanes) {
    if (!lane->unusable) devices.leave(lane->id);
  }
}

// Whether the task before the next launch is known to have failed or to be skipped.
bool Engine::failed_before(WorkerLane& lane) {
  if (lane.launched == 0) return lane.last_failed;
  auto const* const before = lane.incoming.peek(lane.launched - 1);
  return before->refused != nullptr || before->skipped;
}

// Launches the lane's tasks as far as the backend accepts them; returns whether there was one.
bool Engine::launch_all(WorkerLane& lane) {
  bool launched = false;
  while (lane.launched < m_backends.devices->most_launches()) {
    auto* entry = lane.incoming.peek(lane.launched);
    if (entry == nullptr) break;
    entry->refused = lane.unusable;
    entry->skipped = is_skipped(entry->follows, failed_before(lane));
    if (!entry->refused && !entry->skipped) {
      try {
        m_backends.devices->launch(lane.id, entry->kernel,
                                   {.data = entry->addresses(),
                                    .pitches = entry->pitches(),
                                    .parameters = entry->parameters->get(),
                                    .worker = lane.id,
                                    .name = entry->name},
                                   entry->follows);
      } catch (...) {
        entry->refused = std::current_exception();
      }
    }
    ++lane.launched;
    launched = true;
  }
  return launched;
}

// Reports the launches that ended, in order; returns whether there was one.
bool Engine::poll_all(WorkerLane& lane) {
  bool ended = false;
  while (lane.launched > 0) {
    auto& entry = *lane.incoming.front();
    if (entry.skipped) {
      finish(lane, {.error = nullptr, .skipped = true});
    } else if (entry.refused) {
      finish(lane, {.error = std::exchange(entry.refused, nullptr)});
    } else if (auto end = m_backends.devices->poll(lane.id)) {
      finish(lane, std::move(*end));
    } else {
      break;
    }
    ended = true;
  }
  return ended;
}

void Engine::finish(WorkerLane& lane, LaunchEnd ended) {
  auto& entry = *lane.incoming.front();
  auto& end = lane.finished.next();
  end.task = entry.task;
  end.duration = ended.duration;
  end.error = std::move(ended.error);
  end.skipped = ended.skipped;
  if (!end.error && !end.skipped && entry.check != nullptr && ended.report != nullptr) {
    try {
      entry.check(entry.parameters->get(), *ended.report);
    } catch (...) {
      end.error = std::current_exception();
    }
  }
  if (end.error) cancel_if_lost(end.error);
  lane.last_failed = end.error != nullptr || end.skipped;
  entry.parameters->reset();
  lane.count_busy(end.duration, ended.blocked);
  end.end = Clock::now();
  end.begin = std::max(end.end - end.duration, lane.ended);
  end.blocked = std::clamp(ended.blocked, Duration{0}, std::chrono::duration_cast<Duration>(end.begin - lane.ended));
  lane.ended = end.end;
  lane.incoming.pop();
  --lane.launched;
  lane.finished.stage();
  lane.finished.publish();
  lane.tasks.store(lane.tasks.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  announce(1);
}

// No work for a lost device can be done, and its memory's content is lost: the run ends.
void Engine::cancel_if_lost(std::exception_ptr const& error) {
  if (!is_device_lost(error)) return;  // any other failure concerns only its task
  m_events.push(CancelAll{error});
  announce(1);
}

}  // namespace granary
