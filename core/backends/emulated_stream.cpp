// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/emulated_stream.hpp>

#include <granary/detail/core/backends/blas_threads.hpp>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/process_exit.hpp>
#include <granary/detail/core/base/start_thread.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace granary::detail {

bool lies_in_one(Allocations const& allocations, std::byte const* memory, Bytes bytes) {
  auto found = allocations.upper_bound(memory);
  if (found == allocations.begin()) return false;
  --found;
  auto const offset = static_cast<Bytes>(memory - found->first);
  return offset <= found->second->bytes() && bytes <= found->second->bytes() - offset;
}

std::byte* EmulatedDevice::allocate(Bytes bytes) {
  begin(EmulatedStep::Allocate);
  if (bytes == 0) return nullptr;
  auto const name = "emulated device " + std::to_string(m_number);
  std::lock_guard const lock(m_mutex);
  Bytes const all = m_options.memory + m_options.beside;
  if (bytes > all - m_used) {
    throw DeviceError(name + " cannot allocate " + format_bytes(bytes) + ": " + format_bytes(all - m_used) +
                      " of its " + format_bytes(all) + " are free");
  }
  std::unique_ptr<Pool> pool;
  try {
    pool = std::make_unique<Pool>(name, bytes);
  } catch (Error const& error) {
    throw DeviceError(error.what());
  }
  auto* const base = pool->base();
  m_allocations.emplace(base, std::move(pool));
  m_used += bytes;
  return base;
}

void EmulatedDevice::free(std::byte* memory) noexcept {
  std::lock_guard const lock(m_mutex);
  auto const found = m_allocations.find(memory);
  if (found == m_allocations.end()) return;
  m_used -= found->second->bytes();
  m_allocations.erase(found);
}

Bytes EmulatedDevice::free_bytes() const {
  std::lock_guard const lock(m_mutex);
  return std::min(m_options.memory, m_options.memory + m_options.beside - m_used);
}

bool EmulatedDevice::holds(std::byte const* memory, Bytes bytes) const {
  std::lock_guard const lock(m_mutex);
  return lies_in_one(m_allocations, memory, bytes);
}

void EmulatedDevice::begin(EmulatedStep step) {
  check_present();
  auto const number = m_begun[static_cast<std::size_t>(step)]++;
  if (!m_options.before) return;
  try {
    m_options.before({step, m_number, number});
  } catch (DeviceLost const& reason) {
    lose(reason);
    throw;
  }
}

void EmulatedDevice::check_present() const {
  if (!m_lost.load()) return;
  std::lock_guard const lock(m_mutex);
  throw DeviceLost("emulated device " + std::to_string(m_number) + " is gone: " + m_reason);
}

void EmulatedDevice::lose(DeviceLost const& reason) {
  std::lock_guard const lock(m_mutex);
  if (m_lost.exchange(true)) return;
  m_reason = reason.what();
}

EmulatedDevices::EmulatedDevices(EmulatedOptions given) : options(std::move(given)) {
  for (int i = 0; i < options.devices; ++i) devices.emplace_back(i, options);
}

EmulatedStream::EmulatedStream(std::shared_ptr<EmulatedDevices> devices, int device)
    : m_devices(std::move(devices)), m_device(device) {
  self().check_present();
}

EmulatedStream::~EmulatedStream() {
  {
    std::lock_guard const lock(m_mutex);
    m_stop = true;
  }
  m_changed.notify_one();
  if (m_thread.joinable()) m_thread.join();
}

void const* EmulatedStream::instance() const {
  if (!m_instance) m_instance.emplace(make_host_instance());
  return &*m_instance;
}

void EmulatedStream::copy(DeviceCopy const& copy) {
  self().check_present();
  enqueue([this, copy](SteadyClock::time_point enqueued) {
    m_copy_error = nullptr;
    try {
      perform_copy(copy, enqueued);
    } catch (...) {
      m_copy_error = std::current_exception();
    }
  });
}

void EmulatedStream::clear(std::byte* memory, Bytes bytes) {
  self().check_present();
  enqueue([memory, bytes](SteadyClock::time_point) { std::memset(memory, 0, bytes); });
}

void EmulatedStream::launch(Kernel kernel, KernelCall const& call) {
  self().check_present();
  enqueue([this, kernel, call](SteadyClock::time_point) {
    m_launch_error = nullptr;
    try {
      perform_launch(kernel, call);
    } catch (...) {
      m_launch_error = std::current_exception();
    }
    m_free_at = SteadyClock::now();
  });
}

// Also on a lost device: the mark then reports the loss, after the operations that were still active.
void EmulatedStream::record(std::shared_ptr<EmulatedMark> mark) {
  enqueue([this, mark = std::move(mark)](SteadyClock::time_point) { perform_record(*mark); });
}

void EmulatedStream::enqueue(std::function<void(SteadyClock::time_point)> perform) {
  {
    std::lock_guard const lock(m_mutex);
    if (!m_thread.joinable()) m_thread = start_thread("an emulated device", [this] { run(); });
    m_operations.push_back({SteadyClock::now(), std::move(perform)});
  }
  m_changed.notify_one();
}

void EmulatedStream::run() {
  hold_blas_limit();
  std::unique_lock lock(m_mutex);
  for (;;) {
    m_changed.wait(lock, [this] { return m_stop || !m_operations.empty(); });
    if (m_operations.empty()) return;
    auto operation = std::move(m_operations.front());
    m_operations.pop_front();
    lock.unlock();
    {
      Working const working;
      operation.perform(operation.enqueued);
      operation = {};
    }
    lock.lock();
  }
}

// Throttled copies follow a timetable, so that long sleeps and a busy processor do not accumulate: a real link would
// not wait for them.
void EmulatedStream::perform_copy(DeviceCopy const& copy, SteadyClock::time_point enqueued) {
  self().begin(EmulatedStep::Copy);
  for (int const end : {copy.source_device, copy.destination_device}) {
    if (end >= 0) m_devices->devices[static_cast<std::size_t>(end)].check_present();
  }
  for (std::uint64_t i = 0; i < copy.lines; ++i) {
    std::memcpy(copy.destination + i * copy.destination_pitch, copy.source + i * copy.source_pitch, copy.line);
  }
  auto const& options = m_devices->options;
  auto time = options.link_latency;
  if (options.link_bytes_per_second != 0) {
    time +=
        from_seconds(static_cast<double>(copy.lines * copy.line) / static_cast<double>(options.link_bytes_per_second));
  }
  m_free_at = std::max(enqueued, m_free_at) + time;
  if (time.count() > 0) std::this_thread::sleep_until(m_free_at);
}

void EmulatedStream::perform_launch(Kernel kernel, KernelCall const& call) {
  self().begin(EmulatedStep::Launch);
  try {
    kernel(call);
  } catch (DeviceLost const& reason) {
    self().lose(reason);
    throw;
  }
}

void EmulatedStream::perform_record(EmulatedMark& mark) {
  mark.error = m_launch_error ? m_launch_error : m_copy_error;
  if (!mark.error) {
    try {
      self().check_present();
    } catch (DeviceLost const&) {
      mark.error = std::current_exception();
    }
  }
  mark.instant = SteadyClock::now();
  mark.performed.store(true, std::memory_order_release);
}

}  // namespace granary::detail
