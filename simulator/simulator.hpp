// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/random.hpp>
#include <granary/core/model/submitter.hpp>
#include <granary/core/planner/event.hpp>
#include <granary/core/planner/options.hpp>
#include <granary/core/planner/planner.hpp>
#include <granary/simulator/event_heap.hpp>
#include <granary/simulator/faults.hpp>
#include <granary/simulator/ground_truth.hpp>
#include <granary/simulator/link_model.hpp>

#include <deque>
#include <exception>
#include <functional>
#include <set>
#include <variant>
#include <vector>

namespace granary {

struct SimulatorOptions {
  PlannerOptions planner{};
  /// Check the planner's invariants after every n-th event; 0: never. A check costs O(everything).
  std::uint32_t check_invariants_every = 0;
  FaultPlan faults{};
  /// Told of each event that the planner accepted, before its commands are performed.
  std::function<void(Instant, Event const&)> on_event{};
  /// Told of each command, in order, as it is performed.
  std::function<void(Instant, Command const&)> on_command{};
};

/// What a simulated run amounted to, since the simulator was made.
struct SimulationReport {
  struct WorkerReport {
    Duration busy{0};
    std::uint64_t tasks = 0;
  };
  Instant end{};  ///< virtual time when the run came to rest
  std::vector<WorkerReport> workers;
  Statistics statistics;          ///< tasks, bytes by link, memory by node
  std::vector<Failure> failures;  ///< of this run, in the order of submission; the next run starts clean
};

/// Drives the planner in virtual time: copies take their links' time (see LinkModel), kernels the ground truth's,
/// submission and decisions none. Same machine, policies, submissions and options: same commands.
class Simulator final : public Submitter {
 public:
  /// The estimator and the ground truth must outlive the simulator.
  Simulator(Topology topology, PolicySet policies, Estimator& estimator, GroundTruth const& truth,
            SimulatorOptions options = {});

  CodeletId add_codelet(Codelet codelet) override;
  DataId add_data(DataDescription description) override;
  void release_data(DataId data) override;
  /// Parameters are dropped: nothing is computed.
  TaskId submit(TaskSubmission const& submission, Parameters parameters = {}) override;
  /// Cancels what no worker has; see Planner::cancel_all.
  void cancel_all(std::exception_ptr error);

  /// Lets the next thing happen; false when nothing is under way.
  bool step();
  /// Runs everything that was submitted and brings the homes up to date. Throws InternalError, naming what waits, when
  /// the planner is not done and nothing is under way.
  SimulationReport run();

  [[nodiscard]] Instant now() const { return m_now; }
  [[nodiscard]] Planner const& planner() const { return m_planner; }

 private:
  struct Lane {
    std::deque<TaskId> queue;  // the front one runs
    Duration busy{0};
    std::uint64_t tasks = 0;
  };
  struct TaskEnds {
    WorkerId worker;
    Duration duration;
  };
  struct CopyAnswers {
    TransferId transfer;
  };
  using Happening = std::variant<TaskEnds, CopyAnswers>;

  void run_until_idle();
  void happens(TaskEnds const& end);
  void happens(CopyAnswers const& answer);
  void accept(Event const& event);
  void accepted(Event const& event);
  void perform(CopyCommand const& command);
  void perform(RunCommand const& command);
  template <class Command>
  void perform(Command const&) {}
  void start_front(WorkerId worker);
  [[nodiscard]] Duration delay(Duration most);

  Planner m_planner;
  GroundTruth const& m_truth;
  SimulatorOptions m_options;
  LinkModel m_links;
  EventHeap<Happening> m_heap;
  std::vector<Lane> m_lanes;          // by worker
  std::set<TransferId> m_bad_copies;  // in flight, and will fail
  std::vector<Command> m_commands;    // being performed
  Random m_random;
  Instant m_now{};
  std::uint64_t m_copies = 0;
  std::uint64_t m_events = 0;
};

}  // namespace granary
