// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/runtime/runtime.hpp>

#include <granary/detail/core/backends/blas_threads.hpp>
#include <granary/detail/core/backends/device_api.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/process_exit.hpp>
#include <granary/detail/core/base/say.hpp>
#include <granary/detail/core/base/signal_watch.hpp>
#include <granary/detail/core/engine/engine.hpp>
#include <granary/detail/core/engine/statistics.hpp>
#include <granary/detail/core/model/trace.hpp>
#include <granary/detail/runtime/runtime_parts.hpp>
#include <granary/detail/runtime/warnings.hpp>
#include <granary/detail/schedules/schedule.hpp>

#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

namespace granary {

using namespace detail;

namespace {
thread_local StopToken current_stop;
}

StopToken stop_token() { return current_stop; }

detail::StopScope::StopScope(StopToken const& token) : m_outer(std::exchange(current_stop, token)) {}

detail::StopScope::~StopScope() { current_stop = m_outer; }

void detail::rethrow_with(SourceLine const& source_line) {
  auto const submitted = [&](std::exception const& error) {
    return std::string(error.what()) + " (submitted at " + source_line.file + ":" + std::to_string(source_line.line) +
           ")";
  };
  auto const says_where = [&](std::exception const& error) {
    return *place.file == '\0' || dynamic_cast<TaskError const*>(&error) != nullptr;
  };
  try {
    throw;
  } catch (MemoryLimitError const& error) {
    if (says_where(error)) throw;
    throw MemoryLimitError(submitted(error));
  } catch (InvalidArgument const& error) {
    if (says_where(error)) throw;
    throw InvalidArgument(submitted(error));
  }
}

Runtime::Runtime(RuntimeOptions const& options) : Runtime(options, nullptr) {}

Runtime::Runtime(RuntimeOptions const& options, std::shared_ptr<Processes> processes) {
  if (!processes) {
    m_parts = std::make_unique<Parts>(options, nullptr);
    return;
  }
  try {
    processes->together([&] { m_parts = std::make_unique<Parts>(options, processes); });
  } catch (...) {
    processes->stop();  // it may know an engine that began
    throw;
  }
}

// Tasks that still run use the parts.
Runtime::~Runtime() {
  if (detail::exits_here()) {  // a static object has it: its threads have stopped for ever
    static_cast<void>(m_parts.release());
    return;
  }
  m_parts->signals = nullptr;
  try {
    if (!m_parts->engine->works_here()) combine_reductions({});
  } catch (std::exception const& error) {
    spdlog::error("granary: partial copies were not combined: {}", error.what());
  } catch (...) {
    spdlog::error("granary: partial copies were not combined: {}", "an exception of unknown type");
  }
  m_parts->shut_down();
}

void Runtime::wait() {
  refuse_in_task("wait()");
  combine_reductions({});
  m_parts->give_back_after([this] { m_parts->common ? m_parts->common->wait() : m_parts->engine->wait(); }, {});
  after_wait();
}

void Runtime::wait_alone(std::span<DataId const> data, std::span<DataId const> also) {
  refuse_in_task("wait()");
  combine_reductions(data);
  std::vector<DataId> with_holders;
  if (m_parts->divisions->any_of(data)) {
    detail::Reductions::Lock const lock(m_parts->reductions, *m_parts->engine);
    with_holders = m_parts->divisions->with_holders(data);
    data = with_holders;
  }
  m_parts->give_back_after(
      [&] { m_parts->common ? m_parts->common->wait(data, also) : m_parts->engine->wait(data, also); }, data);
}

void Runtime::prefetch_data(DataId data, NodeId node) {
  if (DataId const id = m_parts->local(data); id.valid()) m_parts->engine->prefetch(id, node);
}
void Runtime::will_not_use_data(DataId data) {
  if (DataId const id = m_parts->local(data); id.valid()) m_parts->engine->will_not_use(id);
}
void Runtime::retain_data(DataId data) {
  m_parts->common ? m_parts->common->retain_data(data) : m_parts->engine->retain_data(data);
}
bool Runtime::in_use(DataId data) const {
  DataId const id = m_parts->local(data);
  return id.valid() && m_parts->engine->in_use(id);
}

RuntimeId Runtime::next_id() {
  static std::atomic<RuntimeId::rep> count = 0;
  return RuntimeId(count++);
}

void Runtime::refuse_foreign_data(std::string const& subject, std::span<RuntimeId const> owners) const {
  auto const first = std::ranges::find_if(owners, [this](RuntimeId owner) { return owner != m_id; });
  auto const number = std::to_string(first - owners.begin() + 1);
  throw InvalidArgument(subject + ": datum " + number + " of " + std::to_string(owners.size()) +
                        " belongs to another Runtime");
}

void Runtime::refuse_foreign_task(TaskName const& task, std::span<RuntimeId const> owners) const {
  detail::naming_line(task.source_line, [&] { refuse_foreign_data("task '" + std::string(task.text) + "'", owners); });
}

ProcessId Runtime::process() const { return m_parts->processes ? m_parts->processes->self() : ProcessId(0); }
std::uint32_t Runtime::processes() const { return m_parts->processes ? m_parts->processes->count() : 1; }
Processes* Runtime::others() const { return m_parts->common ? m_parts->processes.get() : nullptr; }
void Runtime::refuse_with_others(std::string_view what) const { m_parts->refuse_with_others(what); }
Bytes Runtime::bytes_sent() const { return m_parts->processes ? m_parts->processes->sent() : 0; }

void Runtime::assign_data(DataId data, ProcessId owner) {
  if (m_parts->common) return m_parts->common->assign(data, owner);
  if (owner != ProcessId(0))
    throw InvalidArgument("there is no process " + std::to_string(owner.value()) + ": there is one, process 0");
}

void Runtime::give_up(std::exception_ptr const& why, int status) {
  if (!m_parts->common) std::rethrow_exception(why);
  rethrow_origin(m_parts->common->give_up(why, status));
}

bool Runtime::owns(DataId data) const { return m_parts->local(data).valid(); }

void Runtime::share_value(DataId data, std::span<std::byte> bytes) {
  auto* const common = m_parts->common.get();
  if (common == nullptr || common->owner(data) == CommonOrder::nobody) return;
  auto const text = m_parts->processes->from(
      common->owner(data), [&] { return std::string(reinterpret_cast<char const*>(bytes.data()), bytes.size()); });
  std::memcpy(bytes.data(), text.data(), bytes.size());
}

void Runtime::wait_for(std::span<DataId const> data, std::span<DataId const> also) {
  wait_alone(data, also);
  after_wait();
}

void Runtime::after_wait() {
  m_parts->disk->collect();
  // A number that the workers do not use says nothing about them.
  int const shared = blas_threads_differ_by_caller() ? 0 : blas_threads();
  for (auto const& warning : find_warnings(m_parts->options, statistics(), shared)) warn_once(warning);
}

Bytes Runtime::host_memory_peak() const { return statistics().planner.nodes[host_node().index()].peak; }
bool TaskHandle::done() const { return !m_id.valid() || m_engine->ended(m_id); }
void TaskHandle::wait() const {
  if (m_id.valid()) m_engine->wait(m_id);
}

std::vector<Failure> const& Runtime::failures() const { return m_parts->engine->failures(); }
void Runtime::set_failure(Failure found) { m_parts->engine->set_failures({std::move(found)}); }
void Runtime::cancel(std::exception_ptr error) { m_parts->engine->cancel(std::move(error)); }
void Runtime::cancel_on(std::stop_token const& token) {
  m_parts->stop = nullptr;
  if (!token.stop_possible()) return;
  m_parts->stop = std::make_unique<Parts::StopCallback>(
      token, [this] { cancel(std::make_exception_ptr(Stopped("a stop of the run was requested"))); });
}
void Runtime::cancel_on_signals(SignalWatch const& signals) {
  m_parts->signals = nullptr;
  auto const print_state = [this] {
    try {
      detail::say(describe());
    } catch (std::exception const& error) {
      detail::say(std::string("the state of the run is unknown: ") + error.what() + "\n");
    }
  };
  m_parts->signals = signals.listen(
      {.on_signal = [this](Interrupted const& interrupted) { cancel(std::make_exception_ptr(interrupted)); },
       .on_state_request = print_state});
}
std::string Runtime::describe() const { return m_parts->engine->describe(); }
Trace Runtime::trace() const { return m_parts->trace(); }
Schedule Runtime::schedule() const { return m_parts->schedule(); }
Submitter& Runtime::submitter() {
  combine_reductions({});
  if (m_parts->checks) m_parts->checks->begin_other_work();
  return m_parts->submitter();
}
detail::DataReleaser Runtime::releaser() const { return {m_id, m_parts->engine.lent(), m_parts->submitter()}; }
Engine& Runtime::engine() { return *m_parts->engine; }
EngineStatistics Runtime::statistics() const { return m_parts->engine->statistics(); }
std::shared_ptr<void const> Runtime::pin(std::byte* memory, Bytes bytes) { return m_parts->pin(memory, bytes); }
std::shared_ptr<AsyncFileIo> Runtime::io() { return m_parts->io(); }
RuntimeOptions const& Runtime::options() const { return m_parts->options; }
void Runtime::refuse_in_task(std::string_view what) const { m_parts->engine->refuse_in_task(what); }

Bytes Runtime::bytes_read() const {
  std::lock_guard const lock(m_parts->mutex);
  return m_parts->file_io ? m_parts->file_io->bytes_read() : 0;
}

Bytes Runtime::bytes_written() const {
  std::lock_guard const lock(m_parts->mutex);
  return m_parts->file_io ? m_parts->file_io->bytes_written() : 0;
}

DataId Runtime::add_data(std::string name, Bytes bytes, DataBinding binding) {
  if (binding.memory != nullptr) return m_parts->add_view(std::move(name), bytes, std::move(binding)).data;
  DataDescription description{
      .name = std::move(name), .bytes = bytes, .position = binding.position, .bound = binding.bound};
  if (binding.origin) description.origin = disk_node();
  if (binding.home) description.home = disk_node();
  description.origin_is_home =
      binding.origin && binding.origin.storage == binding.home.storage && binding.origin.slot == binding.home.slot;
  auto const add = [this, binding](DataDescription own) {
    auto const size = own.bytes;
    auto called = m_parts->checks ? own.name : std::string();
    auto const added = m_parts->engine->add_data(std::move(own), {nullptr, nullptr, binding.keep}, [&](DataId id) {
      m_parts->disk->bind(id, binding.origin, binding.home);
    });
    if (m_parts->checks) m_parts->checks->add(added, std::move(called), size);
    return added;
  };
  return m_parts->common ? m_parts->common->add_data(std::move(description), add, binding.keep)
                         : add(std::move(description));
}

std::shared_ptr<detail::DataHold const> Runtime::hold(DataId data) const {
  return std::make_shared<detail::DataHold const>(releaser(), data);
}

detail::HeldView Runtime::hold_view(std::string name, Bytes bytes, DataBinding binding) {
  auto added = m_parts->add_view(std::move(name), bytes, std::move(binding));
  return {hold(added.data), std::move(added.keep)};
}

std::string Runtime::name_of(DataId data) const {
  return m_parts->common ? m_parts->common->name_of(data) : m_parts->engine->name_of(data);
}

detail::Division const& Runtime::divide(std::shared_ptr<detail::DataHold const> const& whole,
                                        std::unique_ptr<detail::Division> wanted) {
  m_parts->refuse_with_others("a temporary cannot be cut into parts");
  detail::Reductions::Lock const lock(m_parts->reductions, *m_parts->engine);
  DataId const id = whole->id();
  m_parts->reductions.combine(*this, {&id, 1});
  return m_parts->divisions->divide(*this, whole, std::move(wanted));
}

void Runtime::submit_copy(std::string_view name, detail::TaskCode const& code, std::span<Access const> accesses,
                          Parameters parameters) {
  m_parts->engine->submit_at_once({m_parts->codelet(name, code), accesses}, std::move(parameters));
}

// Calls `submit(engine, cuts)` behind the combination of reductions and the copies of cut temporaries; what it throws
// names the line of the submission. It submits at once, or, with `cuts`, while so many temporaries were cut.
template <class Submit>
TaskHandle Runtime::submit_in_order(TaskName const& name, std::span<Access const> accesses, Submit&& submit) {
  return detail::naming_line(name.source_line, [&]() -> TaskHandle {
    auto& engine = *m_parts->engine;
    auto& divisions = *m_parts->divisions;
    for (;;) {
      auto const cuts = divisions.cuts().load();
      if (m_parts->reductions.any() || divisions.any_of(accesses)) break;
      if (auto const task = submit(engine, std::optional(cuts))) return {engine, *task};
    }
    detail::Reductions::Lock const lock(m_parts->reductions, engine);
    m_parts->reductions.combine_for(*this, accesses);
    auto const uses = divisions.prepare(*this, name.text, accesses);
    auto const task = submit(engine, std::nullopt);
    divisions.submitted(uses);
    return {engine, *task};
  });
}

TaskHandle Runtime::submit_task(TaskInfo const& info, detail::TaskCode const& code, std::span<Access const> accesses,
                                Parameters parameters) {
  if (m_parts->common) {
    refuse_in_task("submit()");
    return detail::naming_line(info.name.source_line, [&]() -> TaskHandle {
      return {*m_parts->engine,
              m_parts->common->submit(m_parts->submission(info, code, accesses), std::move(parameters))};
    });
  }
  std::optional<detail::TaskCode> checked;
  if (m_parts->checks) {
    checked.emplace(detail::Checks::checked(code));
    parameters = m_parts->checks->checked(info, code, accesses, std::move(parameters));
  }
  using Cuts = std::optional<std::uint64_t>;
  return submit_in_order(info.name, accesses, [&](Engine& engine, Cuts cuts) -> std::optional<TaskId> {
    auto const task = m_parts->submission(info, checked ? *checked : code, accesses);
    if (cuts) return engine.submit_while(m_parts->divisions->cuts(), *cuts, task, parameters);
    return engine.submit_at_once(task, std::move(parameters));
  });
}

void Runtime::check_task(std::string_view name, detail::TaskCode const& code, std::span<Access const> accesses) {
  m_parts->engine->check({m_parts->codelet(name, code), accesses});
}

TaskHandle Runtime::submit_outside_task(TaskName const& name, std::function<bool()> const& ended,
                                        std::span<Access const> accesses) {
  m_parts->refuse_with_others("work outside granary cannot take its place in the order of tasks");
  if (m_parts->checks) m_parts->checks->begin_other_work();
  return submit_in_order(name, accesses, [&](Engine& engine, std::optional<std::uint64_t> cuts) {
    auto const refuse = [&](std::string const& why) {
      throw InvalidArgument("task '" + std::string(name.text) + "' is outside granary and " + why);
    };
    if (!ended) refuse("has no function that tells its end");
    std::vector<Access> once;
    for (auto const& access : accesses) {
      auto const uses = [&] { return "uses data '" + engine.name_of(access.data) + "', which "; };
      if (engine.has_mirror(access.data)) {
        refuse(uses() + "have two sides (a DualView): fence the work, and call modify_host() or modify_device()");
      }
      if (!engine.home_in_memory(access.data)) {
        refuse(uses() + "have no place in the application's memory: use a View");
      }
      // The work finds what it reads at home: the planner has nothing to bring.
      auto const mode = access.mode == AccessMode::Read ? AccessMode::Read : AccessMode::Write;
      auto const named = std::ranges::find(once, access.data, &Access::data);
      if (named == once.end()) {
        once.push_back({access.data, mode});
      } else if (mode == AccessMode::Write) {
        named->mode = mode;
      }
    }
    std::string const no_variant;
    auto const task = m_parts->submission({name}, {{}, no_variant, false, true}, once);
    Parameters parameters{OutsideWork::Ended(ended)};
    return std::optional(cuts ? engine.submit(task, std::move(parameters))
                              : engine.submit_at_once(task, std::move(parameters)));
  });
}

std::function<bool()> Runtime::end_of_work(void const* instance) const {
  auto const& api = m_parts->devices.api;
  if (m_parts->devices.empty() || api->emulated()) return {};
  return [api, event = std::shared_ptr<DeviceApi::Event>(api->mark(instance))] { return api->done(*event); };
}

void Runtime::refuse_reduction(TaskInfo const& info, std::span<std::pair<DataId, bool> const> accesses) const {
  auto& engine = *m_parts->engine;
  std::string const name(info.name.text);
  for (auto const& [data, reduced] : accesses) {
    if (reduced && m_parts->divisions->any_of(std::span(&data, 1))) {
      throw InvalidArgument("task '" + name + "' reduces data '" + engine.name_of(data) +
                            "', which belong to a temporary that was cut into parts: reduce a View, or a temporary "
                            "that is not cut");
    }
    if (!reduced || accesses.size() == 1) continue;
    if (std::ranges::count(accesses, data, &std::pair<DataId, bool>::first) > 1) {
      throw InvalidArgument("task '" + name + "' reduces data '" + engine.name_of(data) +
                            "' and accesses it a second time: a task sees only its own part of a reduction");
    }
    // The other access would end the reduction before the task's contribution.
    auto const sharing = engine.with_bytes_of({&data, 1});
    for (auto const& [other, unused] : accesses) {
      if (other == data || std::ranges::count(sharing, other) == 0) continue;
      throw InvalidArgument("task '" + name + "' reduces data '" + engine.name_of(data) +
                            "', which shares bytes with data '" + engine.name_of(other) + "' of the same task");
    }
  }
}

TaskHandle Runtime::submit_reducing(TaskInfo const& info, std::span<std::pair<DataId, bool> const> accesses,
                                    std::function<TaskHandle()> const& submission) {
  m_parts->refuse_with_others("data cannot be reduced");
  detail::Reductions::Lock const lock(m_parts->reductions, *m_parts->engine);
  detail::naming_line(info.name.source_line, [&] { refuse_reduction(info, accesses); });
  return m_parts->reductions.contribute(submission);
}

DataId Runtime::next_copy(std::unique_ptr<detail::ReductionKind> kind) {
  return m_parts->reductions.next_copy(*this, std::move(kind));
}

void Runtime::combine_reductions(std::span<DataId const> data) {
  if (!m_parts->reductions.any()) return;
  detail::Reductions::Lock const lock(m_parts->reductions, *m_parts->engine);
  m_parts->reductions.combine(*this, data);
}

std::vector<DeviceFigures> Runtime::devices() const {
  auto const statistics = m_parts->engine->statistics();
  auto const& machine = m_parts->engine->topology().machine();
  std::vector<DeviceFigures> figures;
  for (std::size_t d = 0; d < m_parts->devices.size(); ++d) {
    auto const node = device_node(d);
    figures.push_back({.name = machine[node].name,
                       .description = m_parts->devices.api->properties(m_parts->devices.numbers[d]).name,
                       .limit = machine[node].capacity,
                       .peak = statistics.planner.nodes[node.index()].peak});
    for (std::size_t w = 0; w < machine.workers.size(); ++w) {
      if (machine.workers[w].node == node) figures.back().tasks += statistics.workers[w].tasks;
    }
  }
  return figures;
}

DeviceTraffic Runtime::device_traffic() const {
  auto const statistics = m_parts->engine->statistics();
  auto const& machine = m_parts->engine->topology().machine();
  auto const& links = machine.links;
  DeviceTraffic traffic;
  for (std::size_t l = 0; l < links.size(); ++l) {
    auto const is_device = [&](NodeId node) { return machine[node].kind == NodeKind::Device; };
    if (!is_device(links[l].from) && !is_device(links[l].to)) continue;
    auto& sum = links[l].from == host_node() ? traffic.from_host
                : links[l].to == host_node() ? traffic.to_host
                                             : traffic.between;
    sum += statistics.planner.links[l].bytes;
  }
  return traffic;
}

std::shared_ptr<std::byte> Runtime::device_memory(std::size_t device, std::string const& label, Bytes bytes) {
  auto const& devices = m_parts->devices;
  if (device >= devices.size()) {
    throw InvalidArgument("there is no device " + std::to_string(device) + " for '" + label + "': this Runtime uses " +
                          std::to_string(devices.size()));
  }
  int const number = devices.numbers[device];
  auto* const memory = devices.api->allocate(number, std::max<Bytes>(bytes, 1));
  return {memory, [api = devices.api, number](std::byte* first) { api->free(number, first); }};
}

void Runtime::refuse_on_devices(std::string const& name, std::string const& shape) const {
  auto const& workers = m_parts->engine->topology().machine().workers;
  if (std::ranges::none_of(workers, [](Worker const& worker) { return worker.kind == WorkerKind::Device; })) return;
  throw InvalidArgument(
      "the View '" + name + "' (" + shape +
      ") cannot be copied to a device: its elements must be trivially copyable and have addresses "
      "of their own, with gaps in at most one dimension (a part of a View may be cut in its outermost "
      "dimension and one more)");
}

}  // namespace granary
