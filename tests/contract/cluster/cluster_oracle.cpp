// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cluster_oracle.hpp"

#include <granary/detail/core/planner/inspection.hpp>
#include <granary/detail/distributed/message.hpp>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace granary::test {

using namespace detail;

ClusterOracle::ClusterOracle(Topology const& topology, std::uint32_t processes)
    : m_topology(topology), m_processes(processes) {
  for (auto& process : m_processes) process.lanes.resize(topology.machine().workers.size());
}

void ClusterOracle::require(bool condition, std::function<std::string()> const& message) const {
  if (!condition) throw std::logic_error("cluster oracle: " + message());
}

std::string ClusterOracle::name(std::uint32_t process, DataId data) const {
  auto const found = m_processes[process].data.find(data);
  std::string const what = found != m_processes[process].data.end() ? "'d" + std::to_string(found->second.datum) + "'"
                                                                    : "data " + std::to_string(data.value());
  return what + " of process " + std::to_string(process);
}

void ClusterOracle::add_data(DataDescription const& description, std::uint32_t owner) {
  auto& datum = m_data.emplace_back();
  datum.description = description;
  datum.owner = owner;
  if (description.origin.valid()) datum.now.content = datum.actual = 0;
  datum.bytes[0] = description.bytes;
  if (description.origin_is_home) datum.home.content = 0;
}

void ClusterOracle::submit(std::uint64_t position, std::uint32_t process, std::vector<Use> const& uses) {
  auto& task = m_tasks[position];
  task.process = process;
  for (auto const& use : uses) {
    auto& datum = m_data[use.datum];
    task.uses.push_back({use.datum, use.mode, {}, datum.now, datum.read});
    if (commutes(use.mode)) {
      if (!datum.now.run || datum.read) {
        auto run = std::make_shared<Run>();
        run->before = std::exchange(datum.now, Source{.content = {}, .run = run});
      }
      datum.read = false;
      datum.now.run->members.push_back(position);
    }
    if (reads(use.mode)) task.uses.back().source = datum.now;
    if (commutes(use.mode)) continue;
    datum.read = !writes(use.mode);
    if (writes(use.mode)) datum.now = {.content = position + 1, .run = {}};
  }
}

void ClusterOracle::withdraw(std::uint64_t position) {
  auto& task = m_tasks.at(position);
  task.state = State::Cancelled;
  task.judged = true;
  for (auto& use : task.uses) {
    if (commutes(use.mode)) std::erase(use.source.run->members, position);
    m_data[use.datum].now = use.before;
    // Its value may have been sent for it already.
    m_data[use.datum].read = use.read_before || m_data[use.datum].owner != task.process;
  }
}

bool ClusterOracle::has_value(std::size_t datum) const {
  return m_data[datum].now.content.has_value() || m_data[datum].now.run;
}

bool ClusterOracle::over(std::uint64_t position) const {
  State const state = m_tasks.at(position).state;
  return state != State::Submitted && state != State::Running;
}

bool ClusterOracle::over(Source const& source) const {
  if (source.run) return std::ranges::all_of(source.run->members, [&](std::uint64_t task) { return over(task); });
  return source.content.value_or(0) == 0 || over(*source.content - 1);
}

bool ClusterOracle::succeeded(Source const& source) const {
  auto const ran = [&](std::uint64_t task) { return m_tasks.at(task).state == State::Succeeded; };
  if (source.run) return std::ranges::all_of(source.run->members, ran);
  return source.content && (*source.content == 0 || ran(*source.content - 1));
}

ClusterOracle::Content ClusterOracle::value(Source const& source) const {
  if (!succeeded(source)) return {};
  return source.run ? source.run->last : source.content;
}

ClusterOracle::Source const& ClusterOracle::source_of(std::uint64_t position, std::size_t datum) const {
  auto const& uses = m_tasks.at(position).uses;
  auto const use = std::ranges::find(uses, datum, &TaskUse::datum);
  require(use != uses.end() && !writes(use->mode),
          [&] { return "a stub names task " + std::to_string(position) + ", which does not read its value"; });
  return use->source;
}

void ClusterOracle::on_event(std::uint32_t process, Event const& event, NewIds ids) {
  if (auto const* const codelet = std::get_if<AddCodelet>(&event)) {
    m_processes[process].codelets.push_back(codelet->codelet);
  } else if (auto const* const data = std::get_if<AddData>(&event)) {
    added(process, *data, ids.data);
  } else if (auto const* const submission = std::get_if<TaskSubmission>(&event)) {
    submitted(process, *submission, ids.task);
  } else if (auto const* const copied = std::get_if<CopyDone>(&event)) {
    end_copy(process, copied->transfer, true);
  } else if (auto const* const not_copied = std::get_if<CopyFailed>(&event)) {
    end_copy(process, not_copied->transfer, false);
  } else if (auto const* const size = std::get_if<Sized>(&event)) {
    sized(process, *size);
  } else if (auto const* const done = std::get_if<TaskDone>(&event)) {
    ended(process, done->task, true);
  } else if (auto const* const failed = std::get_if<TaskFailed>(&event)) {
    ended(process, failed->task, false);
  } else if (auto const* const skipped = std::get_if<TaskSkipped>(&event)) {
    leave_lane(process, skipped->task);
    auto& local = m_processes[process].tasks.at(skipped->task);
    require(local.waits, [&] { return "a task is skipped although what it follows succeeded"; });
    local.waits = false;
    m_tasks.at(local.position).state = State::Submitted;
  } else if (auto const* const back = std::get_if<TaskReturned>(&event)) {
    returned(process, *back);
  } else if (auto const* const shipped = std::get_if<Shipped>(&event)) {
    auto const [ship, content] = m_processes[process].outgoing_values.at(shipped->task);
    m_processes[process].outgoing_values.erase(shipped->task);
    auto& from = spot(process, ship.data, ship.from);
    require(from.content == content, [&] { return name(process, ship.data) + " changed while it was sent"; });
    --from.readers;
  }
}

void ClusterOracle::on_act(std::uint32_t process, Act const& done) {
  std::visit([&](auto const& what) { act(process, what); }, done);
}

void ClusterOracle::added(std::uint32_t process, AddData const& event, DataId id) {
  auto const& text = event.description.name;  // "d3" or "d3 of process 2"
  auto const number = static_cast<std::size_t>(std::stoull(text.substr(1)));
  auto& datum = m_data.at(number);
  auto& data = m_processes[process].data;
  auto const known = data.find(id);
  require(known == data.end() || known->second.forgotten, [&] { return name(process, id) + " has its id taken away"; });
  LocalDatum local;
  local.datum = number;
  local.remote = event.description.home == m_topology.peers();
  require(local.remote == (process != datum.owner), [&] { return "'" + text + "' is registered by a wrong process"; });
  if (!local.remote) {
    datum.local = id;
    if (datum.description.origin.valid() && !datum.description.origin_is_home) local.origin.content = 0;
  }
  bool const alike =
      event.description.bytes == datum.description.bytes && event.description.bound == datum.description.bound;
  require(alike, [&] { return "'" + text + "' has a wrong size"; });
  data[id] = std::move(local);
}

void ClusterOracle::submitted(std::uint32_t process, TaskSubmission const& event, TaskId id) {
  auto& own = m_processes[process];
  auto const& codelet = own.codelets[event.codelet.index()];
  auto& task = m_tasks.at(event.position);
  LocalTask local;
  local.kind = !codelet.external                  ? Kind::Own
               : codelet.name == "incoming value" ? Kind::IncomingValue
                                                  : Kind::OutgoingValue;
  local.position = event.position;
  auto const what = [&] { return "task " + std::to_string(event.position); };
  if (local.kind == Kind::Own) {
    require(task.process == process && !task.local.valid(), [&] { return what() + " runs on a wrong process"; });
    require(event.accesses.size() == task.uses.size(), [&] { return what() + " has other accesses"; });
    task.local = id;
    for (std::size_t i = 0; i < task.uses.size(); ++i) {
      auto const& datum = own.data.at(event.accesses[i].data);
      local.accesses.push_back(event.accesses[i].data);
      require(datum.datum == task.uses[i].datum && event.accesses[i].mode == task.uses[i].mode, [&] {
        return what() + " has other accesses: 'd" + std::to_string(datum.datum) + "' instead of 'd" +
               std::to_string(task.uses[i].datum) + "', mode " +
               std::to_string(static_cast<int>(event.accesses[i].mode));
      });
      if (!datum.remote) continue;
      require(source_of(datum.position, datum.datum) == task.uses[i].source,
              [&] { return what() + " would read another value of " + name(process, event.accesses[i].data); });
    }
  } else {
    local.data = event.accesses[0].data;
    auto& datum = own.data.at(local.data);
    local.datum = datum.datum;
    bool const arrives = local.kind == Kind::IncomingValue;
    require(datum.remote == arrives && (task.process == process) == arrives,
            [&] { return "a stub for " + what() + " is on a wrong process"; });
    if (arrives) datum.position = event.position;
  }
  own.tasks[id] = local;
}

ClusterOracle::Spot& ClusterOracle::spot(std::uint32_t process, DataId data, Place const& place) {
  auto& own = m_processes[process];
  auto& local = own.data.at(data);
  auto const& description = m_data[local.datum].description;
  if (place.slot == Slot::Pool) {
    auto const found = own.pools[place.node].find(place.offset);
    require(found != own.pools[place.node].end() && found->second.data == data,
            [&] { return name(process, data) + " has no place at " + std::to_string(place.offset); });
    return found->second.spot;
  }
  if (local.remote) {
    require(place.slot == Slot::Home && place.node == m_topology.peers(),
            [&] { return name(process, data) + " is used in a wrong place"; });
    return local.home;
  }
  bool const origin = place.slot == Slot::Origin && !description.origin_is_home;
  require(place.node == (origin ? description.origin : description.home),
          [&] { return name(process, data) + " has no such place"; });
  return origin ? local.origin : m_data[local.datum].home;
}

ClusterOracle::Spot& ClusterOracle::result_spot(std::uint32_t process, DataId data, Spot& place) {
  auto const beside = m_processes[process].results.find(data);
  return beside != m_processes[process].results.end() ? spot(process, data, beside->second) : place;
}

Bytes ClusterOracle::moved_bytes(std::size_t datum, Content content) const {
  auto const& of = m_data[datum];
  return of.description.bound == 0 ? of.description.bytes : std::max<Bytes>(of.bytes.at(content.value()), 1);
}

void ClusterOracle::act(std::uint32_t process, Allocated const& allocated) {
  auto& local = m_processes[process].data.at(allocated.data);
  auto const& description = m_data[local.datum].description;
  auto const what = [&] { return "the place of " + name(process, allocated.data); };
  require(description.bound > 0 || allocated.bytes >= description.bytes, [&] { return what() + " is too small"; });
  require(local.pool.emplace(allocated.node, allocated.offset).second, [&] { return what() + " was there before"; });
  take(process, allocated.data, allocated.node, allocated.offset, allocated.bytes);
}

void ClusterOracle::take(std::uint32_t process, DataId data, NodeId node, Bytes offset, Bytes bytes) {
  auto& pool = m_processes[process].pools[node];
  auto const what = [&] { return "a place of " + name(process, data); };
  require(offset + bytes <= m_topology.machine()[node].capacity, [&] { return what() + " is beyond the capacity"; });
  auto const after = pool.lower_bound(offset);
  bool const free_after = after == pool.end() || after->first >= offset + bytes;
  bool const free_before = after == pool.begin() || std::prev(after)->first + std::prev(after)->second.bytes <= offset;
  require(free_after && free_before, [&] { return what() + " overlaps with another one"; });
  pool[offset] = {.data = data, .bytes = bytes, .spot = {}};
}

void ClusterOracle::act(std::uint32_t process, ResultPlaced const& placed) {
  take(process, placed.data, placed.node, placed.offset, placed.bytes);
  require(m_processes[process].results.emplace(placed.data, Place{placed.node, Slot::Pool, placed.offset}).second,
          [&] { return "two tasks at once make a value of " + name(process, placed.data); });
}

void ClusterOracle::act(std::uint32_t process, ResultDropped const& dropped) {
  require(!spot(process, dropped.data, {dropped.node, Slot::Pool, dropped.offset}).written,
          [&] { return "a result of " + name(process, dropped.data) + " is dropped while it is made"; });
  m_processes[process].results.erase(dropped.data);
  m_processes[process].pools[dropped.node].erase(dropped.offset);
}

void ClusterOracle::act(std::uint32_t process, Settled const& settled) {
  auto& own = m_processes[process];
  auto& offset = own.data.at(settled.data).pool.at(settled.node);
  if (own.results.erase(settled.data) > 0) {
    own.pools[settled.node].erase(offset);
    offset = settled.offset;
  }
  auto& region = own.pools[settled.node].at(offset);
  require(offset == settled.offset && settled.bytes <= region.bytes,
          [&] { return name(process, settled.data) + " settles in a wrong place"; });
  region.bytes = settled.bytes;
}

void ClusterOracle::sized(std::uint32_t process, Sized const& event) {
  auto& local = m_processes[process].tasks.at(event.task);
  if (local.kind == Kind::Own) {
    local.made[event.data] = event.bytes;
    return;
  }
  auto const made = value(source_of(local.position, local.datum));
  require(made && m_data[local.datum].bytes.at(*made) == event.bytes,
          [&] { return name(process, event.data) + " is announced with a wrong size"; });
}

void ClusterOracle::act(std::uint32_t process, Freed const& freed) {
  auto const& place = spot(process, freed.data, {freed.node, Slot::Pool, freed.offset});
  require(place.readers == 0 && !place.written, [&] { return name(process, freed.data) + " is freed while in use"; });
  m_processes[process].data.at(freed.data).pool.erase(freed.node);
  m_processes[process].pools[freed.node].erase(freed.offset);
}

void ClusterOracle::act(std::uint32_t process, CopyCommand const& copy) {
  auto const what = [&] { return "a copy of " + name(process, copy.data); };
  require(copy.to.node != m_topology.peers(), [&] { return what() + " goes to other processes unasked"; });
  auto& from = spot(process, copy.data, copy.from);
  require(from.content.has_value() && !from.written, [&] { return what() + " reads nothing valid"; });
  ++from.readers;
  auto& to = spot(process, copy.data, copy.to);
  require(to.readers == 0 && !to.written, [&] { return what() + " overwrites what is in use"; });
  require(copy.bytes == moved_bytes(m_processes[process].data.at(copy.data).datum, from.content),
          [&] { return what() + " has a wrong size"; });
  to.written = true;
  to.content.reset();
  m_processes[process].copies[copy.transfer] = {copy, from.content};
  ++m_counts.copies;
}

void ClusterOracle::end_copy(std::uint32_t process, TransferId transfer, bool success) {
  auto& own = m_processes[process];
  auto const [copy, content] = own.copies.at(transfer);
  own.copies.erase(transfer);
  auto& from = spot(process, copy.data, copy.from);
  require(from.content == content, [&] { return name(process, copy.data) + " changed while a copy read it"; });
  --from.readers;
  auto& to = spot(process, copy.data, copy.to);
  to.written = false;
  auto const& local = own.data.at(copy.data);
  if (!success) {
    own.copy_failed = true;
    own.copies_failed[local.datum] = true;
    return;
  }
  to.content = content;
  if (copy.from.node != m_topology.peers()) return;
  auto& under_way = own.under_way[{local.datum, local.position}];
  require(!under_way.empty(), [&] { return name(process, copy.data) + " arrives although it was not sent"; });
  require(under_way.front() == content, [&] {
    return name(process, copy.data) + " arrives with " + text(under_way.front()) + " instead of " + text(content);
  });
  under_way.pop_front();
}

void ClusterOracle::act(std::uint32_t process, RunCommand const& run) {
  auto& own = m_processes[process];
  auto& local = own.tasks.at(run.task);
  auto& task = m_tasks.at(local.position);
  auto const what = [&] { return "task " + std::to_string(local.position); };
  require(local.kind == Kind::Own && task.state == State::Submitted, [&] { return what() + " runs again"; });
  auto& lane = own.lanes[run.worker.index()];
  local.worker = run.worker;
  local.waits = run.follows;
  local.places.assign(run.places.begin(), run.places.end());
  require(!run.follows || !lane.empty(), [&] { return what() + " follows nothing"; });
  lane.push_back(run.task);
  if (local.waits) {
    task.state = State::Running;
  } else {
    start(process, run.task);
  }
}

void ClusterOracle::start(std::uint32_t process, TaskId id) {
  auto& own = m_processes[process];
  auto& local = own.tasks.at(id);
  auto& task = m_tasks.at(local.position);
  auto const what = [&] { return "task " + std::to_string(local.position); };
  local.waits = false;
  local.begun = true;
  task.state = State::Running;
  for (std::size_t i = 0; i < task.uses.size(); ++i) {
    auto const& use = task.uses[i];
    DataId const data = local.accesses[i];
    auto& place = spot(process, data, local.places.at(i));
    auto& made = writes(use.mode) ? result_spot(process, data, place) : place;
    require(!place.written, [&] { return what() + " uses " + name(process, data) + " while it is written"; });
    if (commutes(use.mode)) {
      auto const& run = *use.source.run;
      for (auto const other : run.members) {
        require(other == local.position || m_tasks.at(other).state != State::Running ||
                    own.tasks.at(m_tasks.at(other).local).waits,
                [&] { return what() + " runs while task " + std::to_string(other) + " has its turn"; });
      }
      Content const expected = run.ended ? run.last : value(run.before);
      require(place.content && place.content == expected, [&] {
        return what() + " changes " + text(place.content) + " of " + name(process, data) + " instead of " +
               text(expected);
      });
      ++m_counts.turns;
    } else if (reads(use.mode)) {
      Content const expected = value(use.source);
      require(place.content && place.content == expected, [&] {
        return what() + " reads " + text(place.content) + " of " + name(process, data) + " instead of " +
               text(expected);
      });
    }
    require(!writes(use.mode) || place.readers == 0,
            [&] { return what() + " writes " + name(process, data) + " while it is read"; });
    if (writes(use.mode)) made.written = true;
    if (!writes(use.mode) || &made != &place) ++place.readers;
  }
}

void ClusterOracle::leave_lane(std::uint32_t process, TaskId id) {
  auto& own = m_processes[process];
  auto& lane = own.lanes[own.tasks.at(id).worker.index()];
  require(!lane.empty() && lane.front() == id, [] { return std::string("a task ends out of order"); });
  lane.erase(lane.begin());
}

void ClusterOracle::returned(std::uint32_t process, TaskReturned const& event) {
  auto& own = m_processes[process];
  auto& local = own.tasks.at(event.task);
  require(local.kind == Kind::Own, [] { return std::string("a stub is returned"); });
  auto& task = m_tasks.at(local.position);
  task.state = State::Submitted;
  if (std::exchange(local.waits, false)) {
    own.lanes[local.worker.index()].pop_back();
    return;
  }
  leave_lane(process, event.task);
  local.begun = false;
  NodeId const node = m_topology.machine()[local.worker].node;
  for (std::size_t i = 0; i < task.uses.size(); ++i) {
    auto const& datum = own.data.at(local.accesses[i]);
    auto const pool = datum.pool.find(node);
    // A place that was freed meanwhile was not in use.
    if (pool == datum.pool.end() && m_data[datum.datum].description.home != node) continue;
    auto& place = pool != datum.pool.end() ? own.pools[node].at(pool->second).spot : m_data[datum.datum].home;
    auto& made = writes(task.uses[i].mode) ? result_spot(process, local.accesses[i], place) : place;
    if (!writes(task.uses[i].mode) || &made != &place) {
      --place.readers;
      if (writes(task.uses[i].mode)) made.written = false;
      continue;
    }
    place.written = false;
    if (event.changed) place.content.reset();
  }
}

void ClusterOracle::ended(std::uint32_t process, TaskId id, bool success) {
  auto& own = m_processes[process];
  auto& local = own.tasks.at(id);
  local.over = success;
  if (local.kind == Kind::IncomingValue) return end_incoming_value(process, local, success);
  if (local.kind == Kind::OutgoingValue) {
    require(!own.outgoing_values.contains(id),
            [&] { return "an outgoing value ends while it sends " + name(process, local.data); });
    return;
  }
  leave_lane(process, id);
  end_own(process, local, success);
  auto const& lane = own.lanes[local.worker.index()];
  if (success && !lane.empty() && own.tasks.at(lane.front()).waits) start(process, lane.front());
}

void ClusterOracle::end_own(std::uint32_t process, LocalTask& local, bool success) {
  auto& own = m_processes[process];
  auto& task = m_tasks.at(local.position);
  require(task.state == State::Running && local.begun,
          [&] { return "task " + std::to_string(local.position) + " ends, and has not begun"; });
  NodeId const node = m_topology.machine()[local.worker].node;
  for (std::size_t i = 0; i < task.uses.size(); ++i) {
    auto const& use = task.uses[i];
    auto& datum = m_data[use.datum];
    DataId const data = local.accesses[i];
    auto const& places = own.data.at(data).pool;
    auto const pool = places.find(node);
    auto& place = pool != places.end() ? own.pools[node].at(pool->second).spot : datum.home;
    auto& made = writes(use.mode) ? result_spot(process, data, place) : place;
    if (&made != &place) --place.readers;
    if (success && datum.description.bound > 0 && writes(use.mode))
      datum.bytes[local.position + 1] = local.made.at(data);
    if (!writes(use.mode)) {
      Content const expected = value(use.source);
      require(place.content == expected, [&] { return name(process, data) + " changed while a task read it"; });
      --place.readers;
      continue;
    }
    made.written = false;
    made.content = success ? Content(local.position + 1) : Content{};
    datum.actual = made.content;
    if (!commutes(use.mode)) continue;
    use.source.run->last = made.content;
    use.source.run->ended = true;
  }
  task.state = success ? State::Succeeded : State::Failed;
  m_counts.tasks_run += success ? 1 : 0;
}

void ClusterOracle::end_incoming_value(std::uint32_t process, LocalTask& local, bool success) {
  auto& home = m_processes[process].data.at(local.data).home;
  require(home.written, [] { return std::string("an incoming value ends that has not begun"); });
  home.written = false;
  home.content.reset();
  if (!success) return;
  auto const& source = source_of(local.position, local.datum);
  home.content = value(source);
  require(home.content.has_value(),
          [&] { return name(process, local.data) + " arrives before it was made, or although it was not"; });
  ++m_counts.incoming_values;
}

void ClusterOracle::act(std::uint32_t process, BeginCommand const& begun) {
  auto& local = m_processes[process].tasks.at(begun.task);
  require(local.kind != Kind::Own && !local.begun, [] { return std::string("a task begins that is no stub"); });
  local.begun = true;
  if (local.kind == Kind::IncomingValue) {
    auto& home = m_processes[process].data.at(local.data).home;
    require(home.readers == 0 && !home.written, [] { return std::string("an incoming value writes what is in use"); });
    home.written = true;
  } else {
    require(value(source_of(local.position, local.datum)).has_value(),
            [&] { return name(process, local.data) + " is announced before it was made, or although it was not"; });
  }
}

void ClusterOracle::act(std::uint32_t process, ShipCommand const& ship) {
  auto& own = m_processes[process];
  auto& local = own.tasks.at(ship.task);
  auto const what = [&] { return name(process, ship.data) + " is sent"; };
  require(local.kind == Kind::OutgoingValue && local.begun && !local.over && local.data == ship.data,
          [&] { return what() + " by a wrong task"; });
  auto& from = spot(process, ship.data, ship.from);
  Content const expected = value(source_of(local.position, local.datum));
  require(!from.written && from.content && from.content == expected,
          [&] { return what() + " with " + text(from.content) + " instead of " + text(expected); });
  require(ship.bytes == moved_bytes(local.datum, from.content), [&] { return what() + " with a wrong size"; });
  ++from.readers;
  require(own.outgoing_values.emplace(ship.task, OpenOutgoingValue{ship, from.content}).second,
          [&] { return what() + " twice at once"; });
  m_processes[m_tasks.at(local.position).process].under_way[{local.datum, local.position}].push_back(from.content);
  ++m_counts.sent;
}

void ClusterOracle::act(std::uint32_t process, RetireCommand const& retired) {
  auto& local = m_processes[process].tasks.at(retired.task);
  if (local.kind != Kind::Own) return;
  auto& task = m_tasks.at(local.position);
  require(task.state != State::Running, [] { return std::string("a task is retired while it runs"); });
  if (task.state != State::Submitted) return;
  task.state = State::Cancelled;
  ++m_counts.tasks_cancelled;
}

void ClusterOracle::act(std::uint32_t process, ForgetCommand const& forgotten) {
  auto& own = m_processes[process];
  auto& local = own.data.at(forgotten.data);
  auto const what = [&] { return name(process, forgotten.data) + " is forgotten "; };
  require(!local.forgotten && local.pool.empty(), [&] { return what() + "twice, or while it has a place"; });
  require(local.remote || m_data[local.datum].released, [&] { return what() + "before its release"; });
  for (auto const& [transfer, copy] : own.copies) {
    require(copy.command.data != forgotten.data, [&] { return what() + "while it is copied"; });
  }
  for (auto const& [task, ship] : own.outgoing_values) {
    require(ship.command.data != forgotten.data, [&] { return what() + "while it is sent"; });
  }
  local.forgotten = true;
}

void ClusterOracle::at_rest(std::vector<std::vector<Failure>> const& failures) {
  for (std::uint32_t p = 0; p < m_processes.size(); ++p) {
    for (auto const& failure : failures[p]) {
      if (failure.task.valid()) continue;
      m_processes[p].write_back_failed = true;
    }
  }
  judge_tasks(failures);
  judge_homes(failures);
  judge_rest();
}

void ClusterOracle::judge_tasks(std::vector<std::vector<Failure>> const& failures) {
  for (auto& [position, task] : m_tasks) {
    if (std::exchange(task.judged, true)) continue;
    auto const what = [&, p = position] { return "task " + std::to_string(p); };
    auto const& own = m_processes[task.process];
    auto const reports = std::ranges::count(failures[task.process], task.local, &Failure::task);
    require(over(position), [&] { return what() + " never ran"; });
    bool by_source = false;
    bool by_other = own.write_back_failed;
    for (auto const& use : task.uses) {
      if (!reads(use.mode)) continue;
      auto const& owner = m_processes[m_data[use.datum].owner];
      by_source = by_source || !succeeded(commutes(use.mode) ? use.source.run->before : use.source);
      by_other = by_other || (commutes(use.mode) && !succeeded(use.source)) || owner.write_back_failed ||
                 owner.copies_failed.contains(use.datum);
    }
    if (task.state == State::Succeeded) {
      require(!by_source, [&] { return what() + " ran on the result of a task that did not"; });
      require(reports == 0, [&] { return what() + " ran and is reported as failed"; });
    } else if (task.state == State::Failed) {
      require(reports == 1, [&] { return what() + " failed and is not reported once"; });
    } else {
      require(by_source || by_other || reports > 0, [&] { return what() + " was cancelled for no reason"; });
      require(reports <= 1 && (reports == 0 || own.copy_failed || own.write_back_failed),
              [&] { return what() + " is reported as failed but never ran"; });
    }
  }
}

void ClusterOracle::judge_homes(std::vector<std::vector<Failure>> const& failures) {
  for (std::size_t d = 0; d < m_data.size(); ++d) {
    auto& datum = m_data[d];
    auto const& own = m_processes[datum.owner];
    auto const what = [&] { return "'d" + std::to_string(d) + "'"; };
    auto const& local = own.data.at(datum.local);
    bool const lives = local.datum == d && !local.forgotten;
    bool const reported = lives && std::ranges::count(failures[datum.owner], datum.local, &Failure::write_back_of) > 0;
    bool const excused = reported || own.copies_failed.contains(d);
    require(datum.released != lives || excused, [&] { return what() + " is released but not forgotten"; });
    bool const lost = lives && own.planner->inspect().poisoned(datum.local);
    // A task without a successful end may have taken the old value, too.
    bool const unwritten = !succeeded(datum.now);
    require(!lost || unwritten || !datum.actual, [&] { return what() + " is lost although a task left it a value"; });
    require(lost || !lives || datum.actual.has_value() == own.planner->defined(datum.local),
            [&] { return what() + (datum.actual ? " has no value" : " has a value that no task made"); });
    if (lost) datum.actual.reset();
    datum.now = {.content = datum.actual, .run = {}};
    datum.read = false;
    if (datum.released && excused) datum.lost_at_home = true;
    require(datum.home.readers == 0 && !datum.home.written, [&] { return "the home of " + what() + " is in use"; });
    if (excused || datum.lost_at_home || !datum.description.home.valid() || !datum.actual) continue;
    if (*datum.actual == 0 && !datum.description.origin_is_home) continue;
    require(datum.home.content == datum.actual, [&] {
      return "the home of " + what() + " has " + text(datum.home.content) + " instead of " + text(datum.actual);
    });
  }
}

void ClusterOracle::judge_rest() {
  for (std::uint32_t p = 0; p < m_processes.size(); ++p) {
    auto& own = m_processes[p];
    auto const what = [&] { return "process " + std::to_string(p) + " is at rest, but "; };
    require(own.planner->idle(), [&] { return what() + "its planner is not"; });
    require(own.copies.empty() && own.outgoing_values.empty(),
            [&] { return what() + "copies or outgoing values are not"; });
    for (auto const& [data, local] : own.data) {
      require(!local.remote || local.forgotten, [&] { return what() + name(p, data) + " is not forgotten"; });
    }
    for (auto const& [key, contents] : own.under_way) {
      require(contents.empty(), [&] { return what() + "a value that was sent has not arrived"; });
    }
    own.under_way.clear();
    own.copies_failed.clear();
    own.copy_failed = own.write_back_failed = false;
  }
}

}  // namespace granary::test
