// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/model/data.hpp>
#include <granary/detail/core/model/machine.hpp>
#include <granary/detail/core/planner/planner.hpp>

#include "support/acts.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace granary::test {

using namespace detail;

/// An independent judge of a cluster: it executes the application's tasks one after the other in the common order, and
/// follows what stands in every place of every process, by what their planners are told and what they command. Throws
/// std::logic_error with one sentence at the first task that reads anything else than in that order, or value that is
/// sent or kept wrongly. It asks the planners only for the places of data of tasks that run, and for lost values.
class ClusterOracle {
 public:
  /// The machine of each process, with the node of the others.
  ClusterOracle(Topology const& topology, std::uint32_t processes);
  void look_into(std::uint32_t process, Planner const* planner) { m_processes[process].planner = planner; }

  struct Use {
    std::size_t datum;  ///< by number of registration
    AccessMode mode;
  };
  // The application, before the cluster is told. Each datum occurs once in `uses`; data are named "d<number>".
  void add_data(DataDescription const& description, std::uint32_t owner);
  void release(std::size_t datum) { m_data[datum].released = true; }
  void submit(std::uint64_t position, std::uint32_t process, std::vector<Use> const& uses);
  /// The task was refused: it counts as not submitted.
  void withdraw(std::uint64_t position);
  /// Whether a task that is submitted now could read the datum if everything goes well.
  [[nodiscard]] bool has_value(std::size_t datum) const;

  void on_event(std::uint32_t process, Event const& event, NewIds ids);
  void on_act(std::uint32_t process, Act const& act);

  /// The run is at rest, and these are the failures by process. Every task ran, failed by itself, or was cancelled for
  /// a reason; homes have the last values unless a failure is the reason.
  void at_rest(std::vector<std::vector<Failure>> const& failures);

  enum class State { Submitted, Running, Succeeded, Failed, Cancelled };
  /// Of a task by its position.
  [[nodiscard]] State state(std::uint64_t position) const { return m_tasks.at(position).state; }

  struct Counts {
    std::size_t tasks_run = 0;
    std::size_t tasks_cancelled = 0;
    std::size_t incoming_values = 0;
    std::size_t sent = 0;  ///< values; more than incoming values if some were asked for again
    std::size_t copies = 0;
    std::size_t turns = 0;
  };
  [[nodiscard]] Counts const& counts() const { return m_counts; }

 private:
  // What stands in a place: nothing readable, 0 for the initial value, or the position of the task that wrote it + 1.
  using Content = std::optional<std::uint64_t>;
  struct Run;
  // What a task reads: the value of one task (or the initial one, or none), or of the last of tasks that commute.
  struct Source {
    Content content;
    std::shared_ptr<Run> run;
    bool operator==(Source const&) const = default;
  };
  struct Run {
    std::vector<std::uint64_t> members;
    Source before;
    Content last;        // what the member left that ended last
    bool ended = false;  // some member has
  };
  struct Spot {
    Content content;
    int readers = 0;
    bool written = false;
  };
  struct Datum {
    DataDescription description;
    std::uint32_t owner = 0;
    bool released = false;
    bool lost_at_home = false;             // released, and a failure kept its value from its home
    Source now;                            // what the next task reads
    bool read = false;                     // since the last write
    Content actual;                        // what the task left that ended last
    std::map<std::uint64_t, Bytes> bytes;  // by content
    Spot home;
    DataId local;  // at its owner
  };
  struct TaskUse {
    std::size_t datum;
    AccessMode mode;
    Source source;
    Source before;  // of the datum, before this task was submitted
    bool read_before = false;
  };
  struct Task {
    std::uint32_t process = 0;
    std::vector<TaskUse> uses;
    State state = State::Submitted;
    TaskId local;
    bool judged = false;
    bool copies_failed_for = false;
  };
  enum class Kind { Own, IncomingValue, OutgoingValue };
  struct LocalTask {
    Kind kind = Kind::Own;
    std::uint64_t position = 0;
    std::size_t datum = 0;         // of a stub
    DataId data;                   // of a stub
    std::vector<DataId> accesses;  // of the others
    std::map<DataId, Bytes> made;  // of varying data
    WorkerId worker;
    std::vector<Place> places;  // by access, once a worker has it
    bool waits = false;         // issued behind the one before it on its lane
    bool begun = false;
    bool over = false;
  };
  struct LocalDatum {
    std::size_t datum = 0;
    bool remote = false;
    bool forgotten = false;
    std::uint64_t position = 0;  // of the task that first reads it, if it is remote
    Spot origin;
    Spot home;  // on the node of the other processes, if it is remote
    std::map<NodeId, Bytes> pool;
  };
  struct Region {
    DataId data;
    Bytes bytes = 0;
    Spot spot;
  };
  struct OpenCopy {
    CopyCommand command;
    Content content;
  };
  struct OpenOutgoingValue {
    ShipCommand command;
    Content content;
  };
  struct Process {
    Planner const* planner = nullptr;
    std::vector<Codelet> codelets;
    std::map<TaskId, LocalTask> tasks;
    std::map<DataId, LocalDatum> data;
    std::map<NodeId, std::map<Bytes, Region>> pools;
    std::map<DataId, Place> results;  // for values that tasks make of varying data, beside their places
    std::map<TransferId, OpenCopy> copies;
    std::map<TaskId, OpenOutgoingValue> outgoing_values;
    std::vector<std::vector<TaskId>> lanes;
    std::map<std::tuple<std::size_t, std::uint64_t>, std::deque<Content>> under_way;  // sent to it, by datum, position
    bool write_back_failed = false;                                                   // since the last rest
    bool copy_failed = false;
    std::map<std::size_t, bool> copies_failed;  // of these data
  };

  void require(bool condition, std::function<std::string()> const& message) const;
  [[nodiscard]] std::string name(std::uint32_t process, DataId data) const;
  [[nodiscard]] static std::string text(Content content) {
    return content ? (*content == 0 ? "the initial value" : "the value of task " + std::to_string(*content - 1))
                   : "nothing";
  }
  Spot& spot(std::uint32_t process, DataId data, Place const& place);
  /// Where a task of the process writes the datum, whose place is that one.
  Spot& result_spot(std::uint32_t process, DataId data, Spot& place);
  /// The bytes that a copy of this value of the datum moves.
  [[nodiscard]] Bytes moved_bytes(std::size_t datum, Content content) const;
  void take(std::uint32_t process, DataId data, NodeId node, Bytes offset, Bytes bytes);
  [[nodiscard]] Source const& source_of(std::uint64_t position, std::size_t datum) const;
  /// What a task with this source reads now; nothing, if a task that makes it is not over.
  [[nodiscard]] Content value(Source const& source) const;
  [[nodiscard]] bool over(std::uint64_t position) const;
  [[nodiscard]] bool over(Source const& source) const;
  [[nodiscard]] bool succeeded(Source const& source) const;
  [[nodiscard]] bool sound(Source const& source) const;

  void added(std::uint32_t process, AddData const& event, DataId id);
  void submitted(std::uint32_t process, TaskSubmission const& event, TaskId id);
  void start(std::uint32_t process, TaskId task);
  void leave_lane(std::uint32_t process, TaskId task);
  void ended(std::uint32_t process, TaskId task, bool success);
  void end_own(std::uint32_t process, LocalTask& local, bool success);
  void end_incoming_value(std::uint32_t process, LocalTask& local, bool success);
  void sized(std::uint32_t process, Sized const& event);
  void end_copy(std::uint32_t process, TransferId transfer, bool success);
  void returned(std::uint32_t process, TaskReturned const& event);

  void act(std::uint32_t process, Allocated const& allocated);
  void act(std::uint32_t process, Freed const& freed);
  void act(std::uint32_t process, ResultPlaced const& placed);
  void act(std::uint32_t process, ResultDropped const& dropped);
  void act(std::uint32_t process, Settled const& settled);
  void act(std::uint32_t process, CopyCommand const& copy);
  void act(std::uint32_t process, RunCommand const& run);
  void act(std::uint32_t process, BeginCommand const& begun);
  void act(std::uint32_t process, ShipCommand const& ship);
  void act(std::uint32_t process, RetireCommand const& retired);
  void act(std::uint32_t process, ForgetCommand const& forgotten);
  template <class Other>
  void act(std::uint32_t, Other const&) {}

  void judge_tasks(std::vector<std::vector<Failure>> const& failures);
  void judge_homes(std::vector<std::vector<Failure>> const& failures);
  void judge_rest();

  Topology const& m_topology;
  std::vector<Process> m_processes;
  std::vector<Datum> m_data;
  std::map<std::uint64_t, Task> m_tasks;  // by position
  Counts m_counts;
};

}  // namespace granary::test
