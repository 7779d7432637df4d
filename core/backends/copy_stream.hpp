// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared code of the device copies; only their sources include it.
#pragma once

#include <granary/detail/core/backends/device_api.hpp>
#include <granary/detail/core/engine/backend.hpp>

#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace granary::detail {

/// The stream of one link. Thread-safe.
class CopyStream {
 public:
  CopyStream(std::shared_ptr<DeviceApi> api, int from, int to, int device)
      : m_api(std::move(api)), m_from(from), m_to(to), m_device(device), m_stream(m_api->make_stream(device)) {}

  [[nodiscard]] int from() const { return m_from; }
  [[nodiscard]] int to() const { return m_to; }

  /// Enqueues the copy. The caller owns the event until it returns it after completion.
  [[nodiscard]] std::unique_ptr<DeviceApi::Event> enqueue(DeviceCopy const& copy) {
    std::lock_guard const lock(m_mutex);
    return enqueue_locked(copy);
  }
  void give_back(std::unique_ptr<DeviceApi::Event> event) {
    std::lock_guard const lock(m_mutex);
    m_spare.push_back(std::move(event));
  }

  /// Enqueues the copy, to be completed by `complete_some`.
  void start(DeviceCopy const& copy, CopyCompletion done) {
    std::lock_guard const lock(m_mutex);
    m_under_way.push_back({nullptr, std::move(done)});
    try {
      m_under_way.back().event = enqueue_locked(copy);
    } catch (...) {
      m_under_way.pop_back();
      throw;
    }
  }
  /// Calls the completions of the copies that ended, without holding a lock, and returns their number. For one thread.
  std::size_t complete_some() {
    for (std::size_t completed = 0;; ++completed) {
      DeviceApi::Event* event = nullptr;
      {
        std::lock_guard const lock(m_mutex);
        if (!m_under_way.empty()) event = m_under_way.front().event.get();
      }
      if (event == nullptr) return completed;
      std::exception_ptr error;
      try {
        if (!m_api->done(*event)) return completed;
      } catch (...) {
        error = std::current_exception();
      }
      CopyCompletion done;
      {
        std::lock_guard const lock(m_mutex);
        done = std::move(m_under_way.front().done);
        m_spare.push_back(std::move(m_under_way.front().event));
        m_under_way.pop_front();
      }
      done(error);
    }
  }

 private:
  struct UnderWay {
    std::unique_ptr<DeviceApi::Event> event;
    CopyCompletion done;
  };
  std::unique_ptr<DeviceApi::Event> enqueue_locked(DeviceCopy const& copy) {
    std::unique_ptr<DeviceApi::Event> event;
    if (m_spare.empty()) {
      event = m_api->make_event(m_device);
    } else {
      event = std::move(m_spare.back());
      m_spare.pop_back();
    }
    if (copy.line > 0 && copy.lines > 0) m_api->copy(*m_stream, copy);
    m_api->record(*event, *m_stream);
    return event;
  }

  std::shared_ptr<DeviceApi> m_api;
  int m_from, m_to, m_device;
  std::mutex m_mutex;
  std::vector<std::unique_ptr<DeviceApi::Event>> m_spare;
  std::deque<UnderWay> m_under_way;
  std::unique_ptr<DeviceApi::Stream> m_stream;
};

}  // namespace granary::detail
