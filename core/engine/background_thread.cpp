// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/engine/background_thread.hpp>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/process_exit.hpp>
#include <granary/detail/core/base/start_thread.hpp>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <utility>

namespace granary::detail {
namespace {

// glibc gives each thread a part of the heap and keeps the end of it that is free, which is as large as a work was.
void give_back_free_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace

BackgroundThread::~BackgroundThread() {
  {
    std::lock_guard const lock(m_mutex);
    m_stopping = true;
  }
  m_changed.notify_one();
  if (m_thread.joinable()) m_thread.join();
}

PolicySet BackgroundThread::serve(PolicySet policies) {
  if (auto* const meta = dynamic_cast<MetaScheduler*>(policies.scheduler.get())) meta->compute_in(*this);
  return policies;
}

void BackgroundThread::start(Work work) {
  if (!m_thread.joinable()) {
    try {
      m_thread = start_thread("computations of the scheduler", [this] { run(); });
    } catch (Error const&) {
      return work([] { return true; });
    }
  }
  {
    std::lock_guard const lock(m_mutex);
    m_works.push_back(std::move(work));
  }
  m_changed.notify_one();
}

void BackgroundThread::run() {
  auto const wanted = [this] {
    Working::stop_if_exiting();
    return !stopping();
  };
  for (;;) {
    Work work;
    {
      std::unique_lock lock(m_mutex);
      m_changed.wait(lock, [this] { return m_stopping || !m_works.empty(); });
      if (m_stopping) return;
      work = std::move(m_works.front());
      m_works.pop_front();
    }
    Working const working;
    work(wanted);
    work = nullptr;
    give_back_free_memory();
  }
}

bool BackgroundThread::stopping() {
  std::lock_guard const lock(m_mutex);
  return m_stopping;
}

}  // namespace granary::detail
