// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/engine/device_driver.hpp>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/process_exit.hpp>
#include <granary/detail/core/engine/poll_pause.hpp>
#include <granary/detail/core/planner/driver_rules.hpp>

#include <algorithm>
#include <utility>

namespace granary::detail {

DeviceDriver::DeviceDriver(LaneThread& thread, LaunchBackend& devices, Mailbox& mailbox,
                           std::atomic<bool> const& stopping)
    : m_bell(thread.bell), m_devices(devices), m_mailbox(mailbox), m_stopping(stopping) {
  for (auto* const lane : thread.lanes) m_lanes.push_back({*lane});
}

void DeviceDriver::enter() {
  for (auto& at : m_lanes) {
    try {
      m_devices.enter(at.lane.id);
    } catch (...) {
      at.unusable = std::current_exception();
    }
  }
}

bool DeviceDriver::any_handed() const {
  return std::ranges::any_of(m_lanes, [](auto& at) { return at.lane.incoming.peek(at.launched) != nullptr; });
}

bool DeviceDriver::any_running() const {
  return std::ranges::any_of(m_lanes, [](auto& at) { return at.launched > 0; });
}

// While kernels run it polls without pause for a moment, then with naps: a lane that holds a second task does not wait
// for it.
void DeviceDriver::run() {
  enter();
  PollPause pause(std::chrono::microseconds(100), m_mailbox.spin());
  for (;;) {
    detail::Working::stop_if_exiting();
    bool progress = false;
    for (auto& at : m_lanes) progress |= launch(at);
    for (auto& at : m_lanes) progress |= poll(at);
    if (m_mailbox.seems_pending()) m_mailbox.drain();
    if (progress) {
      pause.progress();
    } else if (!any_running()) {
      m_mailbox.wait(m_bell, [&] { return any_handed() || m_stopping.load(); });
      if (!any_handed() && m_stopping.load()) break;
    } else {
      pause.pause();
    }
  }
  for (auto& at : m_lanes) {
    if (!at.unusable) m_devices.leave(at.lane.id);
  }
}

// True if the task before the next launch is known to have failed or to be skipped.
bool DeviceDriver::failed_before(Launching& at) {
  if (at.launched == 0) return at.last_failed;
  auto const* const before = at.lane.incoming.peek(at.launched - 1);
  return before->refused != nullptr || before->skipped;
}

// Launches the lane's tasks as far as the backend accepts them; returns whether there was one.
bool DeviceDriver::launch(Launching& at) {
  bool launched = false;
  while (at.launched < m_devices.most_launches()) {
    auto* entry = at.lane.incoming.peek(at.launched);
    if (entry == nullptr) break;
    entry->refused = at.unusable;
    entry->skipped = is_skipped(entry->follows, failed_before(at));
    if (!entry->refused && !entry->skipped) {
      try {
        m_devices.launch(at.lane.id, entry->kernel,
                         {.data = entry->addresses(),
                          .pitches = entry->pitches(),
                          .bytes = entry->varying.bytes,
                          .results = entry->varying.results,
                          .parameters = entry->parameters->get(),
                          .worker = at.lane.id,
                          .name = entry->codelet->name.c_str()},
                         entry->follows);
      } catch (...) {
        entry->refused = std::current_exception();
      }
    }
    ++at.launched;
    launched = true;
  }
  return launched;
}

// Reports the launches that ended, in order; returns whether there was one.
bool DeviceDriver::poll(Launching& at) {
  bool ended = false;
  while (at.launched > 0) {
    auto& entry = *at.lane.incoming.front();
    if (entry.skipped) {
      finish(at, {.error = nullptr, .skipped = true});
    } else if (entry.refused) {
      finish(at, {.error = std::exchange(entry.refused, nullptr)});
    } else if (auto end = m_devices.poll(at.lane.id)) {
      finish(at, std::move(*end));
    } else {
      break;
    }
    ended = true;
  }
  return ended;
}

void DeviceDriver::finish(Launching& at, LaunchEnd ended) {
  auto& entry = *at.lane.incoming.front();
  auto& end = at.lane.finished.next();
  end.task = entry.task;
  end.duration = ended.duration;
  end.error = std::move(ended.error);
  end.skipped = ended.skipped;
  end.made.clear();
  if (!end.error && !end.skipped && entry.codelet->check != nullptr && ended.report != nullptr) {
    try {
      entry.codelet->check(entry.parameters->get(), *ended.report);
    } catch (...) {
      end.error = std::current_exception();
    }
  }
  if (ended.report != nullptr) end.count_made(entry, ended.report->result_bytes);
  if (end.error) m_mailbox.post_if_lost(end.error);
  at.last_failed = end.error != nullptr || end.skipped;
  entry.parameters->reset();
  at.lane.count_busy(end.duration, ended.blocked);
  end.end = Clock::now();
  end.begin = std::max(end.end - end.duration, at.ended);
  end.blocked = std::clamp(ended.blocked, Duration{0}, std::chrono::duration_cast<Duration>(end.begin - at.ended));
  at.ended = end.end;
  --at.launched;
  at.lane.pass_on();
  m_mailbox.announce(1);
}

}  // namespace granary::detail
