// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/model/data.hpp>
#include <granary/detail/core/model/machine.hpp>
#include <granary/detail/core/planner/planner.hpp>

#include "support/acts.hpp"

#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace granary::test {

using namespace detail;

/// An independent judge of a planner's commands: it tracks the value in every place, performs each command's effect,
/// and throws std::logic_error with one sentence at the first command that breaks a promise. It asks the planner only
/// for the data of run commands, and for the poisoned data.
///
/// A value consists of cells, one for most data. Data of a family have cells of the family in common: their homes are
/// the same bytes there, and all other places have copies of them.
class CoherenceOracle {
 public:
  explicit CoherenceOracle(Topology const& topology)
      : m_topology(topology), m_lanes(topology.machine().workers.size()) {}

  /// The number of a cell is that of its family times this, plus less.
  static constexpr std::uint32_t family = 1000;

  /// Set it before the first command; may be null in tests of copies only.
  void look_into(Planner const* planner) { m_planner = planner; }
  /// The datum was registered under this id, which no other datum has any more. `cells`: those of its family that it
  /// consists of; numbers of different families differ. Empty: it shares nothing.
  void add_data(DataId id, DataDescription description, std::span<FixedPlace const> places = {},
                std::span<std::uint32_t const> cells = {});
  /// `ids`: those that the event made.
  void on_event(Event const& event, NewIds ids);
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
  /// The tasks whose results it reads, including those cancelled since the last rest; without those with which it
  /// commutes.
  [[nodiscard]] std::vector<TaskId> const& sources(TaskId task) const { return m_tasks[task.index()].sources; }
  /// Whether a task with which it commutes did not succeed.
  [[nodiscard]] bool fellow_failed(TaskId task) const;
  /// Earlier tasks since the last rest that access data of its families.
  [[nodiscard]] std::vector<TaskId> const& relatives(TaskId task) const { return m_tasks[task.index()].relatives; }
  /// Whether a task submitted now could read the datum if everything goes well.
  [[nodiscard]] bool has_value(DataId data) const;
  /// Whether it shares bytes with a datum that lost its value, and does not cover that one.
  [[nodiscard]] bool shares_lost_bytes(DataId data) const;
  [[nodiscard]] bool forgotten(DataId data) const { return m_data[data.index()].forgotten; }
  /// One more than the largest id. Not all ids are those of submitted tasks.
  [[nodiscard]] std::size_t tasks() const { return m_tasks.size(); }
  [[nodiscard]] bool submitted(TaskId task) const { return m_tasks[task.index()].state != State::Absent; }
  /// The values in the homes of the data that were not forgotten and share nothing: nothing readable, or the value of a
  /// task (0: the initial value; otherwise the task's number + 1).
  [[nodiscard]] std::map<DataId, std::optional<std::uint64_t>> homes() const;

 private:
  // The content of a cell in a place: nothing readable, or the value of a task (0: the initial value; otherwise the
  // task's number + 1; from made_outside on: the application's).
  using Content = std::optional<std::uint64_t>;
  static constexpr std::uint64_t made_outside = std::uint64_t{1} << 62;
  using Contents = std::vector<Content>;
  struct Spot {
    Content content;
    int readers = 0;       // copies and tasks that read it now
    bool written = false;  // a copy or a task writes it now
  };
  using Spots = std::vector<Spot*>;  // of the datum's cells
  struct Region {
    DataId data;
    Bytes bytes = 0;
    std::vector<Spot> spots;  // by cell of the datum
  };
  enum class State { Absent, Submitted, Running, Succeeded, Failed, Retired };
  // Tasks that commute on a cell, without another one between them.
  struct Run {
    std::vector<TaskId> members;
    std::vector<TaskId> sources;  // the last writer, or the run, before
    std::vector<TaskId> follows;  // all that come before it
    Content before;               // what its first task reads, if a single task or none wrote it
    std::shared_ptr<Run const> previous;
  };
  using Runs = std::vector<std::shared_ptr<Run const>>;
  struct TaskRecord {
    AccessList accesses;
    CodeletId codelet;
    // By access and cell: the value that it must read, known at its start if a run makes it; and that run, or null.
    std::vector<Contents> expected;
    std::vector<Runs> runs;
    std::vector<TaskId> sources;
    std::vector<TaskId> relatives;
    std::vector<TaskId> follows;  // must have ended before it runs
    State state = State::Absent;
    bool retired = false;
    TaskId passed_by{};                   // a task that follows it and has begun
    bool returned = false;                // by a worker, at least once
    bool judged = false;                  // at an earlier rest
    WorkerId worker;                      // which has it; invalid: it is external
    std::vector<Place> places;            // by access, since it began
    std::vector<Place> results;           // the same: where it writes
    std::vector<std::uint32_t> versions;  // by access, of the planner
    std::vector<Place> told_places;       // what its RunCommand says
    std::vector<VaryingPlaces> told_varying;
    bool aborted = false;  // since it was issued
    bool waits = false;    // issued behind its predecessor on its lane, whose result it reads
  };
  struct DataRecord {
    DataDescription description;
    Bytes bytes = 0;        // of the last value
    Bytes made = 0;         // of the one that a task makes
    int registrations = 1;  // that were not released
    bool forgotten = false;
    bool copy_failed = false;  // since the last rest
    bool home_lost = false;    // forgotten after a failure that is reported
    bool excused = false;      // from what is asked of homes at rest
    bool keeps_old = true;     // after a write that was cancelled, see KeepNoOldValue
    bool unwritten = false;    // a write was cancelled that was not reported, and no later one replaced it
    std::vector<std::size_t> cells;
    std::map<NodeId, Bytes> pool;                     // if it has a place
    std::map<std::uint32_t, std::uint64_t> contents;  // by version
    std::map<std::uint64_t, std::uint32_t> versions;  // by content
    Region origin;
    std::map<NodeId, Region> places;  // further ones
    std::set<TaskId> pending;
    [[nodiscard]] bool released() const { return registrations == 0; }
  };
  struct Cell {
    Spot home;
    Content first;                     // 0 if it has an initial value; none after a failure lost it
    Content current;                   // the value of the last task that wrote it; none after a failure
    DataId written_as;                 // the datum through which that task wrote it
    std::vector<TaskId> writers;       // all submitted and not cancelled tasks, in order
    std::vector<TaskId> last_writers;  // the last one, or the members of the last run
    std::shared_ptr<Run> run;          // the last one, if no task has written since
    std::vector<TaskId> readers;       // since then
    std::vector<DataId> data;          // those that contain it, forgotten ones included
    bool shared = false;               // it belongs to a family
    [[nodiscard]] Content promised() const { return writers.empty() ? first : Content(writers.back().value() + 1); }
  };
  struct OpenCopy {
    CopyCommand command;
    Contents contents;
  };

  struct OpenOutgoingValue {
    ShipCommand command;
    Contents contents;
  };

  void submit(TaskId id, TaskSubmission const& submitted);
  void event(RetainData const& retained);
  void event(ReleaseData const& released);
  void event(CopyDone const& done) { end_copy(done.transfer, true); }
  void event(CopyFailed const& failed) { end_copy(failed.transfer, false); }
  void event(Sized const& sized);
  void event(TaskDone const& done) { end_task(done.task, true); }
  void event(TaskFailed const& failed) { end_task(failed.task, false); }
  void event(TaskSkipped const& skipped) { skip_task(skipped.task); }
  void event(WorkerBack const&) {}
  void event(Shipped const& shipped);
  void event(TaskReturned const& returned) { return_task(returned.task, returned.changed); }
  void event(HomesMayChange const& may);
  void event(PlaceChanged const& changed);
  void event(KeepNoOldValue const& told) { m_data[told.data.index()].keeps_old = false; }
  void event(TakeFailures const& taken);
  void event(AddCodelet const& added) { m_codelets.push_back(added.codelet); }
  template <class Other>
  void event(Other const&) {}

  void act(Allocated const& allocated);
  void act(Freed const& freed);
  void act(KeptAside const& kept);
  void act(NotKept const& given_back);
  void act(ResultPlaced const& placed);
  void act(ResultDropped const& dropped);
  void act(Settled const& settled);
  void act(CopyCommand const& copy);
  void act(RunCommand const& run);
  void act(AbortCommand const& abort);
  void act(BeginCommand const& begun);
  void act(ShipCommand const& ship);
  void act(RetireCommand const& retired);
  void act(ForgetCommand const& forgotten);

  void add_access(TaskId task, Access const& access);
  void note_relatives(TaskId task, DataId data);
  static void join_run(TaskId task, Cell& cell);
  void check_turns(TaskId task) const;
  [[nodiscard]] static bool may_read(TaskRecord const& task, std::size_t access, std::size_t cell, Content value);
  static void rank_last(Cell& cell, TaskId task, Run const& run);
  void end_copy(TransferId transfer, bool success);
  void start_task(TaskId task);
  void check_result(TaskId task, std::size_t access);
  void check_kept(RunCommand const& run) const;
  void check_input(TaskId task, std::size_t access, std::size_t cell, Content content);
  void note_versions(TaskId task);
  void check_version(DataId data, Content content, std::uint32_t version);
  void end_task(TaskId task, bool success);
  void skip_task(TaskId task);
  void return_task(TaskId task, bool changed);
  void take(DataId data, NodeId node, Bytes offset, Bytes bytes);
  void lose_outputs(TaskId task, bool success);
  void leave_lane(TaskId task);
  void pass(TaskId id, TaskId before);
  void require_not_passed(TaskId id) const;
  void change_outside(DataId data, Spots const& place);
  [[nodiscard]] bool over(TaskId task) const;
  void check_not_lost(std::size_t cell) const;
  [[nodiscard]] bool holds(std::size_t cell, Content value) const;
  [[nodiscard]] bool wanted(std::size_t cell) const;
  void leave_cells(DataId data);
  void take_as_it_is(Cell& cell);
  void check_poisoned(DataId data, DataRecord& record);
  Region& region(DataId data, Place const& place);
  Spots spots(DataId data, Place const& place);
  [[nodiscard]] std::size_t cell_of(std::uint32_t number);
  void touch(DataId data);
  template <class Function>
  void for_each_cell(DataId data, Function&& function) {
    for (auto const cell : m_data[data.index()].cells) function(m_cells[cell]);
  }
  [[nodiscard]] Place expected_place(DataId data, NodeId node) const;
  void require(bool condition, std::function<std::string()> const& message) const;
  [[nodiscard]] std::string name(DataId data) const { return "'" + m_data[data.index()].description.name + "'"; }
  [[nodiscard]] std::string name(NodeId node) const { return "'" + m_topology.machine()[node].name + "'"; }

  Topology const& m_topology;
  Planner const* m_planner = nullptr;
  std::vector<Codelet> m_codelets;
  std::vector<DataRecord> m_data;
  std::vector<TaskRecord> m_tasks;
  std::deque<Cell> m_cells;
  std::map<std::uint32_t, std::size_t> m_family_cells;       // by the number that the test gave
  std::map<std::uint32_t, std::vector<TaskId>> m_relatives;  // by family, since the last rest
  std::map<NodeId, std::map<Bytes, Region>> m_pools;
  std::map<DataId, Place> m_kept;        // values aside, of data that tasks overwrite
  std::map<DataId, Place> m_results;     // for the values that tasks make of varying data, beside their places
  std::map<WorkerId, TaskId> m_aborted;  // the last one of each worker
  std::map<TransferId, OpenCopy> m_open_copies;
  std::map<TaskId, OpenOutgoingValue> m_open_outgoing_values;
  std::map<LinkId, std::uint32_t> m_in_flight;
  std::vector<std::vector<TaskId>> m_lanes;  // running and queued, by worker
  std::set<std::size_t> m_touched;           // cells since the last event
  std::uint64_t m_changes_outside = 0;
  bool m_clearing = false;  // data that are forgotten now are released after a reported failure
  std::size_t m_tasks_run = 0;
  std::size_t m_tasks_cancelled = 0;
  std::size_t m_copies = 0;
  std::uint64_t m_unknown = 0;  // contents of homes that nobody knows
};

}  // namespace granary::test
