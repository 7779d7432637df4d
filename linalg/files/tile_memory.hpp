// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/outofcore/storage.hpp>

namespace granary::detail {

struct GRANARY_EXPORT FreeMemory {
  void operator()(std::byte* memory) const { std::free(memory); }
};
/// Memory with the alignment that Storage requires.
using TileMemory = std::unique_ptr<std::byte, FreeMemory>;

[[nodiscard]] inline TileMemory allocate_tiles(Bytes bytes) {
  TileMemory memory(static_cast<std::byte*>(std::aligned_alloc(io_alignment, round_up(bytes, io_alignment))));
  if (!memory) throw std::bad_alloc();
  return memory;
}

/// Counts operations in flight; the destructor waits for them.
class GRANARY_EXPORT PendingIo {
 public:
  PendingIo() = default;
  PendingIo(PendingIo const&) = delete;
  PendingIo& operator=(PendingIo const&) = delete;
  ~PendingIo() { wait_until(0); }

  /// Counts one more operation.
  void begin() {
    std::lock_guard lock(m_mutex);
    ++m_under_way;
  }
  /// An operation has ended.
  void end(std::exception_ptr error) {
    std::lock_guard lock(m_mutex);
    if (error && !m_failure) m_failure = std::move(error);
    --m_under_way;
    m_changed.notify_one();
  }
  /// Counts one more operation; calling the result ends it.
  [[nodiscard]] IoCompletion one() {
    begin();
    return [this](std::exception_ptr error) { end(std::move(error)); };
  }
  /// Waits until at most `most` are in flight.
  void wait_until(std::size_t most) {
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [&] { return m_under_way <= most; });
  }
  /// Waits until at most `most` are in flight; throws the first error.
  void require(std::size_t most) {
    wait_until(most);
    std::lock_guard lock(m_mutex);
    if (m_failure) std::rethrow_exception(std::exchange(m_failure, nullptr));
  }

 private:
  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::size_t m_under_way = 0;
  std::exception_ptr m_failure;
};

}  // namespace granary::detail
