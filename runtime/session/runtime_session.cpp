// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/runtime/session/runtime_session.hpp>

#include <granary/detail/core/backends/blas_threads.hpp>
#include <granary/detail/core/backends/device_api.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/say.hpp>
#include <granary/detail/core/engine/statistics.hpp>
#include <granary/detail/runtime/setup/warnings.hpp>

#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <utility>

namespace granary::detail {

namespace {

RuntimeId next_id() {
  static std::atomic<RuntimeId::rep> count = 0;
  return RuntimeId(count++);
}

void check_grid(Distribution const& grid, std::uint32_t count) {
  if (grid.processes() == count) return;
  throw InvalidArgument("a grid of " + std::to_string(grid.rows()) + " x " + std::to_string(grid.columns()) + " has " +
                        std::to_string(grid.processes()) + " processes, not " + std::to_string(count) +
                        " (RuntimeOptions::grid)");
}

}  // namespace

RuntimeSession::RuntimeSession(RuntimeOptions const& asked, std::shared_ptr<Processes> of)
    : Session(next_id()),
      m_processes(std::move(of)),
      m_exchange(m_processes && m_processes->count() > 1
                     ? std::make_unique<Exchange>(m_processes->self(), *m_processes,
                                                  [this](Event const& event) { engine().post(event); })
                     : nullptr),
      m_machine(asked, m_exchange.get()),
      m_checks(options().check ? std::make_shared<Checks>(options().check_reads, options().check_orders) : nullptr),
      m_registry(m_machine, m_checks),
      m_codelets(engine()) {
  auto const grid = options().grid.value_or(Distribution::for_processes(processes()));
  check_grid(grid, processes());
  if (m_exchange && m_checks) {
    throw InvalidArgument(
        "tasks are checked in one process: run the program as one (GRANARY_CHECK, RuntimeOptions::check)");
  }
  m_submission = m_exchange ? make_common_submission(*m_processes, grid, engine(), m_registry, *m_exchange)
                            : make_local_submission(engine(), m_registry);
  for (auto const& warning : find_warnings(options(), find_environment(options()))) warn_once(warning);
  if (options().stall_timeout <= Duration{0}) return;
  m_watchdog = std::make_unique<Watchdog>(engine(), options().stall_timeout, [](Duration passed, auto const& state) {
    spdlog::error("granary: no task and no transfer has ended for {:.3g} s\n{}", seconds(passed), state);
  });
}

void RuntimeSession::end() {
  m_signals = nullptr;
  if (engine().works_here()) {
    spdlog::error(
        "granary: a Runtime was destroyed inside one of its own tasks and would wait for itself; keep it alive until "
        "wait() has returned");
    spdlog::default_logger()->flush();
    std::abort();
  }
  try {
    combine_reductions({});
  } catch (std::exception const& error) {
    spdlog::error("granary: partial copies were not combined: {}", error.what());
  } catch (...) {
    spdlog::error("granary: partial copies were not combined: {}", "an exception of unknown type");
  }
  end_tasks();
  m_stop.reset();
  m_watchdog.reset();
  m_machine.write_outputs();
  m_machine.keep_models();
  if (m_processes) m_processes->stop();
  m_machine.end();
}

void RuntimeSession::end_tasks() {
  if (m_checks) m_checks->begin_wait();
  try {
    if (m_submission->gave_up()) return;  // it has waited
    if (std::uncaught_exceptions() > m_exceptions) {
      m_submission->abandon(std::make_exception_ptr(Error("an exception ended the Runtime")));
      return;
    }
    m_submission->wait();
    if (!m_checks) return;
    try {
      m_checks->waited({});
    } catch (CheckFailed const& error) {
      spdlog::error("granary: {}", error.what());
    }
  } catch (std::exception const& error) {
    spdlog::error("granary: a task failed and nobody waited for it: {}", error.what());
  } catch (...) {
    spdlog::error("granary: a task failed and nobody waited for it");
  }
}

template <class Wait>
void RuntimeSession::wait_and_give_back(Wait&& wait, std::span<DataId const> data) {
  if (m_checks) m_checks->begin_wait();
  try {
    wait();
  } catch (...) {
    m_mirrors.give_back(data);
    if (m_checks) m_checks->forget(data);
    throw;
  }
  m_mirrors.give_back(data);
  if (m_checks) m_checks->waited(data);
}

void RuntimeSession::wait() {
  refuse_in_task("wait()");
  combine_reductions({});
  wait_and_give_back([this] { m_submission->wait(); }, {});
  warn_after_wait();
}

void RuntimeSession::wait_for(std::span<DataId const> data, std::span<DataId const> also) {
  wait_quietly(data, also);
  warn_after_wait();
}

void RuntimeSession::wait_quietly(std::span<DataId const> data, std::span<DataId const> also) {
  refuse_in_task("wait()");
  combine_reductions(data);
  std::vector<DataId> with_forms;
  if (m_divisions->any_of(data)) {
    Reductions::Lock const lock(m_reductions, engine());
    with_forms = m_divisions->with_forms(data);
    data = with_forms;
  }
  wait_and_give_back([&] { m_submission->wait(data, also); }, data);
}

void RuntimeSession::warn_after_wait() {
  m_machine.disk().collect();
  // A number that the workers do not use says nothing about them.
  int const shared = blas_threads_differ_by_caller() ? 0 : blas_threads();
  for (auto const& warning : find_warnings(options(), statistics(), shared)) warn_once(warning);
}

void RuntimeSession::cancel_on(std::stop_token const& token) {
  m_stop = nullptr;
  if (!token.stop_possible()) return;
  m_stop = std::make_unique<StopCallback>(
      token, [this] { cancel(std::make_exception_ptr(Stopped("a stop of the run was requested"))); });
}

void RuntimeSession::cancel_on(SignalWatch const& signals) {
  m_signals = nullptr;
  auto const print_state = [this] {
    try {
      say(describe());
    } catch (std::exception const& error) {
      say(std::string("the state of the run is unknown: ") + error.what() + "\n");
    }
  };
  m_signals = signals.listen(
      {.on_signal = [this](Interrupted const& interrupted) { cancel(std::make_exception_ptr(interrupted)); },
       .on_state_request = print_state});
}

RuntimeFigures RuntimeSession::figures() const {
  auto figures = m_machine.figures();
  if (m_processes) figures.bytes_sent = m_processes->sent();
  return figures;
}

EngineStatistics RuntimeSession::statistics() const { return engine().statistics(); }

SharedData RuntimeSession::add_view(std::string name, Bytes bytes, DataBinding binding) {
  if (binding.origin || binding.home) throw InvalidArgument("datum '" + name + "' has both an address and a storage");
  if (!binding.set) {
    auto const& lines = binding.lines;
    ByteSet::Dimension const of_lines{lines.count, lines.pitch};
    binding.set =
        lines.count > 0 ? ByteSet(binding.memory, lines.line, {&of_lines, 1}) : ByteSet(binding.memory, bytes);
  }
  return m_submission->add_view(std::move(name), bytes, std::move(binding));
}

DataId RuntimeSession::add_data(std::string name, Bytes bytes, DataBinding binding) {
  if (binding.memory != nullptr) return add_view(std::move(name), bytes, std::move(binding)).data;
  DataDescription description{
      .name = std::move(name), .bytes = bytes, .position = binding.position, .bound = binding.bound};
  if (binding.origin) description.origin = disk_node();
  if (binding.home) description.home = disk_node();
  description.origin_is_home =
      binding.origin && binding.origin.storage == binding.home.storage && binding.origin.slot == binding.home.slot;
  return m_submission->add_data(std::move(description), std::move(binding));
}

HeldView RuntimeSession::hold_view(std::string name, Bytes bytes, DataBinding binding) {
  auto added = add_view(std::move(name), bytes, std::move(binding));
  return {hold(added.data), std::move(added.keep)};
}

DataReleaser RuntimeSession::releaser() const { return {id(), m_machine.lent_engine(), m_submission->submitter()}; }

std::shared_ptr<std::byte> RuntimeSession::device_memory(std::size_t device, std::string const& label, Bytes bytes) {
  auto const& devices = m_machine.devices();
  if (device >= devices.size()) {
    throw InvalidArgument("there is no device " + std::to_string(device) + " for '" + label + "': this Runtime uses " +
                          std::to_string(devices.size()));
  }
  int const number = devices.numbers[device];
  auto* const memory = devices.api->allocate(number, std::max<Bytes>(bytes, 1));
  return {memory, [api = devices.api, number](std::byte* first) { api->free(number, first); }};
}

void RuntimeSession::refuse_on_devices(std::string const& name, std::string const& shape) const {
  auto const& workers = engine().topology().machine().workers;
  if (std::ranges::none_of(workers, [](Worker const& worker) { return worker.kind == WorkerKind::Device; })) return;
  throw InvalidArgument(
      "the View '" + name + "' (" + shape +
      ") cannot be copied to a device: its elements must be trivially copyable and have addresses "
      "of their own, with gaps in at most one dimension (a part of a View may be cut in its outermost "
      "dimension and one more)");
}

}  // namespace granary::detail
