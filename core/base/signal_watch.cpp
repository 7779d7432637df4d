// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/signal_watch.hpp>

#include <granary/detail/core/base/partial_file.hpp>
#include <granary/detail/core/base/say.hpp>
#include <granary/detail/core/base/start_thread.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iterator>
#include <list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace granary {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Batch systems announce the end of a job with SIGTERM, SIGUSR2 or, at a limit of processor time, SIGXCPU.
constexpr std::array watched{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR2, SIGXCPU, SIGUSR1};
constexpr std::chrono::milliseconds time_to_end(500);

// A handler may only touch globals. Signals cannot be blocked instead: BLAS starts threads before main().
int wake_descriptor = -1;
std::atomic<int> first_signal = 0;
std::atomic<int> signals = 0;  // those that end the process
std::atomic<bool> state_wanted = false;
std::atomic<int> enders = 0;               // listeners that end the run
std::atomic<bool> left_to_enders = false;  // there were some at the first signal; they may be gone when it is served
std::atomic<bool> watching = false;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);
std::array<struct sigaction, watched.size()> previous;
std::terminate_handler previous_end = nullptr;

void wake_watcher() {
  std::uint64_t const one = 1;
  [[maybe_unused]] auto const written = ::write(wake_descriptor, &one, sizeof one);
}

void note_signal(int signal) {
  int const saved = errno;
  if (signal == SIGUSR1) {
    state_wanted = true;
  } else {
    int none = 0;
    if (first_signal.compare_exchange_strong(none, signal)) left_to_enders = enders > 0;
    ++signals;
  }
  wake_watcher();
  errno = saved;
}

// Async-signal-safe: no stdio, whose lock another thread may hold, and no blocking on a slow reader.
void say_if_possible(std::string const& text) {
  struct pollfd error {
    STDERR_FILENO, POLLOUT, 0
  };
  if (::poll(&error, 1, 0) != 1 || (error.revents & POLLOUT) == 0) return;
  [[maybe_unused]] auto const written = ::write(STDERR_FILENO, text.data(), text.size());
}

[[noreturn]] void end_process() {
  detail::abandon_partial_files();
  Interrupted const interrupted(first_signal);
  say_if_possible(std::string(program_invocation_short_name) + ": " + interrupted.what() + "\n");
  ::_exit(interrupted.status());
}

// Nobody caught an exception: Interrupted, if a signal has arrived.
void end_uncaught() {
  if (first_signal != 0) end_process();
  if (previous_end != nullptr) previous_end();
  std::abort();
}

void watch_signals() {
  struct sigaction action {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < watched.size(); ++i) {
    ::sigaction(watched[i], nullptr, &previous[i]);
    // A signal that is ignored, as under nohup, stays ignored.
    if (previous[i].sa_handler != SIG_IGN || watched[i] == SIGUSR1) ::sigaction(watched[i], &action, nullptr);
  }
}

void leave_signals() {
  for (std::size_t i = 0; i < watched.size(); ++i) {
    // A late request for the state does not end the process.
    if (watched[i] == SIGUSR1 && previous[i].sa_handler == SIG_DFL) previous[i].sa_handler = SIG_IGN;
    ::sigaction(watched[i], &previous[i], nullptr);
  }
}

}  // namespace

namespace detail {

namespace {

// An exception of a listener must neither end the process nor keep the other listeners from being called.
template <class... Arguments>
void call(std::function<void(Arguments...)> const& listener, std::type_identity_t<Arguments>... arguments) {
  if (!listener) return;
  std::string why = "an exception of unknown type";
  try {
    return listener(arguments...);
  } catch (std::exception const& error) {
    why = error.what();
  } catch (...) {  // NOLINT(bugprone-empty-catch): the reason stays unknown
  }
  say("a listener of the signal watch has thrown: " + why + "\n");
}

}  // namespace

// Lives as long as the watch and all that listens.
class SignalListeners {
 public:
  using Entry = std::list<SignalWatch::Actions>::const_iterator;

  Entry add(SignalWatch::Actions actions) {
    std::lock_guard const lock(m_mutex);
    m_actions.push_back(std::move(actions));
    auto const& added = m_actions.back();
    if (added.on_signal && m_watched) ++enders;
    auto const entry = std::prev(m_actions.cend());
    if (first_signal == 0) return entry;
    if (!m_told) {
      tell_signal();
    } else {
      call(added.on_signal, Interrupted(first_signal));
    }
    return entry;
  }
  void remove(Entry entry) {
    std::lock_guard const lock(m_mutex);
    if (entry->on_signal && m_watched) --enders;
    m_actions.erase(entry);
  }
  void tell() {
    std::lock_guard const lock(m_mutex);
    if (state_wanted.exchange(false)) tell_state();
    if (first_signal != 0 && !m_told) tell_signal();
  }
  // The watch ends.
  void leave() {
    std::lock_guard const lock(m_mutex);
    m_watched = false;
  }

 private:
  void tell_signal() {
    m_told = true;
    for (auto const& actions : m_actions) call(actions.on_signal, Interrupted(first_signal));
  }
  void tell_state() const {
    bool told = false;
    for (auto const& actions : m_actions) {
      if (!actions.on_state_request) continue;
      call(actions.on_state_request);
      told = true;
    }
    if (!told) say("no tasks are running\n");
  }

  std::mutex m_mutex;  // held during calls
  std::list<SignalWatch::Actions> m_actions;
  bool m_watched = true;
  bool m_told = false;
};

}  // namespace detail

Interrupted::Interrupted(int signal) : Error(std::string("interrupted: ") + ::strsignal(signal)), m_signal(signal) {}

SignalWatch::SignalWatch() : m_listeners(std::make_shared<detail::SignalListeners>()) {
  if (watching.exchange(true)) throw InvalidArgument("there is a SignalWatch already, and signals have only one");
  first_signal = signals = enders = 0;
  state_wanted = left_to_enders = false;
  try {
    start_threads();
  } catch (...) {
    watching = false;
    throw;
  }
  previous_end = std::set_terminate(end_uncaught);
  watch_signals();
}

void SignalWatch::start_threads() {
  wake_descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_descriptor < 0) throw Error(std::string("cannot watch for signals: ") + std::strerror(errno));
  try {
    m_server = start_thread("signals", [this] { serve(); });
    m_watcher = start_thread("signals", [this] { watch(); });
  } catch (...) {
    if (m_server.joinable()) end_server();
    ::close(std::exchange(wake_descriptor, -1));
    throw;
  }
}

SignalWatch::~SignalWatch() {
  leave_signals();
  end_server();
  m_stop = true;  // only now: the process can still be ended while a call does not return
  wake_watcher();
  m_watcher.join();
  ::close(std::exchange(wake_descriptor, -1));
  m_listeners->leave();
  if (std::get_terminate() == end_uncaught) std::set_terminate(previous_end);
  watching = false;
}

void SignalWatch::end_server() {
  {
    std::lock_guard const lock(m_work_mutex);
    m_no_more_work = true;
  }
  m_work.notify_one();
  m_server.join();
}

void SignalWatch::check() const {
  if (first_signal != 0) throw Interrupted(first_signal);
}

std::shared_ptr<void const> SignalWatch::listen(Actions actions) const {
  auto const all = m_listeners;
  auto const entry = all->add(std::move(actions));
  return {static_cast<void const*>(&*entry), [all, entry](void const*) { all->remove(entry); }};
}

void SignalWatch::watch() {
  std::optional<SteadyClock::time_point> deadline;
  for (;;) {
    auto const left =
        deadline ? std::chrono::ceil<std::chrono::milliseconds>(*deadline - SteadyClock::now()).count() : -1;
    struct pollfd wake {
      wake_descriptor, POLLIN, 0
    };
    ::poll(&wake, 1, deadline ? static_cast<int>(std::max<std::int64_t>(left, 0)) : -1);
    std::uint64_t ignored = 0;
    [[maybe_unused]] auto const count = ::read(wake_descriptor, &ignored, sizeof ignored);
    if (m_stop) return;
    if (signals > 1 || (deadline && SteadyClock::now() >= *deadline) ||
        (signals == 1 && !left_to_enders && enders == 0)) {
      end_process();
    }
    if (signals == 1 && !deadline) deadline = SteadyClock::now() + time_to_end;
    {
      std::lock_guard const lock(m_work_mutex);
      m_has_work = true;
    }
    m_work.notify_one();
  }
}

void SignalWatch::serve() {
  std::unique_lock work(m_work_mutex);
  for (;;) {
    m_work.wait(work, [this] { return m_has_work || m_no_more_work; });
    if (m_no_more_work) return;
    m_has_work = false;
    work.unlock();
    m_listeners->tell();
    work.lock();
  }
}

}  // namespace granary
