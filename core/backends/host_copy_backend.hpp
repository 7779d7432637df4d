// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/engine/backend.hpp>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace granary::detail {

/// Copies between two addressable memories, on its own thread, in the order of the requests.
class GRANARY_EXPORT HostCopyBackend final : public CopyBackend {
 public:
  HostCopyBackend();
  /// Completes all requested copies first.
  ~HostCopyBackend() override;

  void copy_async(CopyRequest const& request, CopyCompletion done) override;

 private:
  struct Copy {
    CopyRequest request;
    CopyCompletion done;
  };
  void run();

  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::deque<Copy> m_copies;
  bool m_stop = false;
  std::thread m_thread;
};

}  // namespace granary::detail
