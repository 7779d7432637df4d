// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/host_copy_backend.hpp>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/start_thread.hpp>

#include <cstring>
#include <utility>

namespace granary::detail {

HostCopyBackend::HostCopyBackend() : m_thread(start_thread("copies", [this] { run(); })) {}

HostCopyBackend::~HostCopyBackend() {
  {
    std::lock_guard const lock(m_mutex);
    m_stop = true;
  }
  m_changed.notify_one();
  m_thread.join();
}

void HostCopyBackend::copy_async(CopyRequest const& request, CopyCompletion done) {
  if (request.source == nullptr || request.destination == nullptr) {
    throw InternalError("a copy between addressable memories has no " +
                        std::string(request.source == nullptr ? "source" : "destination") + " address");
  }
  {
    std::lock_guard const lock(m_mutex);
    m_copies.push_back({request, std::move(done)});
  }
  m_changed.notify_one();
}

void HostCopyBackend::run() {
  std::unique_lock lock(m_mutex);
  for (;;) {
    m_changed.wait(lock, [this] { return m_stop || !m_copies.empty(); });
    if (m_copies.empty()) return;
    auto const copy = std::move(m_copies.front());
    m_copies.pop_front();
    lock.unlock();
    std::memcpy(copy.request.destination, copy.request.source, copy.request.bytes);
    copy.done(nullptr);
    lock.lock();
  }
}

}  // namespace granary::detail
