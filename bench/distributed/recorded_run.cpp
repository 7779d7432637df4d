// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "recorded_run.hpp"

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/planner/observer.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/simulator/cluster/cluster_simulator.hpp>
#include <granary/detail/workloads/priorities.hpp>
#include <granary/detail/workloads/tiled_cholesky.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <tuple>
#include <unordered_map>

namespace granary::bench {

using namespace detail;

namespace {

// The observers of all processes share it. The stubs of an incoming and of an outgoing value have the same task, and
// the same tile.
class Record {
 public:
  explicit Record(RecordedRun& run) : m_run(run) {}

  std::uint32_t value(std::uint64_t position, MatrixPosition tile) {
    auto const [found, is_new] = m_values.emplace(std::tuple(position, tile.row, tile.column), m_run.values.size());
    if (is_new) m_run.values.emplace_back();
    return static_cast<std::uint32_t>(found->second);
  }
  RecordedRun& run() { return m_run; }

 private:
  RecordedRun& m_run;
  std::map<std::tuple<std::uint64_t, std::int64_t, std::int64_t>, std::size_t> m_values;
};

class ProcessRecorder final : public PlannerObserver {
 public:
  ProcessRecorder(Record& record, std::uint32_t process) : m_record(record), m_process(process) {}

  void handled(Event const& event, NewIds ids) override {
    m_cause = {};
    if (auto const* submission = std::get_if<TaskSubmission>(&event)) {
      submitted(*submission, ids.task);
    } else if (auto const* done = std::get_if<TaskDone>(&event)) {
      ended(*done);
    } else if (auto const* copied = std::get_if<CopyDone>(&event)) {
      m_cause = {Cause::Kind::Arrived, m_transfers.at(copied->transfer)};
    } else if (std::holds_alternative<Shipped>(event)) {
      --m_sending;
      start_next();
    }
  }

  void performed(Command const& command) override {
    if (auto const* copy = std::get_if<CopyCommand>(&command)) {
      asked(*copy);
    } else if (auto const* started = std::get_if<RunCommand>(&command)) {
      auto const worker = m_process * run().workers + started->worker.index();
      auto const task = m_tasks.at(started->task);
      run().task_order[worker].push_back(task);
      run().tasks[task].rank = m_started++;
    } else if (auto const* shipped = std::get_if<ShipCommand>(&command)) {
      auto const [value, priority] = m_outgoing_values.at(shipped->task);
      m_waiting.push({priority, m_shipped++, value});
      start_next();
    }
  }

 private:
  // The source of the present value of a datum of this planner.
  struct Maker {
    bool arrives = false;
    std::uint32_t number = RecordedValue::nobody;  // of the task or the value
  };
  struct Waiting {
    std::int64_t priority;
    std::uint64_t number;
    std::uint32_t value;
    bool operator<(Waiting const& other) const {
      return priority != other.priority ? priority < other.priority : number > other.number;
    }
  };

  RecordedRun& run() { return m_record.run(); }

  void submitted(TaskSubmission const& submission, TaskId id) {
    auto const& codelet = planner().view().codelet(submission.codelet);
    if (!codelet.external) return submitted_task(submission, id);
    DataId const datum = submission.accesses.front().data;
    auto const& description = planner().view().description(datum);
    auto const number = m_record.value(submission.position, description.position);
    auto& value = run().values[number];
    if (codelet.name == "incoming value") {
      value.to = m_process;
      value.bytes = description.bytes;
      m_makers[datum] = {true, number};
      m_incoming_values[id] = number;
    } else {
      value.from = m_process;
      value.writer = m_makers[datum].number;
      m_outgoing_values[id] = {number, submission.priority};
    }
  }

  void submitted_task(TaskSubmission const& submission, TaskId id) {
    auto const number = static_cast<std::uint32_t>(run().tasks.size());
    auto& task = run().tasks.emplace_back();
    m_tasks[id] = number;
    for (auto const& access : submission.accesses) {
      auto const maker = m_makers[access.data];
      if (maker.number != RecordedValue::nobody) (maker.arrives ? task.values : task.after).push_back(maker.number);
    }
    for (auto const& access : submission.accesses) {
      if (writes(access.mode)) m_makers[access.data] = {false, number};
    }
  }

  void ended(TaskDone const& done) {
    if (auto const incoming_value = m_incoming_values.find(done.task); incoming_value != m_incoming_values.end()) {
      m_cause = {Cause::Kind::Announced, incoming_value->second};
    } else if (auto const task = m_tasks.find(done.task); task != m_tasks.end()) {
      m_cause = {Cause::Kind::TaskEnded, task->second};
      run().tasks[task->second].duration = done.duration;
      run().makespan = std::max(run().makespan, seconds(done.times.end - Instant{}));
      run().busy += seconds(done.duration);
    }
  }

  void asked(CopyCommand const& copy) {
    if (planner().topology().machine()[copy.from.node].kind != NodeKind::Peers) return;
    auto const value = m_makers.at(copy.data).number;
    if (!m_asked.emplace(value, true).second) {
      throw InternalError("process " + std::to_string(m_process) + " asks for a value a second time");
    }
    m_transfers[copy.transfer] = value;
    run().values[value].asked = m_cause;
    if (m_cause.kind == Cause::Kind::Start) ++run().asked_after_others;
  }

  // As NetworkModel starts transfers.
  void start_next() {
    if (m_sending == sends_at_once || m_waiting.empty()) return;
    ++m_sending;
    run().value_order[m_process].push_back(m_waiting.top().value);
    m_waiting.pop();
  }

  Record& m_record;
  std::uint32_t m_process;
  Cause m_cause{};
  std::unordered_map<DataId, Maker> m_makers;
  std::unordered_map<TaskId, std::uint32_t> m_tasks;
  std::unordered_map<TaskId, std::uint32_t> m_incoming_values;
  std::unordered_map<TaskId, std::pair<std::uint32_t, std::int64_t>> m_outgoing_values;
  std::unordered_map<TransferId, std::uint32_t> m_transfers;
  std::unordered_map<std::uint32_t, bool> m_asked;
  std::priority_queue<Waiting> m_waiting;
  std::uint32_t m_started = 0;
  std::uint64_t m_shipped = 0;
  std::uint32_t m_sending = 0;
};

}  // namespace

double RecordedRun::bytes_sent() const {
  double sum = 0;
  for (auto const& value : values) sum += static_cast<double>(value.bytes);
  return sum;
}

RecordedRun record(ClusterCase const& problem) {
  RecordedRun run{.processes = problem.processes,
                  .workers = problem.workers,
                  .tasks = {},
                  .values = {},
                  .task_order = std::vector<std::vector<std::uint32_t>>(problem.processes * problem.workers),
                  .value_order = std::vector<std::vector<std::uint32_t>>(problem.processes)};
  Record shared(run);
  Machine machine;
  auto const host = machine.add_node({.name = "host"});
  for (std::uint32_t w = 0; w < problem.workers; ++w) machine.add_worker({.name = "core", .node = host});
  ConstantSpeeds::Options speeds;
  speeds.seconds_per_flop.fill(1 / problem.flops_per_second);
  ConstantSpeeds const truth(speeds);
  std::vector<std::unique_ptr<ProcessRecorder>> recorders;
  ClusterSimulator cluster(
      machine, truth, {.processes = problem.processes, .network = problem.network, .sends = sends_at_once},
      [&](ProcessId process) {
        recorders.push_back(std::make_unique<ProcessRecorder>(shared, process.value()));
        ClusterProcess own{make_policies("prio", default_eviction("prio")), std::make_unique<AveragingEstimator>()};
        own.options.observers.push_back(recorders.back().get());
        return own;
      });
  auto const priorities = workloads::library_cholesky_priorities(problem.tiles);
  workloads::PrioritySubmitter submitter(cluster, priorities);
  workloads::TiledCholesky({.tiles = problem.tiles, .tile = problem.tile}).submit(submitter, {host, true});
  auto const report = cluster.run();
  if (!report.failures.empty()) throw InternalError("a simulated task failed");
  run.busy /= run.makespan * problem.processes * problem.workers;
  return run;
}

}  // namespace granary::bench
