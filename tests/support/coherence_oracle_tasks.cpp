// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tasks may do: when they run, what they read and write, how they end.
#include "support/coherence_oracle.hpp"

#include <granary/detail/core/planner/inspection.hpp>

#include <algorithm>
#include <utility>

namespace granary::test {

using namespace detail;

void CoherenceOracle::submit(TaskId id, TaskSubmission const& submitted) {
  if (id.index() >= m_tasks.size()) m_tasks.resize(id.index() + 1);
  auto& task = m_tasks[id.index()];
  task.state = State::Submitted;
  task.accesses = AccessList(submitted.accesses);
  task.codelet = submitted.codelet;
  for (auto const& access : task.accesses) {
    require(!m_data[access.data.index()].released(),
            [&] { return "task " + std::to_string(id.value()) + " uses released " + name(access.data); });
    task.expected.emplace_back();
    task.runs.emplace_back();
    if (!access.repeated) add_access(id, access);
  }
}

// No datum is accessed twice here.
void CoherenceOracle::add_access(TaskId id, Access const& access) {
  auto& task = m_tasks[id.index()];
  auto const append = [](std::vector<TaskId>& list, std::vector<TaskId> const& more) {
    list.insert(list.end(), more.begin(), more.end());
  };
  m_data[access.data.index()].pending.insert(id);
  note_relatives(id, access.data);
  for_each_cell(access.data, [&](Cell& cell) {
    task.expected.back().push_back(reads(access.mode) ? cell.promised() : Content{});
    if (commutes(access.mode)) join_run(id, cell);
    task.runs.back().push_back(reads(access.mode) ? cell.run : nullptr);
    auto const& before = commutes(access.mode) ? cell.run->sources : cell.last_writers;
    if (reads(access.mode)) append(task.sources, before);
    append(task.follows, before);
    if (commutes(access.mode)) append(task.follows, cell.run->follows);
    if (!writes(access.mode)) {
      cell.readers.push_back(id);
      return;
    }
    cell.writers.push_back(id);
    if (commutes(access.mode)) {
      cell.last_writers = cell.run->members;
      return;
    }
    append(task.follows, cell.readers);
    cell.readers.clear();
    cell.last_writers.assign(1, id);
    cell.run.reset();
  });
}

void CoherenceOracle::note_relatives(TaskId id, DataId data) {
  for (auto const& [number, cell] : m_family_cells) {
    if (m_data[data.index()].cells.front() != cell) continue;
    auto& relatives = m_relatives[number / family];
    auto& known = m_tasks[id.index()].relatives;
    known.insert(known.end(), relatives.begin(), relatives.end());
    relatives.push_back(id);
  }
}

void CoherenceOracle::join_run(TaskId id, Cell& cell) {
  if (!cell.run || !cell.readers.empty()) {
    cell.run = std::make_shared<Run>(Run{.members = {},
                                         .sources = cell.last_writers,
                                         .follows = std::exchange(cell.readers, {}),
                                         .before = cell.run ? Content{} : cell.promised(),
                                         .previous = cell.run});
  }
  cell.run->members.push_back(id);
}

bool CoherenceOracle::fellow_failed(TaskId id) const {
  auto const& task = m_tasks[id.index()];
  for (std::size_t i = 0; i < task.accesses.size(); ++i) {
    if (task.accesses[i].repeated || !commutes(task.accesses[i].mode)) continue;
    for (auto const& run : task.runs[i]) {
      if (!std::ranges::all_of(run->members, [&](TaskId t) { return t == id || succeeded(t); })) return true;
    }
  }
  return false;
}

void CoherenceOracle::check_turns(TaskId id) const {
  auto const& task = m_tasks[id.index()];
  for (std::size_t i = 0; i < task.accesses.size(); ++i) {
    if (task.accesses[i].repeated || !commutes(task.accesses[i].mode)) continue;
    for (auto const& run : task.runs[i]) {
      for (TaskId const other : run->members) {
        require(other == id || m_tasks[other.index()].state != State::Running, [&] {
          return "task " + std::to_string(id.value()) + " runs while task " + std::to_string(other.value()) +
                 " has its turn on " + name(task.accesses[i].data);
        });
      }
    }
  }
}

// Each member of a run reads what the one before it left, whichever that was; who comes after it reads what the last
// one left.
bool CoherenceOracle::may_read(TaskRecord const& task, std::size_t i, std::size_t cell, Content value) {
  auto const* const run = task.runs[i][cell].get();
  if (run == nullptr) return task.expected[i][cell] == value;
  auto const made_by = [&](Run const& of) {
    return value && std::ranges::any_of(of.members, [&](TaskId t) { return t.value() + 1 == *value; });
  };
  if (made_by(*run)) return true;
  if (!commutes(task.accesses[i].mode)) return false;
  return run->previous ? made_by(*run->previous) : value == run->before;
}

// The results of a run are in the order in which its members ended.
void CoherenceOracle::rank_last(Cell& cell, TaskId id, Run const& run) {
  auto const in_run = [&](TaskId task) { return std::ranges::find(run.members, task) != run.members.end(); };
  auto const own = std::ranges::find(cell.writers, id);
  std::rotate(own, own + 1, std::find_if_not(own, cell.writers.end(), in_run));
}

void CoherenceOracle::act(RunCommand const& run) {
  auto& task = m_tasks.at(run.task.index());
  auto const what = [&] { return "task " + std::to_string(run.task.value()); };
  auto const& worker = m_topology.machine()[run.worker];
  require(task.state == State::Submitted && !task.retired, [&] { return what() + " is run again"; });
  require_not_passed(run.task);
  require(m_codelets[task.codelet.index()].runs_on(worker.kind),
          [&] { return what() + " has no kernel for its worker"; });
  auto& lane = m_lanes[run.worker.index()];
  for (TaskId const before : task.follows) {
    // The tasks that this one itself follows come before it.
    bool const behind = run.follows && std::ranges::count(lane, before) > 0;
    if (!behind) pass(run.task, before);
    task.waits = task.waits || (!over(before) && lane.back() == before);
  }
  require(task.waits == run.follows, [&] { return what() + " follows nothing"; });
  check_turns(run.task);
  task.state = State::Running;
  task.worker = run.worker;
  task.aborted = false;
  lane.push_back(run.task);
  task.told_places.assign(run.places.begin(), run.places.end());
  task.told_varying.assign(run.varying.begin(), run.varying.end());
  if (m_planner) check_kept(run);
  if (!task.waits) start_task(run.task);
}

// The command names the values that were put aside of what the task writes, and no others.
void CoherenceOracle::check_kept(RunCommand const& run) const {
  auto const& task = m_tasks[run.task.index()];
  std::map<DataId, Place> expected;
  for_each_write(task.accesses, [&](Access const& access) {
    if (auto const kept = m_kept.find(access.data); kept != m_kept.end()) expected.insert(*kept);
  });
  std::map<DataId, Place> told;
  for (auto const& kept : run.kept) {
    told.emplace(task.accesses[kept.access].data, kept.place);
    require(kept.bytes == m_data[task.accesses[kept.access].data.index()].bytes,
            [&] { return "a task is told a wrong size of the value that is kept aside"; });
  }
  require(told == expected, [&] {
    return "task " + std::to_string(run.task.value()) + " is told wrong places of values that are kept aside";
  });
}

void CoherenceOracle::start_task(TaskId id) {
  auto& task = m_tasks[id.index()];
  auto const what = [&] { return "task " + std::to_string(id.value()); };
  auto const& worker = m_topology.machine()[task.worker];
  task.waits = false;
  note_versions(id);
  for (std::size_t i = 0; i < task.accesses.size(); ++i) {
    auto const& access = task.accesses[i];
    Place const place = expected_place(access.data, worker.node);
    if (m_planner) {
      require(i < task.told_places.size() && task.told_places[i] == place,
              [&] { return what() + " is sent to a wrong place for " + name(access.data); });
    }
    task.places.push_back(place);
    auto const beside = m_results.find(access.data);
    task.results.push_back(beside != m_results.end() && writes(access.mode) ? beside->second : place);
    if (access.repeated) continue;
    check_result(id, i);
    auto const used = spots(access.data, place);
    auto const made = spots(access.data, task.results[i]);
    auto const kept = m_kept.find(access.data);
    auto const aside = kept != m_kept.end() && writes(access.mode) ? spots(access.data, kept->second) : Spots{};
    for (std::size_t c = 0; c < used.size(); ++c) {
      auto& spot = *used[c];
      if (!aside.empty()) aside[c]->content = spot.content;
      require(!spot.written, [&] { return what() + " uses " + name(access.data) + " while it is written"; });
      if (reads(access.mode)) check_input(id, i, c, spot.content);
      require(!writes(access.mode) || spot.readers == 0,
              [&] { return what() + " writes " + name(access.data) + " while it is read"; });
      if (writes(access.mode)) made[c]->written = true;
      if (made[c] != &spot || !writes(access.mode)) ++spot.readers;
    }
  }
}

// The command says where the task writes, and how much room it has there.
void CoherenceOracle::check_result(TaskId id, std::size_t i) {
  auto const& task = m_tasks[id.index()];
  auto const& access = task.accesses[i];
  auto const& record = m_data[access.data.index()];
  if (!m_planner || !writes(access.mode) || record.description.bound == 0) return;
  auto const result = i < task.told_varying.size() ? task.told_varying[i].result : std::nullopt;
  require(result && result->place == task.results[i] && result->room <= record.description.bound,
          [&] { return "a task is sent to a wrong place for its value of " + name(access.data); });
  require(!reads(access.mode) || !(task.results[i] == task.places[i]),
          [&] { return "a task overwrites the value of " + name(access.data) + " that it reads"; });
  require(m_pools[result->place.node].at(result->place.offset).bytes >= result->room,
          [&] { return "a task has less room for its value of " + name(access.data) + " than it is told"; });
}

void CoherenceOracle::check_input(TaskId id, std::size_t i, std::size_t c, Content content) {
  auto& task = m_tasks[id.index()];
  auto const& access = task.accesses[i];
  auto& expected = task.expected[i][c];
  // Whoever may have written the cell since is a member of that run.
  Content const current = m_cells[m_data[access.data.index()].cells[c]].current;
  if (task.runs[i][c]) expected = may_read(task, i, c, current) ? current : Content{};
  require(content.has_value() && content == expected, [&] {
    return "task " + std::to_string(id.value()) + " reads " +
           (content ? "version " + std::to_string(*content) : "nothing") + " of " + name(access.data) + " on " +
           name(m_topology.machine()[task.worker].node) + " instead of version " +
           std::to_string(expected.value_or(~0ULL));
  });
  if (m_planner && !writes(access.mode)) check_version(access.data, content, task.versions[i]);
}

void CoherenceOracle::note_versions(TaskId id) {
  if (!m_planner) return;
  auto& versions = m_tasks[id.index()].versions;
  versions.clear();
  for (auto const& access : m_planner->view().task(id).accesses) versions.push_back(access.version);
}

bool CoherenceOracle::over(TaskId id) const {
  auto const& task = m_tasks[id.index()];
  return task.retired || task.state == State::Succeeded || task.state == State::Failed;
}

// A task that follows another one begins. The other may not have left although it is cancelled, since it was submitted
// behind a failure: then it never runs.
void CoherenceOracle::pass(TaskId id, TaskId before) {
  if (over(before)) return;
  auto& passed = m_tasks[before.index()];
  require(passed.state == State::Submitted, [&] {
    return "task " + std::to_string(id.value()) + " begins before task " + std::to_string(before.value()) + " is over";
  });
  passed.passed_by = id;
}

void CoherenceOracle::require_not_passed(TaskId id) const {
  TaskId const by = m_tasks[id.index()].passed_by;
  require(!by.valid(), [&] {
    return "task " + std::to_string(id.value()) + " begins after task " + std::to_string(by.value()) +
           ", which follows it";
  });
}

void CoherenceOracle::leave_lane(TaskId id) {
  if (!m_tasks[id.index()].worker.valid()) return;
  auto& lane = m_lanes[m_tasks[id.index()].worker.index()];
  require(!lane.empty() && lane.front() == id,
          [&] { return "task " + std::to_string(id.value()) + " ends out of order"; });
  lane.erase(lane.begin());
}

void CoherenceOracle::skip_task(TaskId id) {
  auto& task = m_tasks[id.index()];
  leave_lane(id);
  require(task.state == State::Running && task.waits,
          [&] { return "task " + std::to_string(id.value()) + " is skipped although what it follows succeeded"; });
  task.state = State::Submitted;
  task.waits = false;
}

void CoherenceOracle::return_task(TaskId id, bool changed) {
  auto& task = m_tasks[id.index()];
  // By its worker, which has it next, or by the driver from the lane's end.
  auto* const lane = task.worker.valid() ? &m_lanes[task.worker.index()] : nullptr;
  if (lane != nullptr && !lane->empty() && lane->back() == id) {
    lane->pop_back();
  } else {
    require(!task.waits, [&] { return "task " + std::to_string(id.value()) + " is taken back out of order"; });
    leave_lane(id);
  }
  for (std::size_t i = 0; i < task.places.size(); ++i) {
    if (task.accesses[i].repeated) continue;
    auto const used = spots(task.accesses[i].data, task.places[i]);
    auto const made = spots(task.accesses[i].data, task.results[i]);
    auto const kept = m_kept.find(task.accesses[i].data);
    for (std::size_t c = 0; c < used.size(); ++c) {
      if (made[c] != used[c]) {
        --used[c]->readers;
        made[c]->written = false;
      } else if (writes(task.accesses[i].mode)) {
        used[c]->written = false;
        if (!changed) continue;
        used[c]->content = kept != m_kept.end() ? spots(task.accesses[i].data, kept->second)[c]->content : Content{};
      } else if (task.worker.valid()) {
        --used[c]->readers;
      }
    }
    touch(task.accesses[i].data);
  }
  task.places.clear();
  task.results.clear();
  task.state = State::Submitted;
  task.worker = {};
  task.returned = true;
  task.waits = false;
}

// It failed before it started, for example because its device is lost.
void CoherenceOracle::lose_outputs(TaskId id, bool success) {
  require(!success, [&] { return "task " + std::to_string(id.value()) + " ran although what it follows failed"; });
  auto& task = m_tasks[id.index()];
  auto const node = m_topology.machine()[task.worker].node;
  for (auto const& access : task.accesses) {
    if (access.repeated || !writes(access.mode)) continue;
    for (auto* const spot : spots(access.data, expected_place(access.data, node))) spot->content.reset();
    for_each_cell(access.data, [&](Cell& cell) {
      cell.current.reset();
      cell.written_as = access.data;
    });
    touch(access.data);
  }
  task.state = State::Submitted;
  task.waits = false;
}

void CoherenceOracle::end_task(TaskId id, bool success) {
  auto& task = m_tasks[id.index()];
  leave_lane(id);
  if (task.waits) return lose_outputs(id, success);
  bool const external = !task.worker.valid();
  for (std::size_t i = 0; i < task.accesses.size(); ++i) {
    auto const& access = task.accesses[i];
    if (access.repeated || (external && !writes(access.mode))) continue;
    auto const used = spots(access.data, task.places[i]);
    auto const made = spots(access.data, task.results[i]);
    auto& record = m_data[access.data.index()];
    if (success && writes(access.mode) && record.description.bound > 0)
      record.bytes = std::exchange(record.made, record.description.bound);
    for (std::size_t c = 0; c < used.size(); ++c) {
      if (!writes(access.mode) || made[c] != used[c]) {
        --used[c]->readers;
        require(!reads(access.mode) || used[c]->content == task.expected[i][c],
                [&] { return name(access.data) + " changed while task " + std::to_string(id.value()) + " read it"; });
        if (!writes(access.mode)) continue;
      }
      if (success && !commutes(access.mode)) m_data[access.data.index()].unwritten = false;
      made[c]->written = false;
      made[c]->content = success ? Content(id.value() + 1) : Content{};
      auto& cell = m_cells[m_data[access.data.index()].cells[c]];
      cell.current = made[c]->content;
      cell.written_as = access.data;
      if (success && commutes(access.mode)) {
        rank_last(cell, id, *task.runs[i][c]);
      } else if (success && m_planner) {
        check_version(access.data, made[c]->content, task.versions[i]);
      }
    }
    touch(access.data);
  }
  task.state = success ? State::Succeeded : State::Failed;
  ++m_tasks_run;
  if (external) return;
  auto const& lane = m_lanes[task.worker.index()];
  if (success && !lane.empty() && m_tasks[lane.front().index()].waits) start_task(lane.front());
}

void CoherenceOracle::act(AbortCommand const& abort) {
  auto const& task = m_tasks.at(abort.task.index());
  auto const what = [&] { return "task " + std::to_string(abort.task.value()); };
  require(m_topology.machine()[abort.worker].kind == WorkerKind::Cpu && m_codelets[task.codelet.index()].restartable,
          [&] { return what() + " is aborted although it cannot be"; });
  auto& last = m_aborted[abort.worker];
  bool const open = last.valid() && m_tasks[last.index()].state == State::Running &&
                    m_tasks[last.index()].worker == abort.worker && m_tasks[last.index()].aborted;
  require(!open, [&] { return what() + " is aborted before task " + std::to_string(last.value()) + " has answered"; });
  last = abort.task;
  // Its end may be known to the driver alone.
  require(over(abort.task) || (task.state == State::Running && task.worker == abort.worker),
          [&] { return what() + " is aborted on a worker that does not have it"; });
  m_tasks[abort.task.index()].aborted = true;
}

void CoherenceOracle::act(BeginCommand const& begun) {
  auto& task = m_tasks.at(begun.task.index());
  auto const what = [&] { return "task " + std::to_string(begun.task.value()); };
  require(m_codelets[task.codelet.index()].external, [&] { return what() + " begins without a worker"; });
  require(task.state == State::Submitted && !task.retired, [&] { return what() + " begins again"; });
  require_not_passed(begun.task);
  for (TaskId const before : task.follows) {
    pass(begun.task, before);
  }
  task.state = State::Running;
  note_versions(begun.task);
  for (std::size_t i = 0; i < task.accesses.size(); ++i) {
    auto const& access = task.accesses[i];
    NodeId const home = m_data[access.data.index()].description.home;
    task.places.push_back({home, Slot::Home, 0});
    task.results.push_back(task.places.back());
    if (access.repeated || !writes(access.mode)) continue;
    for (auto* const spot : spots(access.data, task.places.back())) {
      require(!spot->written && spot->readers == 0,
              [&] { return what() + " writes " + name(access.data) + " while it is in use"; });
      spot->written = true;
    }
  }
}

void CoherenceOracle::act(ShipCommand const& ship) {
  auto& task = m_tasks.at(ship.task.index());
  auto const what = [&] { return "task " + std::to_string(ship.task.value()); };
  require(task.state == State::Running && !task.worker.valid() && task.accesses[0].data == ship.data,
          [&] { return what() + " ships " + name(ship.data) + " which it does not read, or before it has begun"; });
  require(ship.bytes == std::max<Bytes>(m_data[ship.data.index()].bytes, 1),
          [&] { return what() + " ships a wrong size"; });
  OpenOutgoingValue open{ship, {}};
  auto const used = spots(ship.data, ship.from);
  for (std::size_t c = 0; c < used.size(); ++c) {
    auto& expected = task.expected[0][c];
    Content const current = m_cells[m_data[ship.data.index()].cells[c]].current;
    if (task.runs[0][c]) expected = may_read(task, 0, c, current) ? current : Content{};
    require(!used[c]->written && used[c]->content && used[c]->content == expected,
            [&] { return what() + " ships another value of " + name(ship.data) + " than it reads"; });
    open.contents.push_back(used[c]->content);
    ++used[c]->readers;
  }
  check_version(ship.data, open.contents.front(), ship.version);
  require(m_open_outgoing_values.emplace(ship.task, std::move(open)).second,
          [&] { return what() + " ships twice at once"; });
}

void CoherenceOracle::event(Shipped const& shipped) {
  auto const [ship, contents] = m_open_outgoing_values.at(shipped.task);
  m_open_outgoing_values.erase(shipped.task);
  auto const used = spots(ship.data, ship.from);
  for (std::size_t c = 0; c < used.size(); ++c) {
    require(used[c]->content == contents[c], [&] { return name(ship.data) + " changed while it was sent"; });
    --used[c]->readers;
  }
}

void CoherenceOracle::act(RetireCommand const& retired) {
  auto& task = m_tasks.at(retired.task.index());
  auto const what = [&] { return "task " + std::to_string(retired.task.value()); };
  require(!task.retired, [&] { return what() + " is retired twice"; });
  // A value that another process asked for could not be brought to where it is sent from.
  bool const external = m_codelets[task.codelet.index()].external;
  if (task.state == State::Running && external && !writes(task.accesses[0].mode) && m_planner && m_planner->failed()) {
    require(!m_open_outgoing_values.contains(retired.task), [&] { return what() + " fails while it ships"; });
    task.state = State::Failed;
  }
  require(task.state != State::Running, [&] { return what() + " is retired while it runs"; });
  task.retired = true;
  bool const cancelled = task.state == State::Submitted;
  if (cancelled) ++m_tasks_cancelled;
  for (auto const& access : task.accesses) {
    auto& record = m_data[access.data.index()];
    record.pending.erase(retired.task);
    // A worker had it once: from then on nobody keeps the value that it does not read.
    bool const given_up = cancelled && task.returned && writes(access.mode) && !reads(access.mode);
    record.unwritten = record.unwritten || (cancelled && writes(access.mode));
    bool const lost = given_up && !record.forgotten && m_planner && m_planner->inspect().poisoned(access.data);
    for_each_cell(access.data, [&](Cell& cell) {
      if (cancelled) std::erase(cell.writers, retired.task);
      if (lost) cell.current.reset();
      if (lost) cell.written_as = access.data;
    });
    touch(access.data);
  }
}

}  // namespace granary::test
