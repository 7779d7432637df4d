// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/process_exit.hpp>

#include <granary/detail/core/base/say.hpp>

#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <thread>
#include <utility>

namespace granary::detail {
namespace {

constexpr std::chrono::seconds longest_wait(5);

// None of these is ever destroyed.
std::atomic<bool> is_exiting = false;
std::atomic<int> working = 0;
std::atomic<::pid_t> process = 0;  // whose exit stops work
thread_local int depth = 0;        // of the Workings of this thread
thread_local bool is_exiting_here = false;

}  // namespace

std::atomic<bool>& Working::exiting() { return is_exiting; }

// Sequentially consistent: either this thread sees that the process exits, or the exit sees that it works.
void Working::begin() {
  if (depth++ > 0) return;
  working.fetch_add(1);
  stop_if_exiting();
}

void Working::end() {
  if (--depth == 0) working.fetch_sub(1);
}

int Working::rest() {
  int const begun = std::exchange(depth, 0);
  if (begun > 0) working.fetch_sub(1);
  return begun;
}

void Working::resume(int begun) {
  depth = begun;
  if (begun == 0) return;
  working.fetch_add(1);
  stop_if_exiting();
}

void Working::stop() {
  if (is_exiting_here || ::getpid() != process.load()) return;
  if (depth > 0) working.fetch_sub(1);
  for (;;) ::pause();
}

void Working::end_work(int status, void*) {
  if (::getpid() != process.load()) return;
  is_exiting_here = true;
  is_exiting.store(true);
  int const own = depth > 0 ? 1 : 0;
  auto const give_up = std::chrono::steady_clock::now() + longest_wait;
  while (working.load() > own) {
    if (std::chrono::steady_clock::now() >= give_up) {
      say("granary: exit() was called while a task or a file operation went on, which has not ended within 5 s: the "
          "process ends without its other exit handlers\n");
      // A thread that was stopped, or that still works, may hold the lock of the stream for ever.
      if (::ftrylockfile(stdout) == 0) ::fflush_unlocked(stdout);
      ::_exit(status);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

void stop_work_at_exit() {
  auto const before = process.exchange(::getpid());
  if (before != 0 && before != ::getpid()) working = depth > 0 ? 1 : 0;  // this is a fork, without the other threads
  ::on_exit(&Working::end_work, nullptr);
}

bool exits_here() { return is_exiting_here; }

}  // namespace granary::detail
