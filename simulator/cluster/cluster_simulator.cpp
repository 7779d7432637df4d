// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/model/peers.hpp>
#include <granary/detail/core/planner/inspection.hpp>
#include <granary/detail/simulator/cluster/cluster_simulator.hpp>

#include <algorithm>
#include <exception>
#include <set>
#include <string>

namespace granary {

using namespace detail;

class ClusterSimulator::SimulatedTransport final : public Transport {
 public:
  SimulatedTransport(ClusterSimulator& cluster, ProcessId self) : m_cluster(cluster), m_self(self) {}

  void send(ProcessId to, Message message) override {
    auto& cluster = m_cluster;
    ++cluster.m_messages;
    Instant at = cluster.m_now + cluster.m_options.network.latency;
    if (cluster.m_options.delay > Duration{0}) {
      auto& last = cluster.m_last_message[{m_self, to}];
      at = last = std::max(last, at + cluster.delay());
    }
    cluster.m_timed_events.push(at, Delivery{m_self, to, std::move(message)});
  }
  // The simulated value needs no bytes: its incoming value alone counts.
  void expect(ProcessId, std::uint32_t, CopyCommand const&) override {}
  void cancel(ProcessId, std::uint32_t) override {}
  void ship(ProcessId to, std::uint32_t tag, ShipCommand const& command, std::int64_t priority) override {
    auto& cluster = m_cluster;
    auto const token = cluster.m_next_token++;
    cluster.m_sendings.emplace(token, Sending{m_self, to, command.task, tag});
    cluster.m_network.send(m_self, to, command.bytes, priority, token, cluster.m_now);
  }

 private:
  ClusterSimulator& m_cluster;
  ProcessId m_self;
};

struct ClusterSimulator::Process {
  Process(ClusterSimulator& cluster, ProcessId process, ClusterProcess own)
      : id(process),
        estimator(std::move(own.estimator)),
        transport(cluster, process),
        exchange(process, transport,
                 [&cluster, process](Event const& event) { cluster.m_posts.emplace_back(process, event); }),
        simulator(cluster.m_topology, std::move(own.policies), *estimator, cluster.m_truth,
                  with(std::move(own.options), cluster.m_options.booking, exchange)),
        tasks(simulator, cluster.m_topology.peers(), exchange) {}

  static SimulatorOptions with(SimulatorOptions options, BookingOptions const& booking, Exchange& exchange) {
    options.booking = booking;
    options.outside = &exchange;
    return options;
  }

  ProcessId id;
  std::unique_ptr<Estimator> estimator;
  SimulatedTransport transport;
  Exchange exchange;
  Simulator simulator;
  LocalTasks tasks;
  std::deque<Step> steps;  // not submitted yet
  bool asleep = false;     // its submission
  Instant asleep_since{};
  Duration slept{0};
  bool hungry = true;  // it could submit more than it was given
  bool touched = false;
};

ClusterSimulator::ClusterSimulator(Machine const& node, GroundTruth const& truth, ClusterOptions options,
                                   std::function<ClusterProcess(ProcessId)> const& make)
    : m_options(std::move(options)),
      m_truth(truth),
      m_topology(with_peers(node, m_options.network, m_options.receives)),
      m_network(m_options.processes, m_options.network, m_options.sends),
      m_random(m_options.seed) {
  auto const grid = Distribution::for_processes(std::max(m_options.processes, 1U));
  if (m_options.processes == 0) throw InvalidArgument("a cluster needs at least one process");
  if (!m_options.owner) {
    m_options.owner = [grid](DataDescription const& description, std::uint64_t) {
      return grid.owner(description.position);
    };
  }
  for (std::uint32_t p = 0; p < m_options.processes; ++p) {
    m_processes.push_back(std::make_unique<Process>(*this, ProcessId(p), make(ProcessId(p))));
  }
  m_hungry = m_options.processes;
}

ClusterSimulator::~ClusterSimulator() = default;

Simulator const& ClusterSimulator::process(ProcessId process) const { return m_processes[process.index()]->simulator; }

bool ClusterSimulator::at_rest() const {
  return m_sendings.empty() && m_timed_events.empty() && m_posts.empty() &&
         std::ranges::all_of(m_processes, [](auto const& process) { return process->exchange.at_rest(); });
}

CodeletId ClusterSimulator::add_codelet(Codelet codelet) {
  CodeletId id;
  for (auto const& process : m_processes) id = process->simulator.add_codelet(codelet);
  return id;
}

DataId ClusterSimulator::add_data(DataDescription description) {
  ProcessId const owner = m_options.owner(description, m_data_registered++);
  if (owner.index() >= m_processes.size()) {
    throw InvalidArgument("data '" + description.name + "' belong to process " + std::to_string(owner.value()) +
                          " of " + std::to_string(m_processes.size()));
  }
  DataKey const key = m_order.add(owner);
  if (key.index() >= m_descriptions.size()) m_descriptions.resize(key.index() + 1);
  m_descriptions[key.index()] = std::make_shared<DataDescription const>(description);
  give(owner, OwnData{key, std::move(description)});
  settle();
  return submitted_id(key);
}

void ClusterSimulator::release_data(DataId data) {
  DataKey const key = key_of(data);
  if (!m_order.known(key))
    throw InvalidArgument("data " + std::to_string(key.value()) + " is released but not registered");
  ProcessId const owner = m_order.owner(key);
  m_order.release(key, [&](ProcessId reader) { give(reader, LetGo{key}); });
  give(owner, Release{key});
  settle();
}

void ClusterSimulator::last_use(DataId data) {
  DataKey const key = key_of(data);
  m_order.last_use(key, [&](ProcessId reader) { give(reader, LetGo{key}); });
  settle();
}

TaskId ClusterSimulator::submit(TaskSubmission const& submission, Parameters parameters) {
  ProcessId process = m_order.process_of(submission.accesses);
  if (!process.valid()) process = ProcessId(0);
  auto const position = submission.position == TaskSubmission::next_position ? m_tasks_submitted : submission.position;
  m_tasks_submitted = position + 1;
  OwnTask task{.codelet = submission.codelet,
               .accesses = AccessList(submission.accesses.size()),
               .incoming = {},
               .priority = submission.priority,
               .flops = submission.flops,
               .index = submission.index,
               .position = position,
               .parameters = std::move(parameters)};
  std::ranges::copy(submission.accesses, task.accesses.begin());
  std::vector<std::pair<DataKey, ProcessId>> let_go;
  m_order.enter(
      submission.accesses, process,
      [&](ValueId value, ProcessId owner) {
        give(owner, Ship{value, process, submission.priority, submission.index, position});
        task.incoming.push_back({value, owner, m_descriptions[value.key.index()]});
      },
      [&](DataKey key, ProcessId reader) { let_go.emplace_back(key, reader); });
  give(process, std::move(task));
  for (auto const& [key, reader] : let_go) give(reader, LetGo{key});
  settle();
  while (!hungry() && step()) continue;
  return TaskId(position);
}

void ClusterSimulator::give(ProcessId id, Step step) {
  auto& process = at(id);
  process.steps.push_back(std::move(step));
  touch(process);
}

void ClusterSimulator::look_for_sleep(Process& process) {
  bool const asleep = process.simulator.planner().submitter_sleeps();
  if (asleep == process.asleep) return;
  process.asleep = asleep;
  if (asleep) {
    process.asleep_since = m_now;
  } else {
    process.slept += m_now - process.asleep_since;
  }
}

void ClusterSimulator::catch_up(Process& process) {
  look_for_sleep(process);
  if (!process.asleep && !process.steps.empty()) process.simulator.pass_to(m_now);
  while (!process.asleep && !process.steps.empty()) {
    Step step = std::move(process.steps.front());
    process.steps.pop_front();
    std::visit([&](auto& what) { perform(process, what); }, step);
    look_for_sleep(process);
  }
  bool const is_hungry = !process.asleep && process.steps.empty();
  if (is_hungry != process.hungry) is_hungry ? ++m_hungry : --m_hungry;
  process.hungry = is_hungry;
}

void ClusterSimulator::perform(Process& process, OwnData& step) {
  process.tasks.add_data(step.key, std::move(step.description));
}

void ClusterSimulator::perform(Process& process, Release& step) { process.tasks.release_data(step.key); }

void ClusterSimulator::perform(Process& process, OwnTask& step) {
  process.tasks.submit({.codelet = step.codelet,
                        .accesses = {step.accesses.begin(), step.accesses.size()},
                        .priority = step.priority,
                        .flops = step.flops,
                        .index = step.index,
                        .position = step.position},
                       std::move(step.parameters), [&](DataKey key) {
                         auto const it =
                             std::ranges::find(step.incoming, key, [](auto const& in) { return in.value.key; });
                         if (it == step.incoming.end()) {
                           throw InvalidArgument("a task accesses data " + std::to_string(key.value()) +
                                                 ", whose registration was refused");
                         }
                         return LocalTasks::Remote{it->owner, it->value, it->description.get()};
                       });
}

void ClusterSimulator::perform(Process& process, Ship& step) {
  process.tasks.ship(
      step.value, step.reader,
      {.codelet = {}, .accesses = {}, .priority = step.priority, .index = step.index, .position = step.position});
}

void ClusterSimulator::perform(Process& process, LetGo& step) { process.tasks.let_go(step.key); }
void ClusterSimulator::perform(Process& process, LetGoOfAll&) { process.tasks.let_go_of_all(); }

void ClusterSimulator::touch(Process& process) {
  if (std::exchange(process.touched, true)) return;
  m_touched.push_back(process.id);
}

void ClusterSimulator::settle() {
  while (!m_posts.empty() || !m_touched.empty()) {
    if (!m_posts.empty()) {
      auto const [id, event] = std::move(m_posts.front());
      m_posts.pop_front();
      auto& process = at(id);
      process.simulator.pass_to(m_now);
      process.simulator.end_external(event);
      touch(process);
      continue;
    }
    auto& process = at(m_touched.back());
    m_touched.pop_back();
    process.touched = false;
    try {
      catch_up(process);
    } catch (...) {  // what was refused is dropped; what follows is submitted in the next call
      touch(process);
      throw;
    }
    if (auto const next = process.simulator.next_event()) {
      m_next.set(process.id.index(), *next);
    } else {
      m_next.erase(process.id.index());
    }
  }
}

// At one instant the network comes first, then messages, then the processes by number.
bool ClusterSimulator::step() {
  settle();
  auto const network = m_network.next_change();
  auto const message = m_timed_events.empty() ? std::nullopt : std::optional(m_timed_events.next());
  auto const process = m_next.empty() ? std::nullopt : std::optional(m_next.top_key());
  auto const first = [](std::optional<Instant> const& one, std::optional<Instant> const& other) {
    return one && (!other || *one <= *other);
  };
  if (first(network, message) && first(network, process)) {
    m_now = *network;
    if (auto const token = m_network.advance()) {
      if (m_options.delay > Duration{0}) {
        m_timed_events.push(m_now + delay(), Arrived{*token});
      } else {
        happens(Arrived{*token});
      }
    }
  } else if (first(message, process)) {
    auto const [at, timed_event] = m_timed_events.pop();
    m_now = at;
    std::visit([&](auto const& what) { happens(what); }, timed_event);
  } else if (process) {
    m_now = *process;
    auto& next = *m_processes[m_next.top()];
    next.simulator.step();
    touch(next);
  } else {
    return false;
  }
  settle();
  return true;
}

void ClusterSimulator::happens(Delivery const& delivery) {
  at(delivery.to).exchange.got(delivery.from, delivery.message);
}

void ClusterSimulator::happens(Arrived const& arrived) {
  auto const sending = m_sendings.extract(arrived.token).mapped();
  at(sending.from).exchange.sent(sending.outgoing_value);
  at(sending.to).exchange.received(sending.tag);
}

Duration ClusterSimulator::delay() {
  auto const most = m_options.delay;
  return most > Duration{0} ? Duration(m_random.between(0, most.count() - 1)) : Duration{0};
}

void ClusterSimulator::run_until_idle() {
  auto const done = [&] {
    return m_timed_events.empty() && !m_network.next_change() &&
           std::ranges::all_of(m_processes,
                               [](auto const& process) { return process->steps.empty() && process->simulator.idle(); });
  };
  // `done` is called only when nothing is pending: no process is then between two events.
  while (step()) continue;
  if (done()) return;
  for (auto const& process : m_processes) {
    auto const lack = process->simulator.planner().inspect().describe_lack_of_room();
    if (lack.empty()) continue;
    throw MemoryLimitError("process " + std::to_string(process->id.value()) + " finds " + lack +
                           ", and nothing is under way that will leave some");
  }
  throw InternalError("no event is pending, but the processes are not done: " + what_waits());
}

std::string ClusterSimulator::what_waits() const {
  std::string text;
  int left = 3;
  for (auto const& process : m_processes) {
    if (left == 0 || (process->simulator.idle() && process->steps.empty())) continue;
    --left;
    text += "process " + std::to_string(process->id.value()) + ": " +
            process->simulator.planner().inspect().describe_waiting();
  }
  return text;
}

ClusterReport ClusterSimulator::run() {
  m_order.let_go_of_all();
  for (auto const& process : m_processes) give(process->id, LetGoOfAll{});
  settle();
  run_until_idle();
  for (auto const& process : m_processes) {
    process->simulator.pass_to(m_now);
    process->simulator.flush();
    touch(*process);
  }
  settle();
  run_until_idle();
  ClusterReport report;
  report.end = m_now;
  report.messages = m_messages;
  std::set<std::pair<ProcessId, std::uint64_t>> known;
  for (auto const& process : m_processes) {
    process->simulator.pass_to(m_now);
    report.processes.push_back(process->simulator.report());
    report.processes.back().submission_slept = process->slept;
    touch(*process);
    for (auto const& failure : report.processes.back().failures) {
      auto const origin = remote_origin(failure);
      bool const elsewhere = origin && (!origin->known || !known.emplace(origin->process, origin->position).second);
      if (!elsewhere) report.failures.emplace_back(process->id, failure);
    }
  }
  settle();
  return report;
}

}  // namespace granary
