// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/byte_set.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace granary::detail {

// Keeps the program away from elements that tasks use (RuntimeOptions::check_reads). While the gate is closed, no body
// runs, and an access to guarded pages ends the program with a sentence. Submissions close it, waits open it, and so do
// bodies that have waited a while: the program then waits in a way that is not seen here. Thread-safe.
class PageGuard {
 public:
  // Guards the whole pages of the elements, which begin at `memory`, and closes the gate; no body may run meanwhile.
  // `keep` owns the memory. Elements that tasks only read may be read. `what`: "elements of 'x', which task 'axpy' of
  // main.cpp:12 uses".
  void close(std::byte* memory, ByteSet const& elements, bool readable, std::string const& what,
             std::shared_ptr<void const> keep);
  // Nothing is guarded any more, and bodies may run.
  void open();
  // For bodies, before they run. The gate may be closed again at once.
  void wait_until_open();
  [[nodiscard]] bool closed();

  PageGuard();
  ~PageGuard();
  PageGuard(PageGuard const&) = delete;
  PageGuard& operator=(PageGuard const&) = delete;

 private:
  struct Range {
    std::byte* first;
    std::size_t bytes;
    bool readable;
    std::shared_ptr<void const> keep;
  };
  void open_locked();

  std::mutex m_mutex;
  std::condition_variable m_opened;
  bool m_closed = false;
  std::chrono::steady_clock::time_point m_last;  // submission
  std::vector<Range> m_ranges;
};

}  // namespace granary::detail
