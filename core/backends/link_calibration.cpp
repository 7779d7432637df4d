// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/link_calibration.hpp>

#include <granary/detail/core/backends/host_copy_backend.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

namespace granary::detail {
namespace {

using Timer = std::chrono::steady_clock;

// Counts copies that end on other threads.
class Completions {
 public:
  void operator()(std::exception_ptr const& error) {
    std::lock_guard const lock(m_mutex);
    ++m_ended;
    if (error && !m_error) m_error = error;
    m_changed.notify_one();
  }
  void wait_for(unsigned copies) {
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [&] { return m_ended == copies; });
  }
  void rethrow() const {
    if (m_error) std::rethrow_exception(m_error);
  }

 private:
  std::mutex m_mutex;
  std::condition_variable m_changed;
  unsigned m_ended = 0;
  std::exception_ptr m_error;
};

Duration time_round(CopyBackend& backend, CalibrationRequest const& request, unsigned copies, Bytes bytes) {
  Completions completions;
  auto const start = Timer::now();
  for (unsigned lane = 0; lane < copies; ++lane) {
    try {
      backend.copy_async(request(lane, bytes), [&completions](std::exception_ptr const& error) { completions(error); });
    } catch (...) {
      completions(std::current_exception());
    }
  }
  completions.wait_for(copies);
  auto const time = std::chrono::duration_cast<Duration>(Timer::now() - start);
  completions.rethrow();
  return std::max(time, Duration{1});
}

}  // namespace

LinkSpeed measure_link(CopyBackend& backend, CalibrationRequest const& request, CalibrationOptions const& options) {
  constexpr int most_short_copies = 16;
  auto const start = Timer::now();
  auto const left = [&] { return options.time - std::chrono::duration_cast<Duration>(Timer::now() - start); };
  time_round(backend, request, 1, options.least);  // warm up: threads wake, pages are touched, files are created
  LinkSpeed speed{0, Duration::max()};
  int short_copies = 0;
  do {
    speed.latency = std::min(speed.latency, time_round(backend, request, 1, options.least));
  } while (++short_copies < most_short_copies && left() > (short_copies < 3 ? Duration{0} : options.time * 3 / 4));

  constexpr int least_rounds = 4;  // so that one disturbed round does not matter
  Bytes bytes = options.least;
  for (int rounds = 1;; ++rounds) {
    auto const time = time_round(backend, request, options.width, bytes);
    speed.bytes_per_second =
        std::max(speed.bytes_per_second, static_cast<double>(bytes * options.width) / seconds(time));
    bool const longest = bytes >= options.largest;
    bool const late = left() < time * (longest ? 1 : 2);
    if (late && (rounds >= least_rounds || left() <= Duration{0})) break;
    if (!longest) bytes *= 2;
  }
  return speed;
}

LinkSpeed measure_host_memory(Duration time) {
  // Larger than the caches, as far as a short measurement allows.
  constexpr Bytes largest = 16_MiB;
  std::vector<std::byte> from(largest, std::byte{1});
  std::vector<std::byte> to(largest);
  HostCopyBackend copies;
  CalibrationOptions options;
  options.largest = largest;
  options.time = time;
  auto const request = [&](unsigned, Bytes bytes) {
    CopyRequest copy;
    copy.source = from.data();
    copy.destination = to.data();
    copy.bytes = bytes;
    return copy;
  };
  return measure_link(copies, request, options);
}

}  // namespace granary::detail
