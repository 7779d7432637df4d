// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/policies/common/expected_inputs.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/policies/static/static.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

namespace granary::detail {
namespace {

SchedulerRegistration const registration(
    "static",
    [](PolicyOptions& options) {
      auto const file = options.text("file", "");
      auto const repair = options.choice("repair", "none", {"none", "g", "gs", "auto"});
      auto const times = options.choice("times", "file", {"file", "refresh"});
      auto const graph = options.choice("graph", "same", {"same", "any"});
      if (file.empty()) {
        throw InvalidArgument(
            "policy 'static' needs the file of a schedule: static:file=FILE (granary-simulate --save-schedule)");
      }
      using Repair = StaticScheduler::Repair;
      auto const how = repair == "none" ? Repair::None
                       : repair == "g"  ? Repair::Top
                       : repair == "gs" ? Repair::TopTwo
                                        : Repair::Auto;
      return std::make_unique<StaticScheduler>(file, read_schedule(file),
                                               StaticScheduler::Options{how, times == "refresh", graph == "any"});
    },
    {.eviction = "belady", .needs_options = true, .counts_tasks = true});

}  // namespace

StaticScheduler::StaticScheduler(std::string file, Schedule schedule, Options options)
    : m_file(std::move(file)), m_schedule(std::move(schedule)), m_options(options) {}

void StaticScheduler::attach(SystemView const& view, PlanBoard& board) {
  m_view = &view;
  m_board = &board;
  auto const& machine = view.topology().machine();
  m_plan.emplace(m_schedule, machine);
  m_tasks.resize(m_plan->tasks());
  m_pace = StaticPace(machine.workers.size());
  m_free.resize(machine.workers.size());
  std::vector<std::vector<std::uint32_t>> places(machine.workers.size());
  for (std::uint32_t place = 0; place < m_plan->tasks(); ++place) {
    if (m_plan->worker(place).valid()) places[m_plan->worker(place).index()].push_back(place);
  }
  for (std::uint32_t w = 0; w < machine.workers.size(); ++w) {
    auto& lane = m_lanes.emplace_back();
    lane.tasks = StaticLane(places[w]);
    lane.group = view.topology().group_of(WorkerId(w));
    lane.worker = WorkerId(w);
    for (auto const place : places[w]) lane.tasks.insert(place, m_plan->duration(place));
  }
}

void StaticScheduler::check(TaskSubmission const& submission, AccessList const& accesses) const {
  if (m_options.any_graph) return;
  auto const& codelet = m_view->codelet(submission.codelet);
  auto const refuse = [&](std::string const& why) {
    throw InvalidArgument("task " + std::to_string(m_submitted) + " ('" + codelet.name + "') " + why);
  };
  if (m_submitted >= m_schedule.tasks.size())
    refuse("is not in the schedule " + m_file + ", which has " + std::to_string(m_schedule.tasks.size()) + " tasks");
  auto const& planned = m_schedule.tasks[m_submitted];
  auto const bytes = [&](DataId data) { return m_view->description(data).bytes; };
  if (m_signatures.next(codelet, submission.flops, accesses, bytes) == planned.signature) return;
  auto const& name = m_schedule.codelets[planned.codelet];
  refuse("is not the one of the schedule " + m_file + ", which is of another graph: " +
         (name == codelet.name ? "its flops, its variant or its accesses differ" : "there it is '" + name + "'"));
}

std::uint64_t StaticScheduler::signature(Task const& task) {
  auto const bytes = [&](DataId data) { return m_view->description(data).bytes; };
  return m_signatures.add(m_view->codelet(task.codelet), task.flops, task.accesses, bytes);
}

void StaticScheduler::submitted(TaskId id) {
  auto const& task = m_view->task(id);
  Item item;
  if (m_ended && m_ended->task == id) {  // it came back
    item.place = m_ended->item.place;
    item.lane = m_ended->item.lane;
    m_ended.reset();
    if (m_options.repair == Repair::Auto) m_predecessors.submitted_again(id);
  } else {
    if (m_options.repair == Repair::Auto) m_predecessors.submitted(id, task.accesses);
    note_acceleration(task);
    auto const number = m_submitted++;
    bool const planned = number < m_plan->tasks();
    bool const same = signature(task) == (planned ? m_schedule.tasks[number].signature : 0);
    auto const place = planned ? m_plan->place_of(number) : nowhere;
    if (planned && m_plan->worker(place).valid())
      m_lanes[m_plan->worker(place).index()].tasks.erase(place, m_plan->duration(place));
    if (planned && same) {
      item.place = place;
      item.lane = m_plan->worker(place);
    } else {
      item.place = static_cast<std::uint32_t>(m_tasks.size());
      m_tasks.emplace_back();
    }
  }
  m_tasks[item.place] = id;
  if (item.lane.valid() && !task.allowed_on(m_lanes[item.lane.index()].group)) item.lane = {};
  if (item.lane.valid()) enlist(task, item);
  m_items.insert(id, item);
}

// The task is one of its lane's from now on.
void StaticScheduler::enlist(Task const& task, Item& item) {
  auto& lane = m_lanes[item.lane.index()];
  item.duration = duration(task, item.place, item.lane);
  lane.tasks.insert(item.place, item.duration);
  m_board->insert(lane.group, task.id, task.accesses, item.place);
}

// At the usual pace. The file knows the times of its own workers.
Duration StaticScheduler::duration(Task const& task, std::uint32_t place, WorkerId lane) const {
  auto const& topology = m_view->topology();
  bool const known = !m_options.refresh && place < m_plan->tasks() && m_plan->worker(place).valid() &&
                     topology.machine()[m_plan->worker(place)].kind == topology.machine()[lane].kind;
  return known ? m_plan->duration(place) : m_view->kernel_time(task.id, m_lanes[lane.index()].group);
}

Duration StaticScheduler::expected(Task const& task, Duration duration, WorkerId lane) const {
  auto const kind = m_view->topology().machine()[lane].kind;
  return scaled(duration, m_pace.of_codelet(task.codelet, kind) * m_pace.of_worker(m_lanes[lane.index()].worker));
}

// Until the lane's worker has run what it holds.
Duration StaticScheduler::rest(Lane const& lane) const {
  if (lane.held == 0) return Duration{0};
  return std::max(Duration{0}, lane.held_time - (m_view->now() - lane.since));
}

Duration StaticScheduler::start_of(std::uint32_t place, WorkerId id) const {
  auto const& lane = m_lanes[id.index()];
  return rest(lane) + scaled(lane.tasks.before(place), m_pace.of_work(lane.worker));
}

void StaticScheduler::ready(TaskId id) {
  auto const& task = m_view->task(id);
  Item item = m_items.at(id);
  bool const late = item.lane.valid() && m_options.repair == Repair::Auto && is_late(task, item);
  if (late) {
    m_lanes[item.lane.index()].tasks.erase(item.place, item.duration);
    m_board->remove(id);
  }
  if (late || !item.lane.valid()) {
    deal(task, item);
    m_items[m_items.slot(id)] = item;
  }
  m_lanes[item.lane.index()].tasks.make_ready(item.place);
  m_board->want_inputs(id);
}

// The rule of heft, with each lane's tasks in the order of their places.
void StaticScheduler::deal(Task const& task, Item& item) {
  Duration best = Duration::max();
  for (GroupId const group : task.allowed_groups) {
    Duration const inputs = input_transfers(*m_view, *m_board, task, m_view->topology().group(group).node);
    for (WorkerId const lane : m_view->topology().group(group).workers) {
      Duration const end = start_of(item.place, lane) + inputs + expected(task, duration(task, item.place, lane), lane);
      if (end >= best) continue;
      best = end;
      item.lane = lane;
    }
  }
  ++m_dealt;
  enlist(task, item);
}

bool StaticScheduler::takes_more(WorkerId id) const {
  auto const& lane = m_lanes[id.index()];
  return lane.held == 0 || m_view->topology().group(lane.group).workers.size() == 1;
}

// The place that is next in a lane, if it is ready.
std::uint32_t StaticScheduler::head(Lane const& lane) const {
  if (lane.urgent != nowhere && lane.tasks.is_ready(lane.urgent)) return lane.urgent;
  if (lane.tasks.empty() || !lane.tasks.is_ready(lane.tasks.first())) return nowhere;
  return lane.tasks.first();
}

TaskId StaticScheduler::next(GroupId group) {
  learn();
  WorkerId best;
  std::uint32_t first = nowhere;
  for (WorkerId const lane : m_view->topology().group(group).workers) {
    if (!takes_more(lane)) continue;
    auto const place = head(m_lanes[lane.index()]);
    if (place >= first) continue;
    first = place;
    best = lane;
  }
  if (best.valid()) return give(m_tasks[first], best);
  return m_options.repair == Repair::None ? TaskId() : repair(group);
}

TaskId StaticScheduler::give(TaskId id, WorkerId to) {
  Item item = m_items.at(id);
  auto const& task = m_view->task(id);
  m_lanes[item.lane.index()].tasks.erase(item.place, item.duration);
  m_board->remove(id);
  if (item.lane != to) {
    ++m_stolen;
    item.lane = to;
    item.duration = duration(task, item.place, to);
  }
  item.given = true;
  auto& lane = m_lanes[to.index()];
  if (lane.urgent == item.place) lane.urgent = nowhere;
  if (lane.held++ == 0) lane.since = m_view->now();
  item.estimate = expected(task, item.duration, to);
  lane.held_time += item.estimate;
  m_items[m_items.slot(id)] = item;
  return id;
}

bool StaticScheduler::hand_over(TaskId id, GroupId group) {
  if (!m_items.contains(id)) return false;
  auto const& item = m_items.at(id);
  if (!item.lane.valid()) return false;
  auto const& lane = m_lanes[item.lane.index()];
  if (lane.group != group || lane.held == 0 || lane.tasks.first() != item.place) return false;
  static_cast<void>(give(id, item.lane));
  return true;
}

void StaticScheduler::leave(TaskId id, Item const& item) {
  if (m_options.repair == Repair::Auto) m_predecessors.ended(id);
  m_tasks[item.place] = {};
  if (!item.lane.valid() || item.given) return;
  auto& lane = m_lanes[item.lane.index()];
  lane.tasks.erase(item.place, item.duration);
  if (lane.urgent == item.place) lane.urgent = nowhere;
  m_board->remove(id);
}

void StaticScheduler::withdrawn(TaskId id, Withdrawal, GroupId) { leave(id, m_items.take(id)); }

void StaticScheduler::issued(TaskId id) {
  auto& item = m_items[m_items.slot(id)];
  item.worker = m_view->assignment(id).worker;
  item.issued = m_view->now();
  auto& lane = m_lanes[item.lane.index()];
  lane.worker = item.worker;
  if (lane.held == 1) lane.since = m_view->now();
}

void StaticScheduler::finished(TaskId id) {
  learn();
  Item const item = m_items.take(id);
  auto& lane = m_lanes[item.lane.index()];
  --lane.held;
  lane.held_time -= item.estimate;
  lane.since = m_view->now();
  leave(id, item);
  m_ended = Ended{id, item, Duration{0}, m_view->task(id).codelet};
  if (!item.worker.valid()) return;
  m_ended->taken = m_view->now() - std::max(item.issued, m_free[item.worker.index()]);
  m_free[item.worker.index()] = m_view->now();
}

// From the last task that ended, unless it has come back.
void StaticScheduler::learn() {
  if (!m_ended) return;
  auto const ended = *std::exchange(m_ended, std::nullopt);
  if (ended.taken <= Duration{0}) return;
  WorkerId const worker = ended.item.worker;
  m_pace.measured(ended.codelet, m_view->topology().machine()[worker].kind, worker, ended.item.duration, ended.taken);
}

// The ready task with the first place runs next in its lane.
void StaticScheduler::stalled() {
  std::uint32_t first = nowhere;
  Lane* its = nullptr;
  for (auto& lane : m_lanes) {
    auto const& ready = lane.tasks.ready();
    if (ready.empty() || *ready.begin() >= first) continue;
    first = *ready.begin();
    its = &lane;
  }
  if (its == nullptr) return;
  its->urgent = first;
  ++m_stalls;
}

std::vector<std::pair<std::string, double>> StaticScheduler::counters() const {
  return {{"stolen", static_cast<double>(m_stolen)},
          {"dealt", static_cast<double>(m_dealt)},
          {"stalls", static_cast<double>(m_stalls)}};
}

}  // namespace granary::detail
