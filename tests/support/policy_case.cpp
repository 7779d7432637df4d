// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/policy_case.hpp"

#include "support/aborting_scheduler.hpp"
#include "support/case_truth.hpp"
#include "support/coherence_oracle.hpp"
#include "support/mischief.hpp"
#include "support/print_events.hpp"

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/model/inner_graph.hpp>
#include <granary/detail/core/planner/inspection.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/simulator/simulator.hpp>

#include <algorithm>
#include <optional>
#include <ostream>
#include <set>
#include <stdexcept>

namespace granary::test {

using namespace detail;

namespace {

void require(bool condition, std::string const& message) {
  if (!condition) throw std::logic_error(message);
}

std::string text_of(std::exception_ptr const& error) {
  try {
    std::rethrow_exception(error);
  } catch (std::exception const& caught) {
    return caught.what();
  }
}

// A task as three inner tasks without data.
void expand_in_three(void const*, InnerGraph& graph) {
  auto const inner = graph.add_codelet({.name = "inner"});
  for (int t = 0; t < 3; ++t) graph.submit({inner, {}, t, 1e4});
}

// Whether the first of two data covers the second, and the other way round, if they have cells in common.
std::optional<std::pair<bool, bool>> shared_bytes(std::vector<std::uint32_t> const& a,
                                                  std::vector<std::uint32_t> const& b) {
  auto const in = [](std::vector<std::uint32_t> const& cells) {
    return [&cells](std::uint32_t cell) { return std::ranges::find(cells, cell) != cells.end(); };
  };
  if (std::ranges::none_of(a, in(b))) return std::nullopt;
  return std::pair(std::ranges::all_of(b, in(a)), std::ranges::all_of(a, in(b)));
}

/// Plays an application's operations on the simulator.
class Player {
 public:
  Player(PolicyCase const& drawn, std::ostream* trace)
      : m_case(drawn),
        m_trace(trace),
        m_topology(drawn.machine),
        m_truth(drawn.seed),
        m_oracle(m_topology),
        m_faulty(!drawn.faults.copies.empty() || !drawn.faults.tasks.empty() || drawn.misbehaves),
        m_simulator(m_topology, policies(), m_estimator, m_truth, options()) {
    m_oracle.look_into(&m_simulator.planner());
  }

  CaseResult play() {
    for (auto codelet : m_case.graph.codelets) {
      if (m_case.expands) codelet.expand = expand_in_three;
      m_codelets.push_back(m_simulator.add_codelet(codelet));
    }
    for (auto const& operation : m_case.graph.operations) {
      if (m_simulator.planner().policy_fault()) break;
      std::visit([&](auto const& what) { perform(what); }, operation);
      m_oracle.after_event();
    }
    if (m_case.misbehaves) judge_misdeeds();
    check_policies();
    m_result.tasks_run = m_oracle.tasks_run();
    m_result.tasks_cancelled = m_oracle.tasks_cancelled();
    m_result.copies = m_oracle.copies();
    m_result.tasks_aborted = m_simulator.planner().statistics().tasks_aborted;
    for (auto const& node : m_simulator.planner().statistics().nodes) m_result.evictions += node.evictions;
    return std::move(m_result);
  }

 private:
  PolicySet policies() const {
    auto policies =
        m_case.policies ? m_case.policies() : make_policies(m_case.scheduler, eviction_of(m_case), m_case.seed);
    if (m_case.aborts) policies = aborting(std::move(policies), m_case.seed);
    return m_case.misbehaves ? mischievous(std::move(policies), m_case.seed, m_misdeeds) : std::move(policies);
  }
  SimulatorOptions options() {
    SimulatorOptions options;
    options.planner = m_case.planner;
    options.check_invariants_every = m_case.check_every;
    options.faults = m_case.faults;
    options.observers = {&m_acts};
    return options;
  }

  void see(Event const& event, NewIds ids) {
    if (m_trace) *m_trace << m_simulator.now().time_since_epoch().count() << " ns: " << to_text(event) << std::endl;
    m_oracle.after_event();
    m_oracle.on_event(event, ids);
    if (auto const* const returned = std::get_if<TaskReturned>(&event)) {
      ++(returned->changed ? m_result.tasks_stopped : m_result.tasks_returned);
    }
  }

  void see(Act const& act) {
    if (m_trace) *m_trace << to_text(act) << std::endl;
    m_oracle.on_act(act);
    if (auto const* const begun = std::get_if<BeginCommand>(&act)) m_begun.push_back(begun->task);
    m_result.values_kept += std::holds_alternative<KeptAside>(act) ? 1 : 0;
    m_result.values_sized += std::holds_alternative<Settled>(act) ? 1 : 0;
    if (auto const* const run = std::get_if<RunCommand>(&act)) {
      m_result.turns += run->description->accesses.commutes() ? 1 : 0;
    }
    m_result.acts.push_back(act);
  }

  void perform(RegisterData const& registered) {
    std::vector<SharedBytes> shares;
    for (std::size_t d = 0; d < m_data.size() && !registered.cells.empty(); ++d) {
      if (m_oracle.forgotten(m_data[d]) || !m_is_last[d]) continue;
      if (auto const shared = shared_bytes(registered.cells, m_registered[d].cells))
        shares.push_back({m_data[d], shared->first, shared->second});
    }
    DataId const id = m_simulator.add_data(registered.description, registered.places, shares);
    for (std::size_t d = 0; d < m_data.size(); ++d) m_is_last[d] = m_is_last[d] && m_data[d] != id;
    m_oracle.add_data(id, registered.description, registered.places, registered.cells);
    if (!registered.keeps_old) m_simulator.keep_no_old_value(id);
    m_data.push_back(id);
    m_registered.push_back(registered);
    m_is_last.push_back(true);
  }

  void perform(GiveUpData const& given_up) {
    m_given_up.insert(given_up.datum);
    m_simulator.release_data(m_data[given_up.datum]);
  }

  void perform(SubmitGraphTask const& task) {
    std::vector<Access> accesses;
    bool valueless = false;
    bool beside_lost = false;
    bool redefines = false;
    for (auto const& [datum, mode] : task.accesses) {
      DataId const id = m_data[datum];
      accesses.push_back({id, mode});
      valueless = valueless || (reads(mode) && !m_oracle.has_value(id));
      beside_lost = beside_lost || (m_faulty && m_oracle.shares_lost_bytes(id));
      redefines = redefines || (!reads(mode) && m_simulator.planner().inspect().poisoned(id));
    }
    // Until a failure is reported, dependent tasks are accepted and cancelled. Afterwards tasks that read are refused,
    // and tasks that only write define the data again.
    bool const reported = !m_simulator.planner().failed();
    try {
      m_simulator.submit({m_codelets[task.codelet], accesses, task.priority, task.flops}, Parameters(task.flops));
    } catch (MemoryLimitError const&) {
      if (!m_case.refuses) throw;
      ++m_result.tasks_refused;
      return;
    } catch (InvalidArgument const&) {
      if ((!valueless && !beside_lost) || !(m_faulty || m_case.refuses)) throw;
      return;
    }
    require(!valueless || !reported, "a task on data without a value was accepted");
    if (redefines && reported) ++m_result.redefined;
  }

  void perform(LetHappen const& some) {
    for (std::uint32_t i = 0; i < some.steps; ++i) step();
  }

  bool step() {
    bool stepped = m_simulator.step();
    if (m_case.wilful && m_random.chance(0.02)) m_simulator.flush();
    if (m_case.wilful && m_random.chance(0.1)) give_hint();
    if (m_case.waits_for_data && m_random.chance(0.02)) {
      wait_for(m_random.below(m_data.size()));
      stepped = true;  // what it has begun goes on
    }
    if (m_case.wilful && m_faulty && m_random.chance(0.002)) {
      m_simulator.cancel_all(std::make_exception_ptr(Error("injected cancellation")));
    }
    if (m_begun.empty() || (stepped && m_random.chance(0.7))) return stepped;
    auto const which = m_begun.begin() + static_cast<std::ptrdiff_t>(m_random.below(m_begun.size()));
    TaskId const task = *which;
    m_begun.erase(which);
    if (m_random.chance(0.1)) {
      m_simulator.end_external(TaskReturned{task});
    } else if (m_case.faults.tasks.contains(task)) {
      m_simulator.end_external(TaskFailed{task, std::make_exception_ptr(Error("injected failure outside"))});
    } else {
      end_external(task);
    }
    ++m_result.tasks_outside;
    return true;
  }

  // As Engine::wait does. Then the application may change what is in its memory.
  void wait_for(std::size_t number) {
    if (m_waiting || m_given_up.contains(number)) return;
    m_waiting = true;
    DataId const data = m_data[number];
    auto const& planner = m_simulator.planner();
    auto const until = [&](auto const& met) {
      while (!met()) require(step(), "nothing happens, but '" + planner.view().description(data).name + "' is in use");
    };
    until([&] { return planner.use_of(data).tasks == 0; });
    m_simulator.flush(data);
    until([&] { return planner.use_of(data).tasks == 0 && !planner.use_of(data).moves; });
    if (!planner.failed()) m_simulator.homes_may_change(data);
    m_waiting = false;
  }

  void end_external(TaskId task) {
    auto const& planner = m_simulator.planner();
    for_each_write(
        AccessList(std::span(planner.view().task(task).accesses.begin(), planner.view().task(task).accesses.end())),
        [&](Access const& access) {
          Bytes const bound = planner.view().description(access.data).bound;
          if (bound == 0 || m_random.chance(0.1)) return;  // it has all bytes then
          Bytes const bytes = drawn_bytes(task, access.data, m_case.seed, bound);
          m_simulator.end_external(Sized{task, access.data, bytes});
        });
    m_simulator.end_external(TaskDone{task});
  }

  void perform(WaitForAll const&) {
    if (m_case.wilful) {
      while (step()) continue;
    }
    auto const report = run();
    m_oracle.after_event();
    m_result.failures += report.failures.size();
    for (auto const& failure : report.failures) {
      if (m_trace) *m_trace << "failure: " << failure.what << ": " << text_of(failure.error) << std::endl;
    }
    if (!m_faulty && !report.failures.empty()) {
      auto const& first = report.failures.front();
      throw std::logic_error("a run without faults reports the failure of " + first.what + ": " + text_of(first.error));
    }
    check_room(report.failures);
    check_causes(report.failures);
    m_oracle.at_rest(report.failures);
    if (m_case.wilful) change_outside();
  }

  // After the fault of a policy the rest of the run ends as usual.
  SimulationReport run() {
    auto const& fault = m_simulator.planner().policy_fault();
    try {
      return m_simulator.run();
    } catch (std::exception const& error) {
      if (!fault || text_of(fault) != error.what()) throw;
    }
    check_policies();
    return m_simulator.report();
  }

  void check_policies() const {
    auto const& fault = m_simulator.planner().policy_fault();
    require(fault == nullptr || m_case.misbehaves, fault == nullptr ? "" : "a policy is at fault: " + text_of(fault));
  }

  // Whoever breaks the contract is named, not called any more, and gets no more tasks.
  void judge_misdeeds() {
    perform(WaitForAll{});
    auto const& fault = m_simulator.planner().policy_fault();
    require(fault != nullptr || !m_misdeeds->any(), "nobody has noticed what a policy did");
    require(!m_misdeeds->asked_after, "a policy was called after it had broken its contract");
    if (fault == nullptr) return;
    ++m_result.policy_faults;
    auto const what = text_of(fault);
    require(m_misdeeds->any() || m_misdeeds->kept_back, "policies have done nothing wrong, but " + what);
    require(what.starts_with("scheduler 'mischief' ") || what.starts_with("eviction policy 'mischief' "), what);
    try {
      m_simulator.submit({m_codelets.front(), {}, 0, 0});
    } catch (Error const& error) {
      return require(error.what() == what, std::string("a later submission throws ") + error.what());
    }
    require(false, "a task is accepted that nobody can choose");
  }

  void give_hint() {
    auto const datum = m_random.below(m_data.size());
    if (m_given_up.contains(datum)) return;
    auto const nodes = m_topology.machine().nodes.size();
    if (m_random.chance(0.3)) return m_simulator.will_not_use(m_data[datum]);
    m_simulator.prefetch(m_data[datum], NodeId(static_cast<std::uint32_t>(m_random.below(nodes))));
  }

  // The application changes its own memory while the run is at rest: all homes there, and places of some data.
  void change_outside() {
    auto const& planner = m_simulator.planner();
    if (m_random.chance(0.5)) m_simulator.homes_may_change();
    for (std::size_t d = 0; d < m_data.size(); ++d) {
      auto const& registered = m_registered[d];
      bool const read_only = std::ranges::any_of(registered.places, [&](FixedPlace const& place) {
        return !place.writable && !m_topology.groups_on(place.node).empty();
      });
      if (m_given_up.contains(d) || read_only || planner.inspect().poisoned(m_data[d]) || !m_random.chance(0.3))
        continue;
      if (!registered.cells.empty()) {
        m_simulator.homes_may_change(m_data[d]);
        continue;
      }
      std::vector<NodeId> nodes;
      if (registered.description.home.valid()) nodes.push_back(registered.description.home);
      for (auto const& place : registered.places) {
        if (place.writable) nodes.push_back(place.node);
      }
      if (!nodes.empty()) change_place(m_data[d], nodes[m_random.below(nodes.size())]);
    }
  }

  void change_place(DataId data, NodeId node) {
    try {
      m_simulator.place_changed(data, node);
    } catch (MemoryLimitError const&) {
      if (!m_case.refuses) throw;
    }
  }

  // Memory is short only if a value could not be written back, and then for other values on their way home.
  static void check_room(std::vector<Failure> const& failures) {
    auto const injected = [](Failure const& f) {
      auto const text = text_of(f.error);
      return text.starts_with("injected") || text.find(" 'mischief' ") != std::string::npos;
    };
    bool const write_failed =
        std::ranges::any_of(failures, [&](Failure const& f) { return !f.task.valid() && injected(f); });
    for (auto const& failure : failures) {
      require((write_failed && !failure.task.valid()) || injected(failure),
              failure.what + " failed by itself: " + text_of(failure.error));
    }
  }

  // Only tasks that depend on a failure are cancelled, and failures are in the order of submission, each task once.
  void check_causes(std::vector<Failure> const& failures) {
    for (std::size_t i = 1; i < failures.size(); ++i) {
      require(failures[i - 1].task < failures[i].task || !failures[i].task.valid(), "failures are out of order");
    }
    // A failed write-back concerns no task: no further task is started.
    bool const all_cancelled = std::ranges::any_of(failures, [](Failure const& f) { return !f.task.valid(); });
    auto const reported = [&](TaskId task) {
      return std::ranges::find(failures, task, &Failure::task) != failures.end();
    };
    for (; m_judged < m_oracle.tasks(); ++m_judged) {
      TaskId const task(m_judged);
      if (!m_oracle.submitted(task)) continue;
      bool const by_source =
          std::ranges::any_of(m_oracle.sources(task), [&](TaskId t) { return !m_oracle.succeeded(t); });
      std::string const name = "task " + std::to_string(m_judged);
      if (m_oracle.succeeded(task)) {
        require(!by_source, name + " ran on the result of a task that did not");
        require(!reported(task), name + " ran and is reported as failed");
      } else if (m_oracle.failed(task)) {
        require(reported(task), name + " failed and is not reported");
      } else {
        bool const by_relative =
            std::ranges::any_of(m_oracle.relatives(task), [&](TaskId t) { return !m_oracle.succeeded(t); });
        bool const by_other = by_source || by_relative || m_oracle.fellow_failed(task);
        require(by_other || reported(task) || all_cancelled, name + " was cancelled for no reason");
        require(!reported(task) || !m_case.faults.copies.empty(), name + " is reported as failed but never ran");
      }
    }
  }

  PolicyCase const& m_case;
  std::ostream* m_trace;
  Topology m_topology;
  AveragingEstimator m_estimator;
  CaseTruth m_truth;
  CoherenceOracle m_oracle;
  bool m_faulty;
  std::shared_ptr<Misdeeds> m_misdeeds = std::make_shared<Misdeeds>();
  CaseResult m_result;
  Acts m_acts{[this](Act const& act) { see(act); }, [this](Event const& event, NewIds ids) { see(event, ids); }};
  Simulator m_simulator;
  std::vector<CodeletId> m_codelets;
  std::vector<DataId> m_data;
  std::vector<RegisterData> m_registered;
  std::vector<bool> m_is_last;       // of the data that had its id
  std::set<std::size_t> m_given_up;  // by number of registration, as the three above
  std::vector<TaskId> m_begun;       // external tasks that have not ended
  bool m_waiting = false;            // for one datum
  Random m_random{m_case.seed};
  std::size_t m_judged = 0;
};

}  // namespace

std::string PolicyCase::describe() const {
  auto const count = [](auto const& list) { return std::to_string(list.size()); };
  return "seed " + std::to_string(seed) + ": " + scheduler + " + " + eviction + ", " + count(machine.nodes) +
         " nodes, " + count(machine.workers) + " workers, " + count(graph.operations) + " operations, depth " +
         std::to_string(planner.depth);
}

CaseResult run_case(PolicyCase const& drawn, std::ostream* trace) {
  if (trace) {
    auto const& machine = drawn.machine;
    for (auto const& node : machine.nodes) *trace << node.name << ": capacity " << node.capacity << '\n';
    for (auto const& link : machine.links) *trace << "link " << link.from.value() << " -> " << link.to.value() << '\n';
    for (auto const& worker : machine.workers) {
      *trace << "worker " << worker.name << (worker.kind == WorkerKind::Cpu ? ", host\n" : ", device\n");
    }
  }
  return Player(drawn, trace).play();
}

}  // namespace granary::test
