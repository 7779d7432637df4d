// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>

#include <atomic>
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__SANITIZE_THREAD__)
#define GRANARY_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GRANARY_THREAD_SANITIZER
#endif
#endif
#if defined(GRANARY_THREAD_SANITIZER)
#include <sanitizer/tsan_interface.h>
#endif

namespace granary::detail {

/// Tells the processor that this thread is spinning.
inline void spin_pause() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Annotations for ThreadSanitizer, to which the lock is only an atomic number; empty in other builds.
#if defined(GRANARY_THREAD_SANITIZER)
inline void lock_made(void* lock) { __tsan_mutex_create(lock, __tsan_mutex_not_static); }
inline void lock_gone(void* lock) { __tsan_mutex_destroy(lock, __tsan_mutex_not_static); }
inline void before_lock(void* lock) { __tsan_mutex_pre_lock(lock, 0); }
inline void after_lock(void* lock) { __tsan_mutex_post_lock(lock, 0, 0); }
inline void before_try_lock(void* lock) { __tsan_mutex_pre_lock(lock, __tsan_mutex_try_lock); }
inline void after_try_lock(void* lock, bool taken) {
  __tsan_mutex_post_lock(lock, __tsan_mutex_try_lock | (taken ? 0U : __tsan_mutex_try_lock_failed), 0);
}
inline void before_unlock(void* lock) { __tsan_mutex_pre_unlock(lock, 0); }
inline void after_unlock(void* lock) { __tsan_mutex_post_unlock(lock, 0); }
#else
inline void lock_made(void*) {}
inline void lock_gone(void*) {}
inline void before_lock(void*) {}
inline void after_lock(void*) {}
inline void before_try_lock(void*) {}
inline void after_try_lock(void*, bool) {}
inline void before_unlock(void*) {}
inline void after_unlock(void*) {}
#endif

/// The lock around the planner. It is held for about a microsecond at a time, so waiting threads spin before they sleep
/// (a futex: Drepper, "Futexes are tricky", mutex 2). All operations are sequentially consistent: the engine relies on
/// the order of "post an event, fail to lock" against "unlock, look for events". ThreadSanitizer sees it as a mutex and
/// so checks the lock order.
class GRANARY_EXPORT PlannerLock {
 public:
  PlannerLock() { detail::lock_made(this); }
  ~PlannerLock() { detail::lock_gone(this); }
  PlannerLock(PlannerLock const&) = delete;
  PlannerLock& operator=(PlannerLock const&) = delete;

  bool try_lock() {
    detail::before_try_lock(this);
    bool const taken = take();
    detail::after_try_lock(this, taken);
    return taken;
  }
  void lock() {
    detail::before_lock(this);
    take_or_sleep();
    detail::after_lock(this);
  }
  void unlock() {
    detail::before_unlock(this);
    if (m_state.exchange(0) == 2) m_state.notify_one();
    detail::after_unlock(this);
  }

 private:
  bool take() {
    std::uint32_t free = 0;
    return m_state.load(std::memory_order_relaxed) == 0 && m_state.compare_exchange_strong(free, 1);
  }
  void take_or_sleep() {
    for (int spins = 0; spins < 2000; ++spins) {
      if (take()) return;
      spin_pause();
    }
    while (m_state.exchange(2) != 0) m_state.wait(2);
  }

  std::atomic<std::uint32_t> m_state = 0;  // 0 free, 1 held, 2 held and possibly waited for
};

}  // namespace granary::detail
