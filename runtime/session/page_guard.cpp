// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/runtime/session/page_guard.hpp>

#include <granary/detail/core/base/error.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace granary::detail {

namespace {

// A submitter that is quiet for this long waits in a way of its own.
constexpr std::chrono::milliseconds patience{200};

// Guarded ranges, as the signal handler reads them. An entry is free if `first` is 0.
struct Shown {
  std::atomic<std::uintptr_t> first = 0;
  std::atomic<std::uintptr_t> end = 0;
  std::array<char, 240> message{};
};
constexpr std::size_t most_shown = 4096;
std::array<Shown, most_shown> shown;
std::atomic<std::size_t> shown_count = 0;
std::mutex shown_mutex;
struct sigaction previous {};

// Only functions that a signal handler may call.
void on_fault(int signal, siginfo_t* info, void* context) {
  auto const address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (std::size_t i = 0; i < shown_count.load(); ++i) {
    auto const first = shown[i].first.load();
    if (first == 0 || address < first || address >= shown[i].end.load()) continue;
    auto const length = std::strlen(shown[i].message.data());
    static_cast<void>(!::write(STDERR_FILENO, shown[i].message.data(), length));
    ::signal(SIGSEGV, SIG_DFL);  // the access is repeated and ends the program at its own line
    return;
  }
  if ((previous.sa_flags & SA_SIGINFO) != 0 && previous.sa_sigaction != nullptr) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  } else {
    ::signal(SIGSEGV, SIG_DFL);
  }
}

void install_handler() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = &on_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGSEGV, &action, &previous);
  });
}

void protect(std::byte* first, std::size_t bytes, int access) {
  if (::mprotect(first, bytes, access) != 0) {
    throw Error("cannot guard " + std::to_string(bytes) + " bytes of memory: " + std::strerror(errno));
  }
}

// Beyond `most_shown` ranges the fault has no sentence.
void show(std::byte const* start, std::size_t bytes, std::string const& what) {
  auto const first = reinterpret_cast<std::uintptr_t>(start);
  std::lock_guard const lock(shown_mutex);
  std::size_t i = 0;
  while (i < shown_count.load() && shown[i].first.load() != 0) ++i;
  if (i == most_shown) return;
  auto const text = "granary: the program accesses " + what + ", before it has waited for them: call wait(x) first\n";
  auto const length = std::min(text.size(), shown[i].message.size() - 1);
  std::memcpy(shown[i].message.data(), text.data(), length);
  shown[i].message[length] = '\0';
  shown[i].end.store(first + bytes);
  shown[i].first.store(first);
  if (i == shown_count.load()) shown_count.store(i + 1);
}

void hide(std::byte const* start) {
  auto const first = reinterpret_cast<std::uintptr_t>(start);
  std::lock_guard const lock(shown_mutex);
  for (std::size_t i = 0; i < shown_count.load(); ++i) {
    if (shown[i].first.load() == first) shown[i].first.store(0);
  }
}

}  // namespace

PageGuard::PageGuard() { install_handler(); }
PageGuard::~PageGuard() { open(); }

void PageGuard::close(std::byte* memory, ByteSet const& elements, bool readable, std::string const& what,
                      std::shared_ptr<void const> keep) {
  auto const page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  std::lock_guard const lock(m_mutex);
  m_closed = true;
  m_last = std::chrono::steady_clock::now();
  elements.for_each_run([&](std::uint64_t offset, std::uint64_t bytes) {
    auto const begin = reinterpret_cast<std::uintptr_t>(memory + offset);
    auto const before = (page - begin % page) % page;
    if (bytes < before + page) return;
    auto* const first = memory + offset + before;
    auto const size = (bytes - before) / page * page;
    auto const* const end = first + size;
    bool const guarded = std::ranges::any_of(m_ranges, [&](Range const& range) {
      return range.first <= first && end <= range.first + range.bytes && (readable || !range.readable);
    });
    if (guarded) return;
    show(first, size, what);
    m_ranges.push_back({first, size, readable, keep});
    protect(first, size, readable ? PROT_READ : PROT_NONE);
  });
}

void PageGuard::open() {
  std::lock_guard const lock(m_mutex);
  open_locked();
}

void PageGuard::open_locked() {
  for (auto const& range : m_ranges) protect(range.first, range.bytes, PROT_READ | PROT_WRITE);
  for (auto const& range : m_ranges) hide(range.first);
  m_ranges.clear();
  if (std::exchange(m_closed, false)) m_opened.notify_all();
}

bool PageGuard::closed() {
  std::lock_guard const lock(m_mutex);
  return m_closed;
}

void PageGuard::wait_until_open() {
  std::unique_lock lock(m_mutex);
  while (m_closed) {
    m_opened.wait_until(lock, m_last + patience);
    if (m_closed && std::chrono::steady_clock::now() >= m_last + patience) open_locked();
  }
}

}  // namespace granary::detail
