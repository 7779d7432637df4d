// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/device_api.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/runtime/session/runtime_session.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace granary::detail {

Submitter& RuntimeSession::submitter() {
  combine_reductions({});
  if (m_checks) m_checks->begin_other_work();
  return m_submission->submitter();
}

Division const& RuntimeSession::divide(std::shared_ptr<DataHold const> const& whole, std::unique_ptr<Division> wanted) {
  refuse_with_others("a temporary cannot be cut into parts");
  Reductions::Lock const lock(m_reductions, engine());
  DataId const id = whole->id();
  m_reductions.combine(*this, {&id, 1});
  return m_divisions->divide(*this, whole, std::move(wanted));
}

void RuntimeSession::submit_copy(std::string_view name, TaskCode const& code, std::span<Access const> accesses,
                                 Parameters parameters) {
  engine().submit_at_once({m_codelets.find(name, code), accesses}, std::move(parameters));
}

// Calls `submit(engine, cuts)` behind the combination of reductions and the copies of cut temporaries; what it throws
// names the line of the submission. It submits at once, or, with `cuts`, while so many temporaries were cut.
template <class Submit>
TaskHandle RuntimeSession::submit_in_order(TaskName const& name, std::span<Access const> accesses, Submit&& submit) {
  return naming_line(name.source_line, [&]() -> TaskHandle {
    auto& engine = this->engine();
    auto& divisions = *m_divisions;
    for (;;) {
      auto const cuts = divisions.cuts().load();
      if (m_reductions.any() || divisions.any_of(accesses)) break;
      if (auto const task = submit(engine, std::optional(cuts))) return {engine, *task};
    }
    Reductions::Lock const lock(m_reductions, engine);
    m_reductions.combine_for(*this, accesses);
    auto const uses = divisions.prepare(*this, name.text, accesses);
    auto const task = submit(engine, std::nullopt);
    divisions.submitted(uses);
    return {engine, *task};
  });
}

TaskHandle RuntimeSession::submit(TaskInfo const& info, TaskCode const& code, std::span<Access const> accesses,
                                  Parameters parameters) {
  std::optional<TaskCode> checked;
  if (m_checks) {
    checked.emplace(Checks::checked(code));
    parameters = m_checks->checked(info, code, accesses, std::move(parameters));
  }
  using Cuts = std::optional<std::uint64_t>;
  return submit_in_order(info.name, accesses, [&](Engine& engine, Cuts cuts) -> std::optional<TaskId> {
    auto const task = m_codelets.submission(info, checked ? *checked : code, accesses);
    if (cuts) return m_submission->submit_while(m_divisions->cuts(), *cuts, task, parameters);
    return engine.submit_at_once(task, std::move(parameters));
  });
}

void RuntimeSession::check_task(std::string_view name, TaskCode const& code, std::span<Access const> accesses) {
  engine().check({m_codelets.find(name, code), accesses});
}

TaskHandle RuntimeSession::submit_outside(TaskName const& name, std::function<bool()> const& ended,
                                          std::span<Access const> accesses) {
  refuse_with_others("work outside granary cannot take its place in the order of tasks");
  if (m_checks) m_checks->begin_other_work();
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
    auto const task = m_codelets.submission({name}, {{}, no_variant, false, true}, once);
    Parameters parameters{OutsideWork::Ended(ended)};
    return std::optional(cuts ? engine.submit(task, std::move(parameters))
                              : engine.submit_at_once(task, std::move(parameters)));
  });
}

std::function<bool()> RuntimeSession::end_of_work(void const* instance) const {
  auto const& api = m_machine.devices().api;
  if (m_machine.devices().empty() || api->emulated()) return {};
  return [api, event = std::shared_ptr<DeviceApi::Event>(api->mark(instance))] { return api->done(*event); };
}

void RuntimeSession::refuse_reduction(TaskInfo const& info, std::span<std::pair<DataId, bool> const> accesses) const {
  auto& engine = this->engine();
  std::string const name(info.name.text);
  for (auto const& [data, reduced] : accesses) {
    if (reduced && m_divisions->any_of(std::span(&data, 1))) {
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

TaskHandle RuntimeSession::submit_reducing(TaskInfo const& info, std::span<std::pair<DataId, bool> const> accesses,
                                           std::function<TaskHandle()> const& submission) {
  refuse_with_others("data cannot be reduced");
  Reductions::Lock const lock(m_reductions, engine());
  naming_line(info.name.source_line, [&] { refuse_reduction(info, accesses); });
  return m_reductions.contribute(submission);
}

DataId RuntimeSession::next_copy(std::unique_ptr<ReductionKind> kind) {
  return m_reductions.next_copy(*this, std::move(kind));
}

void RuntimeSession::combine_reductions(std::span<DataId const> data) {
  if (!m_reductions.any()) return;
  Reductions::Lock const lock(m_reductions, engine());
  m_reductions.combine(*this, data);
}

}  // namespace granary::detail
