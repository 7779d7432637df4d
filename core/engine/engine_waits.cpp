// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Callers of the engine that wait: for the end of tasks, for data, or to submit more.
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/process_exit.hpp>
#include <granary/detail/core/base/task_error.hpp>
#include <granary/detail/core/engine/engine.hpp>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

namespace granary::detail {

// Until the condition is met, which is called under the lock.
void Engine::sleep_until(std::function<bool()> const& met) {
  m_callers.sleepers.sleep_until([this](auto&& look) { return this->hold_lock(look); }, met, m_mailbox.spin());
}

void Engine::throttle() {
  auto const since = apply([this] { return asleep_at(); });
  if (since) sleep_after_submission(*since);
}

// Under the lock.
std::optional<std::uint64_t> Engine::asleep_at() const {
  return m_planner.submitter_sleeps() ? std::optional(m_callers.cancels) : std::nullopt;
}

// The planner never depends on later actions of its user, nor may work outside: the live tasks end by themselves.
void Engine::sleep_after_submission(std::uint64_t cancels) {
  if (EngineScope::current() != nullptr) return;
  auto const since = m_accounts.now();
  sleep_until([&] { return m_broken || m_callers.cancels != cancels || !m_planner.submitter_sleeps(); });
  hold_lock([&] { m_callers.slept += m_accounts.now() - since; });
}

void Engine::wait_until_idle() {
  sleep_until([this] { return !m_mailbox.pending() && (m_broken || m_planner.idle()); });
}

void Engine::refuse_in_task(std::string_view what) const {
  if (detail::exits_here()) throw Error(std::string(what) + " was called after exit(), when no task runs any more");
  if (!works_here()) return;
  throw InvalidArgument(std::string(what) +
                        " cannot be called inside a task of the same Runtime: it would wait for itself");
}

// Throws the first one.
void Engine::report(std::vector<Failure> failures) {
  if (failures.empty()) return;
  for (auto& failure : failures) failure.error = detail::in_task(failure.error, failure.origin);
  auto const first = failures.front().error;
  set_failures(std::move(failures));
  std::rethrow_exception(first);
}

void Engine::set_failures(std::vector<Failure> found) {
  std::lock_guard const lock(m_reported_lock);
  m_reported[std::this_thread::get_id()] = std::move(found);
}

std::vector<Failure> const& Engine::failures() const {
  static std::vector<Failure> const none;
  std::lock_guard const lock(m_reported_lock);
  auto const found = m_reported.find(std::this_thread::get_id());
  return found != m_reported.end() ? found->second : none;
}

void Engine::wait() {
  refuse_in_task("wait()");
  wait_until_idle();
  apply([&] { m_planner.handle(FlushHomes{}); });
  wait_until_idle();
  report(apply([&] {
    m_planner.handle(HomesMayChange{});
    return m_planner.failed() ? m_planner.handle(TakeFailures{}) : std::vector<Failure>{};
  }));
}

void Engine::wait(std::span<DataId const> data, std::span<DataId const> also) {
  refuse_in_task("wait()");
  Mailbox::Waiting const waiting(m_mailbox);
  for (auto const list : {data, also}) {
    for (DataId const id : list) {
      sleep_until([&] { return m_broken || m_planner.use_of(id).tasks == 0; });
      apply([&] { m_planner.handle(FlushHomes{id}); });
    }
  }
  std::vector<Failure> failures;
  auto const come_to_rest = [&](DataId id, bool report) {
    sleep_until([&] {
      auto const use = m_planner.use_of(id);
      return m_broken || (use.tasks == 0 && !use.moves);
    });
    apply([&] {
      m_planner.handle(HomesMayChange{id});
      if (!report || !m_planner.failed() || m_planner.use_of(id).tasks > 0) return;
      std::ranges::move(m_planner.handle(TakeFailures{id}), std::back_inserter(failures));
    });
  };
  for (DataId const id : data) come_to_rest(id, true);
  for (DataId const id : also) come_to_rest(id, false);
  std::ranges::stable_sort(failures, {}, &Failure::position);
  // One that concerns several of the data was found for each of them.
  auto const same = [](Failure const& a, Failure const& b) {
    return a.task == b.task && a.write_back_of == b.write_back_of;
  };
  auto const repeated = std::ranges::unique(failures, same);
  failures.erase(repeated.begin(), repeated.end());
  report(std::move(failures));
}

void Engine::wait(TaskId task) {
  refuse_in_task("wait()");
  Mailbox::Waiting const waiting(m_mailbox);
  sleep_until([&] { return m_broken || !m_planner.live(task); });
  auto const failure = apply([&] {
    auto const* const found = m_planner.failure_of(task);
    return found != nullptr ? std::optional(*found) : std::nullopt;
  });
  if (failure && failure->error) std::rethrow_exception(detail::in_task(failure->error, failure->origin));
}

bool Engine::ended(TaskId task) {
  return apply([&] { return !m_planner.live(task); });
}

bool Engine::in_use(DataId data) {
  return apply([&] { return m_planner.use_of(data).tasks > 0; });
}

}  // namespace granary::detail
