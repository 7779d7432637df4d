// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/paged_array.hpp>
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/core/model/inner_graph.hpp>
#include <granary/detail/core/model/submitter.hpp>
#include <granary/detail/core/planner/event.hpp>
#include <granary/detail/core/planner/inspection.hpp>
#include <granary/detail/core/planner/observer.hpp>
#include <granary/detail/core/planner/options.hpp>
#include <granary/detail/core/planner/outside.hpp>
#include <granary/detail/core/planner/planner.hpp>
#include <granary/detail/core/planner/trace_recorder.hpp>
#include <granary/detail/simulator/event_heap.hpp>
#include <granary/detail/simulator/faults.hpp>
#include <granary/detail/simulator/ground_truth.hpp>
#include <granary/detail/simulator/link_model.hpp>
#include <granary/detail/simulator/reload_counter.hpp>
#include <granary/detail/simulator/report.hpp>
#include <granary/detail/simulator/shared_processors.hpp>
#include <granary/detail/simulator/slow_workers.hpp>

#include <algorithm>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace granary {

namespace detail {

/// The cost of decisions in virtual time. The planner is one resource: it handles one event at a time while later ones
/// wait, and the resulting commands are performed when its decision ends. Submission costs nothing.
struct GRANARY_EXPORT DecisionCost {
  enum class Kind : std::uint8_t { None, Measured, PerTask };
  Kind kind = Kind::None;
  Duration per_task{0};  ///< PerTask: for each task that the event commits

  /// The planner's measured wall time; runs are not reproducible.
  [[nodiscard]] static DecisionCost measured() { return {Kind::Measured, Duration{0}}; }
  [[nodiscard]] static DecisionCost per_committed_task(Duration cost) { return {Kind::PerTask, cost}; }
};

}  // namespace detail

struct GRANARY_EXPORT SimulatorOptions {
  detail::PlannerOptions planner{};
  /// As EngineOptions::booking: a submission that would sleep lets virtual time pass until it wakes. All tasks that are
  /// submitted before `run` without a sleep exist at time 0, so that policies know the whole graph.
  BookingOptions booking{};
  detail::DecisionCost charge_decisions{};
  /// Every codelet is restartable if the scheduler aborts tasks: nothing is computed here, so no body has to poll.
  bool all_restartable = false;
  /// Check the planner's invariants after every n-th event; 0: never. A check costs O(everything).
  std::uint32_t check_invariants_every = 0;
  FaultPlan faults{};
  /// Workers that become slower, as a device that clocks down.
  std::vector<detail::SlowWorkers::From> slow{};
  TraceOptions trace{};
  /// Told all events, commands and notices; they must outlive the run.
  std::vector<detail::PlannerObserver*> observers{};
  /// Performs what concerns other processes; null: there are none, or the user of the simulator does (end_external).
  /// With it, submissions do not sleep: only its user can let time pass for all processes.
  detail::OutsideCommands* outside = nullptr;
};

/// Drives the planner in virtual time. Copies take their links' time (see LinkModel), kernels the ground truth's (see
/// SharedProcessors where workers share a processor); submission takes none, and decisions only if they are charged.
/// Tasks run as inner graphs when the engine would run them so, and their emission costs nothing. The same machine,
/// policies, submissions and options yield the same commands.
///
/// ```cpp
/// #include <granary/policy.hpp>
/// #include <granary/simulator.hpp>
/// #include <granary/workloads.hpp>
/// auto const platform = granary::Platform::find("v100x1");
/// granary::PlatformTruth const truth(platform);
/// granary::PlatformEstimator estimator(platform);
/// granary::Simulator simulator(granary::Topology(platform.machine), granary::make_policies("darts", "luf"),
///                              estimator, truth);
/// granary::workloads::TiledCholesky const cholesky({.tiles = 10, .tile = 960});
/// cholesky.submit(simulator, {platform.home_node(), platform.home_in_place()});
/// granary::SimulationReport const report = simulator.run();
/// auto const seconds = granary::seconds(report.end.time_since_epoch());
/// auto const moved = granary::format_bytes(report.bytes());
/// std::printf("%.0f GFlop/s, %s moved\n", cholesky.flops() / seconds / 1e9, moved.c_str());
/// assert(report.failures.empty());
/// ```
class GRANARY_EXPORT Simulator final : public Submitter {
 public:
  /// The estimator and the ground truth must outlive the simulator.
  Simulator(detail::Topology topology, PolicySet policies, Estimator& estimator, GroundTruth const& truth,
            SimulatorOptions options = {});

  /// The ground truth determines the workers that run the codelet, independently of its kernels.
  detail::CodeletId add_codelet(detail::Codelet codelet) override;
  DataId add_data(detail::DataDescription description) override { return add_data(std::move(description), {}); }
  DataId add_data(detail::DataDescription description, std::span<detail::FixedPlace const> places,
                  std::span<detail::SharedBytes const> shares = {});
  void release_data(DataId data) override;
  /// Parameters are dropped, except those that the codelet's expansion or `result_bytes` reads: nothing is computed.
  TaskId submit(TaskSubmission const& submission, detail::Parameters parameters = {}) override;
  /// Writes the present values to the homes; see FlushHomes.
  void flush(DataId data = {}) { accept(detail::FlushHomes{data}); }
  /// The application changes values in its own memory; see HomesMayChange and PlaceChanged.
  void homes_may_change(DataId data = {}) { accept(detail::HomesMayChange{data}); }
  void place_changed(DataId data, NodeId node) { accept(detail::PlaceChanged{data, node}); }
  /// See KeepNoOldValue.
  void keep_no_old_value(DataId data) { accept(detail::KeepNoOldValue{data}); }
  /// See Prefetch and WillNotUse.
  void prefetch(DataId data, NodeId node) { accept(detail::Prefetch{data, node}); }
  void will_not_use(DataId data) { accept(detail::WillNotUse{data}); }
  /// Cancels tasks that were not handed to a worker; see CancelAll.
  void cancel_all(std::exception_ptr error);

  /// The work that an external task stands for began before (BeginCommand) and has ended as the event says: TaskDone,
  /// TaskFailed or TaskReturned. Also for other replies to `SimulatorOptions::outside`.
  void end_external(detail::Event const& end) { answer(end); }

  /// The instant of the next event; empty when none is pending.
  [[nodiscard]] std::optional<detail::Instant> next_event() const;
  /// Lets time pass until `at`, which is not after the next event.
  void pass_to(detail::Instant at) { advance_to(std::max(at, m_now)); }

  /// Performs the next event; false when none is pending. Throws InvalidArgument when it is 146 years or more after the
  /// start (`longest_duration`).
  bool step();
  /// Runs all submitted tasks, of which the external ones have ended, and writes final values to the homes. Throws
  /// InternalError, with what waits, when the planner is not done and no event is pending. When a policy has thrown or
  /// broken its contract, it throws that (Planner::policy_fault) after the running tasks have ended.
  SimulationReport run();
  /// The results up to now. Failures are reported with this, and not again.
  SimulationReport report();
  /// Nothing is left to do for what was submitted, but to write final values to the homes (`flush`).
  [[nodiscard]] bool idle() const { return m_planner.idle() && !m_deciding; }

  [[nodiscard]] detail::Instant now() const { return m_now; }
  [[nodiscard]] detail::Planner const& planner() const { return m_planner; }
  /// The record of what has ended so far; empty unless SimulatorOptions::trace asks for it. O(events).
  [[nodiscard]] Trace trace() const { return m_recorder ? m_recorder->trace() : Trace{}; }

 private:
  struct Given {
    detail::RunCommand run;
    bool aborted = false;  // before it started
  };
  struct Lane {
    std::deque<Given> queue;
    bool started = false;     // the first task is running
    detail::Instant began{};  // when it did
    bool helps = false;       // runs an inner task
    std::uint32_t run = 0;    // counts the starts and stops of tasks
    bool last_failed = false;
    Duration busy{0};
    std::uint64_t tasks = 0;
    std::uint64_t inner_tasks = 0;
  };
  // A task that runs as an inner graph.
  struct InnerRun {
    InnerRun(detail::AccessList const& accesses, detail::WorkerId worker, detail::Instant now)
        : graph(accesses), parent(worker), start(now) {}
    detail::InnerGraph graph;
    detail::WorkerId parent;
    detail::Instant start;
    Duration busy{0};
  };
  struct TaskEnds {
    detail::WorkerId worker;
    Duration duration;
    detail::Instant start;
    std::uint32_t run;  // as in Lane: another one there means that the task was stopped before
    enum class How : std::uint8_t { Ran, Skipped, Returned, Stopped } how = How::Ran;
  };
  struct InnerEnds {
    detail::WorkerId worker;
    Duration duration;
    InnerRun* run;
    TaskId task;  // of the run's graph
  };
  struct CopyAnswers {
    detail::TransferId transfer;
  };
  struct Recall {
    detail::WorkerId worker;
    TaskId task;
  };
  struct DecisionEnds {};
  using TimedEvent = std::variant<TaskEnds, InnerEnds, CopyAnswers, Recall, DecisionEnds>;

  void sleep_after_submission();
  void run_until_idle();
  [[nodiscard]] bool step_of_links();
  [[nodiscard]] bool step_of_processors();
  void happens(TaskEnds const& end);
  void happens(InnerEnds const& end);
  void happens(CopyAnswers const& answer);
  void happens(Recall const& recall);
  void happens(DecisionEnds const&);
  void answer(detail::Event event);
  void decide(detail::Event const& event);
  [[nodiscard]] Duration charged(Duration wall, std::uint64_t committed) const;
  void advance_to(detail::Instant at);
  void accept(detail::Event const& event);
  void after_event();
  void perform_commands();
  void perform(detail::CopyCommand const& command);
  void perform(detail::RunCommand const& command);
  void perform(detail::AbortCommand const& command);
  void perform(detail::BeginCommand const& command);
  void perform(detail::ShipCommand const& command);
  void perform(detail::RetireCommand const& command);
  void perform(detail::ForgetCommand const& command);
  void start_front(detail::WorkerId worker);
  detail::RunCommand take_front(detail::WorkerId worker);
  [[nodiscard]] bool may_return_front(detail::WorkerId worker) const;
  [[nodiscard]] bool faulty_front(detail::WorkerId worker, std::set<TaskId>& tasks);
  void return_front(detail::WorkerId worker, bool changed, detail::TaskTimes const& times = {});
  void end_front(detail::WorkerId worker, Duration work, detail::Instant start, detail::Instant end);
  void size_results(detail::RunCommand const& run);
  [[nodiscard]] Duration delay(Duration most);

  // inner_runs.cpp
  [[nodiscard]] bool start_as_graph(detail::WorkerId worker);
  [[nodiscard]] bool scarce(detail::WorkerGroup const& group, GroupId id) const;
  void share_inner_tasks();
  bool help(detail::WorkerId worker, InnerRun* preferred);

  detail::Planner m_planner;
  GroundTruth const& m_truth;
  SimulatorOptions m_options;
  std::unique_ptr<detail::TraceRecorder> m_recorder;  // null: nothing is recorded
  detail::LinkModel m_links;
  detail::SharedProcessors m_shared;
  detail::SlowWorkers m_slow;
  detail::EventHeap<TimedEvent> m_heap;
  std::vector<Lane> m_lanes;                                    // by worker
  std::set<detail::TransferId> m_bad_copies;                    // in flight, and will fail
  std::vector<detail::Command> m_commands;                      // being performed
  std::vector<detail::WorkerId> m_given;                        // workers that got a task from these
  std::deque<detail::Event> m_inbox;                            // events that wait for the current decision
  detail::PagedArray<TaskId, detail::Parameters> m_parameters;  // of tasks whose codelets read them
  detail::Parameters m_submitted;                               // of the task that is being submitted
  std::vector<std::vector<std::unique_ptr<InnerRun>>> m_runs;   // by group
  detail::ReloadCounter m_reloads;
  detail::Random m_random;
  detail::Instant m_now{};
  std::uint64_t m_copies = 0;
  std::uint64_t m_events = 0;
  Duration m_decision_time{0};
  Duration m_slept{0};  // in submissions
  bool m_deciding = false;
};

}  // namespace granary
