// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cluster_case.hpp"

#include "support/case_truth.hpp"
#include "support/coherence_oracle.hpp"
#include "support/policy_case.hpp"
#include "support/print_events.hpp"

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/model/peers.hpp>
#include <granary/detail/policies/registry.hpp>

#include <algorithm>
#include <deque>
#include <ostream>
#include <stdexcept>
#include <variant>

namespace granary::test {

using namespace detail;

namespace {

void demand(bool condition, std::string const& message) {
  if (!condition) throw std::logic_error(message);
}

std::string what_of(std::exception_ptr const& error) {
  try {
    std::rethrow_exception(error);
  } catch (std::exception const& caught) {
    return caught.what();
  }
}

/// Tells events and acts in the order in which the planner decided them: an event after all commands that follow from
/// the events before it were performed, also if decisions take time.
class Told final : public PlannerObserver {
 public:
  Told(std::function<void(Event const&, NewIds)> on_event, std::function<void(Act const&)> on_act)
      : m_on_event(std::move(on_event)), m_on_act(std::move(on_act)) {}

 private:
  struct Happened {
    Event event;
    NewIds ids;
    std::vector<Access> accesses;  // of a submission, which borrows them
  };
  struct Waiting {
    std::size_t commands_before;
    std::variant<Happened, Act> what;
  };

  void handled(Event const& event, NewIds ids) override {
    Happened happened{event, ids, {}};
    if (auto const* const submission = std::get_if<TaskSubmission>(&event))
      happened.accesses.assign(submission->accesses.begin(), submission->accesses.end());
    m_waiting.push_back({m_decided, std::move(happened)});
    for (auto& notice : m_notices) m_waiting.push_back(std::move(notice));
    m_notices.clear();
    m_decided = m_performed + planner().commands().size();
    tell();
  }
  void performed(Command const& command) override {
    std::visit([&](auto const& kind) { m_on_act(kind); }, command);
    ++m_performed;
    tell();
  }
  void noticed(Notice const& notice) override {
    auto const before = m_performed + planner().commands().size();
    std::visit(
        [&](auto const& kind) {
          if constexpr (requires { Act(kind); }) m_notices.push_back({before, Act(kind)});
        },
        notice);
  }
  void tell() {
    while (!m_waiting.empty() && m_waiting.front().commands_before <= m_performed) {
      auto next = std::move(m_waiting.front());
      m_waiting.pop_front();
      if (auto* const act = std::get_if<Act>(&next.what)) {
        m_on_act(*act);
        continue;
      }
      auto& happened = std::get<Happened>(next.what);
      if (auto* const submission = std::get_if<TaskSubmission>(&happened.event))
        submission->accesses = happened.accesses;
      m_on_event(happened.event, happened.ids);
    }
  }

  std::function<void(Event const&, NewIds)> m_on_event;
  std::function<void(Act const&)> m_on_act;
  std::deque<Waiting> m_waiting;
  std::vector<Waiting> m_notices;  // of the event that is being handled
  std::size_t m_performed = 0;
  std::size_t m_decided = 0;  // commands that follow from the events before
};

/// Plays an application's operations on a cluster.
class ClusterPlayer {
 public:
  ClusterPlayer(ClusterCase const& drawn, std::ostream* trace)
      : m_case(drawn),
        m_trace(trace),
        m_topology(with_peers(drawn.machine, drawn.network, drawn.receives)),
        m_truth(drawn.seed),
        m_oracle(m_topology, drawn.processes) {
    for (std::uint32_t p = 0; p < drawn.processes; ++p) {
      m_each.push_back(std::make_unique<CoherenceOracle>(m_topology));
      m_told.push_back(std::make_unique<Told>([this, p](Event const& event, NewIds ids) { see(p, event, ids); },
                                              [this, p](Act const& act) { see(p, act); }));
      m_faulty = m_faulty || !drawn.faults[p].tasks.empty() || !drawn.faults[p].copies.empty();
    }
    m_cluster = std::make_unique<ClusterSimulator>(drawn.machine, m_truth, options(),
                                                   [this](ProcessId process) { return make(process); });
    for (std::uint32_t p = 0; p < drawn.processes; ++p) {
      m_oracle.look_into(p, &m_cluster->process(ProcessId(p)).planner());
      m_each[p]->look_into(&m_cluster->process(ProcessId(p)).planner());
    }
  }

  ClusterCaseResult play() {
    for (auto const& codelet : m_case.graph.codelets) m_codelets.push_back(m_cluster->add_codelet(codelet));
    for (auto const& operation : m_case.graph.operations) {
      std::visit([&](auto const& what) { perform(what); }, operation);
    }
    m_result.counts = m_oracle.counts();
    return std::move(m_result);
  }

 private:
  bool may_sleep() const {
    auto const& booking = m_case.booking;
    return booking.policy != BookingOptions::Policy::None && (booking.max_live_tasks > 0 || booking.sleep < unbounded);
  }

  ClusterOptions options() const {
    return {.processes = m_case.processes,
            .network = m_case.network,
            .sends = m_case.sends,
            .receives = m_case.receives,
            .owner = [this](DataDescription const&, std::uint64_t number) { return ProcessId(m_case.owners[number]); },
            .booking = m_case.booking,
            .delay = m_case.delay,
            .seed = m_case.seed};
  }

  ClusterProcess make(ProcessId process) {
    auto const p = process.index();
    auto const& [scheduler, eviction] = m_case.policies[p];
    ClusterProcess made{
        make_policies(scheduler, eviction == own_eviction ? default_eviction(scheduler) : eviction, m_case.seed + p),
        std::make_unique<AveragingEstimator>()};
    made.options.planner = m_case.planner;
    made.options.charge_decisions = m_case.decisions;
    made.options.check_invariants_every = m_case.graph.operations.size() > 200 ? 16 : 1;
    made.options.faults = m_case.faults[p];
    made.options.observers = {m_told[p].get()};
    return made;
  }

  void see(std::uint32_t p, Event const& event, NewIds ids) {
    if (m_trace)
      *m_trace << (m_cluster ? m_cluster->now().time_since_epoch().count() : 0) << " ns, process " << p << ": "
               << to_text(event) << (ids.task.valid() ? " = task " + std::to_string(ids.task.value()) : "")
               << (ids.data.valid() ? " = data " + std::to_string(ids.data.value()) : "") << std::endl;
    m_each[p]->after_event();
    if (auto const* const data = std::get_if<AddData>(&event)) m_each[p]->add_data(ids.data, data->description);
    m_each[p]->on_event(event, ids);
    m_oracle.on_event(p, event, ids);
    m_result.returned += std::holds_alternative<TaskReturned>(event) ? 1 : 0;
  }

  void see(std::uint32_t p, Act const& act) {
    if (m_trace) *m_trace << "  process " << p << to_text(act) << std::endl;
    m_each[p]->on_act(act);
    m_oracle.on_act(p, act);
    m_result.acts.emplace_back(p, act);
  }

  void perform(RegisterData const& registered) {
    m_oracle.add_data(registered.description, m_case.owners[m_keys.size()]);
    m_keys.push_back(m_cluster->add_data(registered.description));
  }

  void perform(GiveUpData const& given_up) {
    m_oracle.release(given_up.datum);
    m_cluster->release_data(m_keys[given_up.datum]);
  }

  // What a reported failure took is written before it is read again, but for some tasks that are refused.
  void perform(SubmitGraphTask const& task) {
    std::vector<ClusterOracle::Use> uses;
    std::optional<std::uint32_t> owner;
    for (auto const& [d, mode] : task.accesses) {
      if (writes(mode)) owner = m_case.owners[d];
    }
    bool const reads_lost = !may_sleep() && m_random.chance(0.4);
    bool lost = false;
    for (auto [d, mode] : task.accesses) {
      if (!m_oracle.has_value(d) && reads(mode)) {
        if (reads_lost) {
          lost = true;
        } else if (!writes(mode)) {
          continue;
        } else {
          mode = AccessMode::Write;
        }
      }
      uses.push_back({d, mode});
    }
    // Nor does a task go to another process, for which no room was planned.
    bool const moved = !owner && (uses.empty() ? !task.accesses.empty() : uses.front().datum != task.accesses[0].first);
    if (moved) return;
    std::vector<Access> accesses;
    for (auto const& use : uses) accesses.push_back({m_keys[use.datum], use.mode});
    std::uint32_t process = owner.value_or(uses.empty() ? 0 : m_case.owners[uses.front().datum]);
    std::uint64_t const position = m_position;
    m_position += 1 + (m_random.chance(0.1) ? m_random.below(5) : 0);
    if (m_trace) *m_trace << "task " << position << " for process " << process << std::endl;
    bool const own_lost =
        lost && std::ranges::any_of(uses, [&](auto const& use) {
          return m_case.owners[use.datum] == process && reads(use.mode) && !m_oracle.has_value(use.datum);
        });
    m_oracle.submit(position, process, uses);
    try {
      m_cluster->submit({.codelet = m_codelets[task.codelet],
                         .accesses = accesses,
                         .priority = task.priority,
                         .flops = task.flops,
                         .position = position},
                        Parameters(task.flops));
    } catch (InvalidArgument const& refusal) {
      if (!own_lost) throw;
      m_oracle.withdraw(position);
      ++m_result.refused;
      return;
    }
    demand(!own_lost, "a task on data without a value was accepted");
  }

  void perform(LetHappen const& some) {
    for (std::uint32_t i = 0; i < some.steps; ++i) m_cluster->step();
  }

  void perform(WaitForAll const&) {
    auto const report = m_cluster->run();
    for (auto const& each : m_each) each->after_event();
    std::vector<std::vector<Failure>> failures;
    for (std::uint32_t p = 0; p < m_case.processes; ++p) {
      auto const& own = report.processes[p];
      failures.push_back(own.failures);
      for (auto const& failure : own.failures) {
        if (m_trace)
          *m_trace << "process " << p << ": failure: " << failure.what << ": " << what_of(failure.error) << std::endl;
        demand(m_faulty, "a run without faults reports the failure of " + failure.what + ": " + what_of(failure.error));
      }
    }
    m_oracle.at_rest(failures);
    for (std::uint32_t p = 0; p < m_case.processes; ++p) m_each[p]->at_rest(failures[p]);
    check_report(report);
    demand(m_cluster->at_rest(), "the run is over, but values are still under way");
    m_result.evictions = report.evictions();
    m_result.messages = report.messages;
  }

  void check_report(ClusterReport const& report) {
    std::vector<std::pair<ProcessId, std::string>> expected;
    for (std::uint32_t p = 0; p < m_case.processes; ++p) {
      bool const short_of_room = std::ranges::any_of(report.processes[p].failures, [](Failure const& failure) {
        return !failure.task.valid() && what_of(failure.error).starts_with("injected");
      });
      for (auto const& failure : report.processes[p].failures) {
        if (auto const origin = remote_origin(failure)) {
          ++m_result.remote_failures;
          check_origin(report, *origin);
          continue;
        }
        ++m_result.failures;
        bool const room = short_of_room && (!failure.task.valid() || failure.what.starts_with("task 'outgoing value'"));
        demand(room || what_of(failure.error).starts_with("injected"),
               failure.what + " failed by itself: " + what_of(failure.error));
        expected.emplace_back(ProcessId(p), failure.what);
      }
    }
    std::vector<std::pair<ProcessId, std::string>> listed;
    for (auto const& [process, failure] : report.failures) {
      if (!remote_origin(failure)) listed.emplace_back(process, failure.what);
    }
    demand(listed == expected, "the cluster reports other failures than its processes");
  }

  // Whoever reads the cluster's report finds the reason for every task that did not run.
  void check_origin(ClusterReport const& report, FailureOrigin const& origin) {
    bool const listed = std::ranges::any_of(report.failures, [&](auto const& one) {
      auto const of_it = remote_origin(one.second);
      if (of_it) return of_it->process == origin.process && of_it->position == origin.position;
      return one.first == origin.process && one.second.position == origin.position;
    });
    demand(listed, "a failure comes from process " + std::to_string(origin.process.value()) +
                       " that is not reported: " + origin.what);
  }

  ClusterCase const& m_case;
  std::ostream* m_trace;
  Topology m_topology;
  CaseTruth m_truth;
  ClusterOracle m_oracle;
  std::vector<std::unique_ptr<CoherenceOracle>> m_each;
  std::vector<std::unique_ptr<Told>> m_told;
  bool m_faulty = false;
  ClusterCaseResult m_result;
  std::unique_ptr<ClusterSimulator> m_cluster;
  std::vector<CodeletId> m_codelets;
  std::vector<DataId> m_keys;
  Random m_random{m_case.seed};
  std::uint64_t m_position = 0;
};

}  // namespace

ClusterCaseResult run_cluster_case(ClusterCase const& drawn, std::ostream* trace) {
  if (trace) {
    for (auto const& node : drawn.machine.nodes) *trace << node.name << ": capacity " << node.capacity << '\n';
    for (auto const& worker : drawn.machine.workers) {
      *trace << "worker " << worker.name << " on " << drawn.machine[worker.node].name << '\n';
    }
    for (std::size_t p = 0; p < drawn.policies.size(); ++p) {
      *trace << "process " << p << ": " << drawn.policies[p].first << " + " << drawn.policies[p].second << '\n';
    }
  }
  return ClusterPlayer(drawn, trace).play();
}

}  // namespace granary::test
