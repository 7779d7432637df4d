// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/signal_watch.hpp>
#include <granary/detail/core/model/trace.hpp>
#include <granary/detail/distributed/exchange.hpp>
#include <granary/detail/distributed/transports/processes.hpp>
#include <granary/detail/runtime/session/body_codelets.hpp>
#include <granary/detail/runtime/session/checks.hpp>
#include <granary/detail/runtime/session/data_registry.hpp>
#include <granary/detail/runtime/session/divisions.hpp>
#include <granary/detail/runtime/session/figures.hpp>
#include <granary/detail/runtime/session/mirrors_in_use.hpp>
#include <granary/detail/runtime/session/reductions.hpp>
#include <granary/detail/runtime/session/session.hpp>
#include <granary/detail/runtime/session/session_machine.hpp>
#include <granary/detail/runtime/session/submission.hpp>
#include <granary/detail/runtime/session/watchdog.hpp>
#include <granary/detail/schedules/schedule.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace granary::detail {

/// The session of a Runtime, which owns it. Members are created in this order and destroyed in the reverse one.
class RuntimeSession final : public Session {
 public:
  /// `processes`: null unless this is one of several. Throws as `configure`.
  RuntimeSession(RuntimeOptions const& options, std::shared_ptr<Processes> processes);
  /// The work of ~Runtime, see there.
  void end();

  // See Runtime.
  void wait();
  void prefetch(DataId data, NodeId node) override { m_submission->prefetch(data, node); }
  void will_not_use(DataId data) override { m_submission->will_not_use(data); }
  [[nodiscard]] std::vector<Failure> const& failures() const { return engine().failures(); }
  void cancel(std::exception_ptr error) { engine().cancel(std::move(error)); }
  void cancel_on(std::stop_token const& token);
  void cancel_on(SignalWatch const& signals) override;
  [[nodiscard]] std::string describe() const { return engine().describe(); }
  [[nodiscard]] Trace trace() const { return m_machine.trace(); }
  [[nodiscard]] Schedule schedule() const { return m_machine.schedule(); }
  [[nodiscard]] RuntimeFigures figures() const;
  [[nodiscard]] ProcessId process() const { return m_processes ? m_processes->self() : ProcessId(0); }
  [[nodiscard]] std::uint32_t processes() const { return m_processes ? m_processes->count() : 1; }
  void assign(DataId data, ProcessId owner) override { m_submission->assign(data, owner); }
  [[nodiscard]] bool owns(DataId data) const override { return m_submission->owns(data); }
  [[noreturn]] void give_up(std::exception_ptr const& why, int status) {
    std::rethrow_exception(m_submission->give_up(why, status));
  }

  [[nodiscard]] RuntimeOptions const& options() const override { return m_machine.options(); }
  [[nodiscard]] bool has_devices() const override { return !m_machine.devices().empty(); }
  [[nodiscard]] Engine& engine() const override { return m_machine.engine(); }
  [[nodiscard]] EngineStatistics statistics() const override;

  [[nodiscard]] Submitter& submitter() override;
  TaskHandle submit(TaskInfo const& info, TaskCode const& code, std::span<Access const> accesses,
                    Parameters parameters) override;
  void check_task(std::string_view name, TaskCode const& code, std::span<Access const> accesses) override;
  TaskHandle submit_outside(TaskName const& name, std::function<bool()> const& ended,
                            std::span<Access const> accesses) override;
  [[nodiscard]] std::function<bool()> end_of_work(void const* instance) const override;
  TaskHandle submit_reducing(TaskInfo const& info, std::span<std::pair<DataId, bool> const> accesses,
                             std::function<TaskHandle()> const& submission) override;
  [[nodiscard]] DataId next_copy(std::unique_ptr<ReductionKind> kind) override;
  void submit_copy(std::string_view name, TaskCode const& code, std::span<Access const> accesses,
                   Parameters parameters) override;

  DataId add_data(std::string name, Bytes bytes, DataBinding binding) override;
  [[nodiscard]] HeldView hold_view(std::string name, Bytes bytes, DataBinding binding) override;
  void retain_data(DataId data) override { m_submission->retain_data(data); }
  [[nodiscard]] DataReleaser releaser() const override;
  [[nodiscard]] bool in_use(DataId data) const override { return m_submission->in_use(data); }
  [[nodiscard]] std::string name_of(DataId data) const override { return m_submission->name_of(data); }
  Division const& divide(std::shared_ptr<DataHold const> const& whole, std::unique_ptr<Division> wanted) override;
  [[nodiscard]] NodeId device_of(std::string const& name, std::byte const* memory) const override {
    return m_registry.node_of(name, memory, 1, false);
  }
  void keep_until_wait(std::shared_ptr<TwoSides> used) override { m_mirrors.keep(std::move(used)); }
  void refuse_on_devices(std::string const& name, std::string const& shape) const override;
  [[nodiscard]] std::shared_ptr<std::byte> device_memory(std::size_t device, std::string const& label,
                                                         Bytes bytes) override;
  [[nodiscard]] std::shared_ptr<void const> pin(std::byte* memory, Bytes bytes) override {
    return m_registry.pin(memory, bytes);
  }
  [[nodiscard]] std::shared_ptr<AsyncFileIo> io() override { return m_machine.io(); }

  void wait_for(std::span<DataId const> data, std::span<DataId const> also) override;
  void wait_quietly(std::span<DataId const> data, std::span<DataId const> also) override;
  void set_failure(Failure found) override { engine().set_failures({std::move(found)}); }
  void refuse_in_task(std::string_view what) const override { engine().refuse_in_task(what); }

  void refuse_with_others(std::string_view what) const override { m_submission->refuse_with_others(what); }
  [[nodiscard]] Processes* others() const override { return m_submission->others(); }
  void share_value(DataId data, std::span<std::byte> bytes) override { m_submission->share_value(data, bytes); }

 private:
  using StopCallback = std::stop_callback<std::function<void()>>;

  [[nodiscard]] SharedData add_view(std::string name, Bytes bytes, DataBinding binding);
  template <class Submit>
  TaskHandle submit_in_order(TaskName const& name, std::span<Access const> accesses, Submit&& submit);
  void refuse_reduction(TaskInfo const& info, std::span<std::pair<DataId, bool> const> accesses) const;
  void combine_reductions(std::span<DataId const> data);
  /// Waits, and gives the application the data, or all if there are none, whether that throws or not.
  template <class Wait>
  void wait_and_give_back(Wait&& wait, std::span<DataId const> data);
  void warn_after_wait();
  void end_tasks();

  std::shared_ptr<Processes> m_processes;  // null unless this is one of several
  std::unique_ptr<Exchange> m_exchange;    // likewise, and before the engine
  SessionMachine m_machine;
  std::shared_ptr<Checks> m_checks;  // null unless RuntimeOptions::check
  DataRegistry m_registry;
  BodyCodelets m_codelets;
  MirrorsInUse m_mirrors;
  std::unique_ptr<StopCallback> m_stop;   // null: no token can cancel the run
  std::shared_ptr<void const> m_signals;  // null: no signal does
  Reductions m_reductions;
  std::shared_ptr<Divisions> const m_divisions = std::make_shared<Divisions>();
  int m_exceptions = std::uncaught_exceptions();
  std::unique_ptr<Submission> m_submission;
  std::unique_ptr<Watchdog> m_watchdog;  // null without a stall timeout
};

}  // namespace granary::detail
