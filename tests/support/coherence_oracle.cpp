// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/coherence_oracle.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace granary::test {

void CoherenceOracle::require(bool condition, std::function<std::string()> const& message) const {
  if (!condition) throw std::logic_error("oracle: " + message());
}

void CoherenceOracle::on_event(Event const& happened) {
  m_clearing = std::holds_alternative<TakeFailures>(happened);
  std::visit([&](auto const& what) { event(what); }, happened);
}

void CoherenceOracle::on_act(Act const& done) {
  std::visit([&](auto const& what) { act(what); }, done);
}

void CoherenceOracle::after_event() {
  for (DataId const data : m_touched) check_not_lost(data, m_data[data.index()]);
  m_touched.clear();
}

void CoherenceOracle::add_data(DataId id, DataDescription description, std::span<FixedPlace const> places) {
  if (id.index() >= m_data.size()) m_data.resize(id.index() + 1);
  auto& record = m_data[id.index()];
  require(record.description.bytes == 0 || record.forgotten, [&] { return name(id) + " has its id taken away"; });
  record = {};
  record.origin = record.home = Region{.data = id, .bytes = description.bytes, .content = {}};
  if (description.origin.valid() || description.origin_is_home) record.first = record.current = 0;
  (description.origin_is_home ? record.home : record.origin).content = record.first;
  for (auto const& place : places) {
    if (place.valid) record.first = record.current = 0;
    record.places[place.node] = {
        .data = id, .bytes = description.bytes, .content = place.valid ? Content(0) : Content{}};
  }
  record.description = std::move(description);
}

void CoherenceOracle::event(TaskSubmission const& submitted) {
  auto& task = m_tasks.emplace_back();
  TaskId const id(m_tasks.size() - 1);
  task.accesses = AccessList(submitted.accesses);
  task.codelet = submitted.codelet;
  for (auto const& access : task.accesses) {
    auto& record = m_data[access.data.index()];
    require(!record.released(),
            [&] { return "task " + std::to_string(id.value()) + " uses released " + name(access.data); });
    task.expected.push_back(reads(access.mode) && !access.repeated ? record.promised() : Content{});
    if (access.repeated) continue;
    record.pending.insert(id);
    if (record.last_writer.valid() && reads(access.mode)) task.sources.push_back(record.last_writer);
    if (record.last_writer.valid()) task.follows.push_back(record.last_writer);
    if (writes(access.mode)) task.follows.insert(task.follows.end(), record.readers.begin(), record.readers.end());
  }
  for (auto const& access : task.accesses) {
    if (access.repeated) continue;
    auto& record = m_data[access.data.index()];
    if (!writes(access.mode)) {
      record.readers.push_back(id);
      continue;
    }
    record.readers.clear();
    record.last_writer = id;
    record.writers.push_back(id);
  }
}

void CoherenceOracle::event(RetainData const& retained) {
  auto& record = m_data[retained.data.index()];
  require(!record.forgotten, [&] { return name(retained.data) + " is retained after it was forgotten"; });
  ++record.registrations;
}

void CoherenceOracle::event(ReleaseData const& released) {
  --m_data[released.data.index()].registrations;
  m_touched.insert(released.data);
}

CoherenceOracle::Region& CoherenceOracle::region(DataId data, Place const& place) {
  auto& record = m_data[data.index()];
  auto const& description = record.description;
  if (place.slot == Slot::Pool) {
    auto const found = m_pools[place.node].find(place.offset);
    require(found != m_pools[place.node].end() && found->second.data == data, [&] {
      return name(data) + " has no place at " + std::to_string(place.offset) + " of " + name(place.node);
    });
    return found->second;
  }
  if (auto const found = record.places.find(place.node); found != record.places.end()) {
    bool const mirror = !m_topology.groups_on(place.node).empty();
    require(place.slot == (mirror ? Slot::Mirror : Slot::Origin),
            [&] { return name(data) + " is used in a wrong place on " + name(place.node); });
    return found->second;
  }
  if (place.slot == Slot::Home || description.origin_is_home) {
    require(description.home == place.node, [&] { return name(data) + " has no home on " + name(place.node); });
    return record.home;
  }
  require(description.origin == place.node, [&] { return name(data) + " has no origin on " + name(place.node); });
  return record.origin;
}

Place CoherenceOracle::expected_place(DataId data, NodeId node) const {
  auto const& record = m_data[data.index()];
  if (auto const pool = record.pool.find(node); pool != record.pool.end()) return {node, Slot::Pool, pool->second};
  if (record.places.contains(node)) return {node, Slot::Mirror, 0};
  require(record.description.in_place && record.description.home == node,
          [&] { return "a task runs although " + name(data) + " has no place on " + name(node); });
  return {node, Slot::Home, 0};
}

void CoherenceOracle::act(Allocated const& allocated) {
  auto const& node = m_topology.machine()[allocated.node];
  auto& pool = m_pools[allocated.node];
  auto& record = m_data[allocated.data.index()];
  auto const what = [&] { return "the place of " + name(allocated.data) + " on " + name(allocated.node); };
  require(allocated.bytes == round_up(record.description.bytes, node.alignment),
          [&] { return what() + " has a wrong size"; });
  require(allocated.offset % node.alignment == 0, [&] { return what() + " is not aligned"; });
  require(allocated.offset + allocated.bytes <= node.capacity, [&] { return what() + " is beyond the capacity"; });
  require(!record.pool.contains(allocated.node), [&] { return what() + " was there before"; });
  require(!record.forgotten, [&] { return what() + " comes after the datum was forgotten"; });
  auto const after = pool.lower_bound(allocated.offset);
  require(after == pool.end() || after->first >= allocated.offset + allocated.bytes,
          [&] { return what() + " overlaps with that of " + name(after->second.data); });
  if (after != pool.begin()) {
    auto const before = std::prev(after);
    require(before->first + before->second.bytes <= allocated.offset,
            [&] { return what() + " overlaps with that of " + name(before->second.data); });
  }
  pool[allocated.offset] = Region{.data = allocated.data, .bytes = allocated.bytes, .content = {}};
  record.pool[allocated.node] = allocated.offset;
}

void CoherenceOracle::act(Freed const& freed) {
  Region const& place = region(freed.data, {freed.node, Slot::Pool, freed.offset});
  require(place.readers == 0 && !place.written,
          [&] { return name(freed.data) + " is freed on " + name(freed.node) + " while in use"; });
  m_data[freed.data.index()].pool.erase(freed.node);
  m_pools[freed.node].erase(freed.offset);
  m_touched.insert(freed.data);
}

void CoherenceOracle::act(CopyCommand const& copy) {
  auto const& link = m_topology.machine()[copy.link];
  auto const& record = m_data[copy.data.index()];
  auto const what = [&] { return "copy " + std::to_string(copy.transfer.value()) + " of " + name(copy.data); };
  require(link.from == copy.from.node && link.to == copy.to.node, [&] { return what() + " is on a wrong link"; });
  require(copy.bytes == record.description.bytes, [&] { return what() + " has a wrong size"; });
  require(++m_in_flight[copy.link] <= link.width, [&] { return what() + " is one too many on its link"; });
  require(copy.to.slot != Slot::Origin, [&] { return what() + " writes an origin"; });
  require(copy.to.slot != Slot::Home || !m_planner || !m_planner->poisoned(copy.data),
          [&] { return what() + " writes a poisoned value home"; });
  Region& from = region(copy.data, copy.from);
  require(from.content.has_value() && !from.written, [&] { return what() + " reads nothing valid"; });
  Region& to = region(copy.data, copy.to);
  require(to.readers == 0 && !to.written, [&] { return what() + " overwrites what is in use"; });
  ++from.readers;
  to.written = true;
  require(m_open_copies.emplace(copy.transfer, OpenCopy{copy, from.content}).second,
          [&] { return what() + " was ordered before"; });
  to.content.reset();
  m_touched.insert(copy.data);
  ++m_copies;
}

void CoherenceOracle::end_copy(TransferId transfer, bool success) {
  auto const [copy, content] = m_open_copies.at(transfer);
  m_open_copies.erase(transfer);
  --m_in_flight[copy.link];
  Region& from = region(copy.data, copy.from);
  Region& to = region(copy.data, copy.to);
  require(from.content == content, [&] { return name(copy.data) + " changed while a copy read it"; });
  --from.readers;
  to.written = false;
  if (success) to.content = content;
  if (!success) m_data[copy.data.index()].copy_failed = true;
  m_touched.insert(copy.data);
}

void CoherenceOracle::act(RunCommand const& run) {
  auto& task = m_tasks.at(run.task.index());
  auto const what = [&] { return "task " + std::to_string(run.task.value()); };
  auto const& worker = m_topology.machine()[run.worker];
  require(task.state == State::Submitted && !task.retired, [&] { return what() + " is run again"; });
  require(m_codelets[task.codelet.index()].runs_on(worker.kind),
          [&] { return what() + " has no kernel for its worker"; });
  auto& lane = m_lanes[run.worker.index()];
  for (TaskId const before : task.follows) {
    // The tasks that this one itself follows come before it.
    bool const behind = run.follows && std::ranges::count(lane, before) > 0;
    require(over(before) || behind,
            [&] { return what() + " runs before task " + std::to_string(before.value()) + " is over"; });
    task.waits = task.waits || (!over(before) && lane.back() == before);
  }
  require(task.waits == run.follows, [&] { return what() + " follows nothing"; });
  task.state = State::Running;
  task.worker = run.worker;
  lane.push_back(run.task);
  if (!task.waits) start_task(run.task);
}

void CoherenceOracle::start_task(TaskId id) {
  auto& task = m_tasks[id.index()];
  auto const what = [&] { return "task " + std::to_string(id.value()); };
  auto const& worker = m_topology.machine()[task.worker];
  task.waits = false;
  for (std::size_t i = 0; i < task.accesses.size(); ++i) {
    auto const& access = task.accesses[i];
    Place const place = expected_place(access.data, worker.node);
    if (m_planner) {
      require(m_planner->place(access.data, worker.node) == place,
              [&] { return what() + " is sent to a wrong place for " + name(access.data); });
    }
    task.places.push_back(place);
    if (access.repeated) continue;
    Region& used = region(access.data, place);
    require(!used.written, [&] { return what() + " uses " + name(access.data) + " while it is written"; });
    if (reads(access.mode)) {
      require(used.content.has_value() && used.content == task.expected[i], [&] {
        return what() + " reads " + (used.content ? "version " + std::to_string(*used.content) : "nothing") + " of " +
               name(access.data) + " on " + name(worker.node) + " instead of version " +
               std::to_string(task.expected[i].value_or(~0ULL));
      });
    }
    if (writes(access.mode)) {
      require(used.readers == 0, [&] { return what() + " writes " + name(access.data) + " while it is read"; });
      used.written = true;
    } else {
      ++used.readers;
    }
  }
}

bool CoherenceOracle::over(TaskId id) const {
  auto const& task = m_tasks[id.index()];
  return task.retired || task.state == State::Succeeded || task.state == State::Failed;
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
  if (task.waits) {
    auto& lane = m_lanes[task.worker.index()];
    require(lane.back() == id, [&] { return "task " + std::to_string(id.value()) + " is taken back out of order"; });
    lane.pop_back();
  } else {
    leave_lane(id);
  }
  for (std::size_t i = 0; i < task.places.size(); ++i) {
    if (task.accesses[i].repeated) continue;
    Region& used = region(task.accesses[i].data, task.places[i]);
    if (writes(task.accesses[i].mode)) {
      used.written = false;
      if (changed) used.content.reset();
      m_touched.insert(task.accesses[i].data);
    } else if (task.worker.valid()) {
      --used.readers;
    }
  }
  task.places.clear();
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
    region(access.data, expected_place(access.data, node)).content.reset();
    m_data[access.data.index()].current.reset();
    m_touched.insert(access.data);
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
    Region& used = region(access.data, task.places[i]);
    if (!writes(access.mode)) {
      --used.readers;
      require(used.content == task.expected[i],
              [&] { return name(access.data) + " changed while task " + std::to_string(id.value()) + " read it"; });
      continue;
    }
    used.written = false;
    used.content = success ? Content(id.value() + 1) : Content{};
    auto& record = m_data[access.data.index()];
    record.current = used.content;
    m_touched.insert(access.data);
  }
  task.state = success ? State::Succeeded : State::Failed;
  ++m_tasks_run;
  if (external) return;
  auto const& lane = m_lanes[task.worker.index()];
  if (success && !lane.empty() && m_tasks[lane.front().index()].waits) start_task(lane.front());
}

void CoherenceOracle::act(BeginCommand const& begun) {
  auto& task = m_tasks.at(begun.task.index());
  auto const what = [&] { return "task " + std::to_string(begun.task.value()); };
  require(m_codelets[task.codelet.index()].external, [&] { return what() + " begins without a worker"; });
  require(task.state == State::Submitted && !task.retired, [&] { return what() + " begins again"; });
  for (TaskId const before : task.follows) {
    require(over(before),
            [&] { return what() + " begins before task " + std::to_string(before.value()) + " is over"; });
  }
  task.state = State::Running;
  for (std::size_t i = 0; i < task.accesses.size(); ++i) {
    auto const& access = task.accesses[i];
    NodeId const home = m_data[access.data.index()].description.home;
    task.places.push_back({home, Slot::Home, 0});
    if (access.repeated || !writes(access.mode)) continue;
    Region& used = region(access.data, task.places.back());
    require(!used.written && used.readers == 0,
            [&] { return what() + " writes " + name(access.data) + " while it is in use"; });
    used.written = true;
  }
}

void CoherenceOracle::act(RetireCommand const& retired) {
  auto& task = m_tasks.at(retired.task.index());
  auto const what = [&] { return "task " + std::to_string(retired.task.value()); };
  require(!task.retired, [&] { return what() + " is retired twice"; });
  require(task.state != State::Running, [&] { return what() + " is retired while it runs"; });
  task.retired = true;
  bool const cancelled = task.state == State::Submitted;
  if (cancelled) ++m_tasks_cancelled;
  for (auto const& access : task.accesses) {
    auto& record = m_data[access.data.index()];
    record.pending.erase(retired.task);
    if (cancelled) std::erase(record.writers, retired.task);
    // A worker had it once: from then on nobody keeps the value that it does not read.
    bool const given_up = cancelled && task.returned && writes(access.mode) && !reads(access.mode);
    if (given_up && !record.forgotten && m_planner && m_planner->poisoned(access.data)) record.current.reset();
    m_touched.insert(access.data);
  }
}

void CoherenceOracle::act(ForgetCommand const& forgotten) {
  auto& record = m_data.at(forgotten.data.index());
  auto const what = [&] { return name(forgotten.data); };
  require(record.released() && !record.forgotten,
          [&] { return what() + " is forgotten without or after its release"; });
  require(record.pending.empty(), [&] { return what() + " is forgotten while tasks need it"; });
  require(record.pool.empty(), [&] { return what() + " is forgotten while it has a place"; });
  for (auto const& [transfer, copy] : m_open_copies) {
    require(copy.command.data != forgotten.data, [&] { return what() + " is forgotten while it is copied"; });
  }
  record.forgotten = true;
  record.home_lost = record.copy_failed || m_clearing || (m_planner && m_planner->failed());
  m_touched.insert(forgotten.data);
}

bool CoherenceOracle::holds(DataRecord const& record, Content value) const {
  if (record.origin.content == value || record.home.content == value) return true;
  if (std::ranges::any_of(record.places, [&](auto const& place) { return place.second.content == value; })) return true;
  return std::ranges::any_of(
      record.pool, [&](auto const& place) { return m_pools.at(place.first).at(place.second).content == value; });
}

bool CoherenceOracle::wanted(DataId data, DataRecord const& record) const {
  if (!record.current || (m_planner && !record.forgotten && m_planner->poisoned(data))) return false;
  // A task that writes without reading destroys the value as soon as a worker has it.
  for (TaskId const id : record.pending) {
    auto const& task = m_tasks[id.index()];
    for (auto const& access : task.accesses) {
      if (access.data != data || access.repeated || !writes(access.mode)) continue;
      if (task.state == State::Running || (task.returned && !reads(access.mode))) return false;
    }
  }
  if (!record.released()) return true;
  if (record.copy_failed || record.home_lost) return false;
  if (record.description.home.valid() && *record.current != 0) return true;
  return std::ranges::any_of(record.pending, [&](TaskId id) {
    auto const& task = m_tasks[id.index()];
    for (std::size_t i = 0; i < task.accesses.size(); ++i) {
      if (task.accesses[i].data == data && task.expected[i] == record.current) return true;
    }
    return false;
  });
}

void CoherenceOracle::check_not_lost(DataId data, DataRecord const& record) const {
  if (!wanted(data, record) || holds(record, record.current)) return;
  // A copy in flight into the home destroys the old value; its source, or another place, still holds the value.
  require(false, [&] { return "version " + std::to_string(*record.current) + " of " + name(data) + " is lost"; });
}

std::map<DataId, std::optional<std::uint64_t>> CoherenceOracle::homes() const {
  std::map<DataId, std::optional<std::uint64_t>> homes;
  for (std::size_t d = 0; d < m_data.size(); ++d) {
    auto const& record = m_data[d];
    bool const lives = record.description.bytes > 0 && !record.forgotten && record.description.home.valid();
    if (lives) homes[DataId(static_cast<std::uint32_t>(d))] = record.home.content;
  }
  return homes;
}

void CoherenceOracle::at_rest(std::vector<Failure> const& failures) {
  for (std::size_t t = 0; t < m_tasks.size(); ++t) {
    auto& task = m_tasks[t];
    require(task.retired, [&] { return "task " + std::to_string(t) + " never left"; });
    bool const judged = std::exchange(task.judged, true);
    require(judged || !failures.empty() || task.state == State::Succeeded,
            [&] { return "task " + std::to_string(t) + " did not run"; });
  }
  require(m_open_copies.empty(), [] { return std::string("a copy is in flight at rest"); });
  for (std::size_t d = 0; d < m_data.size(); ++d) {
    auto& record = m_data[d];
    DataId const id(static_cast<std::uint32_t>(d));
    // A value that could not be written home is reported, and written again in the next run.
    bool const reported = std::ranges::find(failures, id, &Failure::write_back_of) != failures.end();
    bool const excused = std::exchange(record.copy_failed, false) || reported;
    require(record.forgotten == record.released() || excused,
            [&] { return name(id) + " is released but not forgotten"; });
    bool const poisoned = !record.forgotten && m_planner && m_planner->poisoned(id);
    if (poisoned && excused) record.current.reset();  // lost with its device
    require(!poisoned || !record.current, [&] { return name(id) + " is poisoned although a task left it a value"; });
    // A lost value counts as never written: a task that only writes it defines it again.
    if (!record.current) record.first.reset();
    if (!record.current) record.writers.clear();
    record.last_writer = record.writers.empty() ? TaskId{} : record.writers.back();
    if (excused || !record.current || *record.current == 0 || !record.description.home.valid()) continue;
    if (record.forgotten && record.home_lost) continue;
    require(record.home.content == record.current,
            [&] { return "the home of " + name(id) + " is out of date at rest"; });
  }
}

}  // namespace granary::test
