// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/model/data.hpp>
#include <granary/core/model/machine.hpp>
#include <granary/core/planner/planner.hpp>

#include "support/acts.hpp"

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace granary::test {

/// An independent judge of a planner's commands: it tracks the value in every place, performs each command's effect,
/// and throws std::logic_error with one sentence at the first command that breaks a promise. It asks the planner only
/// for the data of run commands, and for the poisoned data.
class CoherenceOracle {
 public:
  explicit CoherenceOracle(Topology const& topology)
      : m_topology(topology), m_lanes(topology.machine().workers.size()) {}

  /// Set it before the first command; may be null in tests of copies only.
  void look_into(Planner const* planner) { m_planner = planner; }
  /// The datum was registered under this id, which no other datum has any more.
  void add_data(DataId id, DataDescription description, std::span<FixedPlace const> places = {});
  void on_event(Event const& event);
  void on_act(Act const& act);
  /// All commands that follow from one event have been seen: no value may be lost.
  void after_event();
  /// The run is at rest: every task has left, no command is open, every home holds the last value unless a failure is
  /// the reason.
  void at_rest(std::vector<Failure> const& failures);

  [[nodiscard]] std::size_t tasks_run() const { return m_tasks_run; }
  [[nodiscard]] std::size_t tasks_cancelled() const { return m_tasks_cancelled; }
  [[nodiscard]] std::size_t copies() const { return m_copies; }
  /// Whether the task ran to its end without a failure.
  [[nodiscard]] bool succeeded(TaskId task) const { return m_tasks[task.index()].state == State::Succeeded; }
  /// It ran and its kernel failed.
  [[nodiscard]] bool failed(TaskId task) const { return m_tasks[task.index()].state == State::Failed; }
  /// The tasks whose results it reads, including those cancelled since the last rest.
  [[nodiscard]] std::vector<TaskId> const& sources(TaskId task) const { return m_tasks[task.index()].sources; }
  /// Whether a task submitted now could read the datum if everything goes well.
  [[nodiscard]] bool has_value(DataId data) const { return m_data[data.index()].promised().has_value(); }
  [[nodiscard]] std::size_t tasks() const { return m_tasks.size(); }
  /// The values in the homes of the data that were not forgotten: nothing readable, or the value of a task (0: the
  /// initial value; otherwise the task's number + 1).
  [[nodiscard]] std::map<DataId, std::optional<std::uint64_t>> homes() const;

 private:
  // The content of a place: nothing readable, or the value of a task (0: the initial value; otherwise the task's number
  // + 1).
  using Content = std::optional<std::uint64_t>;
  struct Region {
    DataId data;
    Bytes bytes = 0;
    Content content;
    int readers = 0;       // copies and tasks that read it now
    bool written = false;  // a copy or a task writes it now
  };
  enum class State { Submitted, Running, Succeeded, Failed, Retired };
  struct TaskRecord {
    AccessList accesses;
    CodeletId codelet;
    std::vector<Content> expected;  // by access: the value that it must read
    std::vector<TaskId> sources;
    std::vector<TaskId> follows;  // must have ended before it runs
    State state = State::Submitted;
    bool retired = false;
    bool returned = false;      // by a worker, at least once
    bool judged = false;        // at an earlier rest
    WorkerId worker;            // which has it; invalid: it is external
    std::vector<Place> places;  // by access
    bool waits = false;         // issued behind its predecessor on its lane, whose result it reads
  };
  struct DataRecord {
    DataDescription description;
    int registrations = 1;  // that were not released
    bool forgotten = false;
    bool copy_failed = false;     // since the last rest
    bool home_lost = false;       // forgotten after a failure that is reported
    Content first;                // 0 if it has an initial value; none after a failure lost it
    Content current;              // the value of the last task that wrote it; none after a failure
    std::vector<TaskId> writers;  // all submitted and not cancelled tasks, in order
    TaskId last_writer;
    std::vector<TaskId> readers;   // since then
    std::map<NodeId, Bytes> pool;  // if it has a place
    Region origin;
    Region home;
    std::map<NodeId, Region> places;  // further ones
    std::set<TaskId> pending;
    [[nodiscard]] bool released() const { return registrations == 0; }
    [[nodiscard]] Content promised() const { return writers.empty() ? first : Content(writers.back().value() + 1); }
  };
  struct OpenCopy {
    CopyCommand command;
    Content content;
  };

  void event(TaskSubmission const& submitted);
  void event(RetainData const& retained);
  void event(ReleaseData const& released);
  void event(CopyDone const& done) { end_copy(done.transfer, true); }
  void event(CopyFailed const& failed) { end_copy(failed.transfer, false); }
  void event(TaskDone const& done) { end_task(done.task, true); }
  void event(TaskFailed const& failed) { end_task(failed.task, false); }
  void event(TaskSkipped const& skipped) { skip_task(skipped.task); }
  void event(TaskReturned const& returned) { return_task(returned.task, returned.changed); }
  void event(AddCodelet const& added) { m_codelets.push_back(added.codelet); }
  template <class Other>
  void event(Other const&) {}

  void act(Allocated const& allocated);
  void act(Freed const& freed);
  void act(CopyCommand const& copy);
  void act(RunCommand const& run);
  void act(BeginCommand const& begun);
  void act(RetireCommand const& retired);
  void act(ForgetCommand const& forgotten);

  void end_copy(TransferId transfer, bool success);
  void start_task(TaskId task);
  void end_task(TaskId task, bool success);
  void skip_task(TaskId task);
  void return_task(TaskId task, bool changed);
  void lose_outputs(TaskId task, bool success);
  void leave_lane(TaskId task);
  [[nodiscard]] bool over(TaskId task) const;
  void check_not_lost(DataId data, DataRecord const& record) const;
  [[nodiscard]] bool holds(DataRecord const& record, Content value) const;
  [[nodiscard]] bool wanted(DataId data, DataRecord const& record) const;
  Region& region(DataId data, Place const& place);
  [[nodiscard]] Place expected_place(DataId data, NodeId node) const;
  void require(bool condition, std::function<std::string()> const& message) const;
  [[nodiscard]] std::string name(DataId data) const { return "'" + m_data[data.index()].description.name + "'"; }
  [[nodiscard]] std::string name(NodeId node) const { return "'" + m_topology.machine()[node].name + "'"; }

  Topology const& m_topology;
  Planner const* m_planner = nullptr;
  std::vector<Codelet> m_codelets;
  std::vector<DataRecord> m_data;
  std::vector<TaskRecord> m_tasks;
  std::map<NodeId, std::map<Bytes, Region>> m_pools;
  std::map<TransferId, OpenCopy> m_open_copies;
  std::map<LinkId, std::uint32_t> m_in_flight;
  std::vector<std::vector<TaskId>> m_lanes;  // running and queued, by worker
  std::set<DataId> m_touched;                // since the last event
  bool m_clearing = false;                   // data that are forgotten now are released after a reported failure
  std::size_t m_tasks_run = 0;
  std::size_t m_tasks_cancelled = 0;
  std::size_t m_copies = 0;
};

}  // namespace granary::test
