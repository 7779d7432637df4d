// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What becomes of values: the application changes them, they have versions, none is lost, homes end with the last ones.
#include "support/coherence_oracle.hpp"

#include <granary/detail/core/planner/inspection.hpp>

#include <algorithm>
#include <utility>

namespace granary::test {

using namespace detail;

// The application writes something else to all homes in memory that hold the value.
void CoherenceOracle::event(HomesMayChange const& may) {
  for (std::size_t d = 0; d < m_data.size(); ++d) {
    DataId const id(static_cast<std::uint32_t>(d));
    auto const& record = m_data[d];
    if ((may.data.valid() && may.data != id) || record.description.bytes == 0 || record.forgotten) continue;
    NodeId const home = record.description.home;
    bool const in_memory = home.valid() && m_topology.machine()[home].kind != NodeKind::Disk;
    bool const mirrored = std::ranges::any_of(
        record.places, [&](auto const& place) { return !m_topology.groups_on(place.first).empty(); });
    bool const holds_it = std::ranges::all_of(record.cells, [&](std::size_t cell) {
      return m_cells[cell].current && m_cells[cell].home.content == m_cells[cell].current;
    });
    if (!in_memory || mirrored || !holds_it || (m_planner && m_planner->inspect().poisoned(id))) continue;
    change_outside(id, spots(id, {home, Slot::Home, 0}));
  }
}

void CoherenceOracle::event(PlaceChanged const& changed) {
  bool const further = m_data[changed.data.index()].places.contains(changed.node);
  change_outside(changed.data, spots(changed.data, {changed.node, further ? Slot::Mirror : Slot::Home, 0}));
}

// A value that a cancelled task would have replaced is an old one.
void CoherenceOracle::event(TakeFailures const& taken) {
  for (std::size_t d = 0; d < m_data.size(); ++d) {
    DataId const id(static_cast<std::uint32_t>(d));
    auto& record = m_data[d];
    if (record.description.bytes == 0 || record.released() || !record.unwritten) continue;
    bool const lost = m_planner && m_planner->inspect().poisoned(id);
    if (taken.data.valid() && (taken.data != id || !lost)) continue;
    record.unwritten = false;
    if (record.keeps_old) continue;
    require(!m_planner || lost, [&] { return name(id) + " keeps an old value after the failure was reported"; });
    for_each_cell(id, [&](Cell& cell) {
      cell.current.reset();
      cell.written_as = id;
    });
    touch(id);
  }
}

void CoherenceOracle::change_outside(DataId data, Spots const& place) {
  auto& record = m_data[data.index()];
  for (std::size_t c = 0; c < place.size(); ++c) {
    auto& cell = m_cells[record.cells[c]];
    require(std::ranges::all_of(cell.data, [&](DataId other) { return m_data[other.index()].pending.empty(); }),
            [&] { return name(data) + " is changed outside while tasks use it"; });
    cell.first = cell.current = place[c]->content = made_outside + ++m_changes_outside;
    cell.written_as = data;
    cell.writers.clear();
    cell.last_writers.clear();
    cell.run.reset();
    cell.readers.clear();
  }
  record.contents.clear();
  record.versions.clear();
}

// A value has one version, and a version is that of one value. Those of data that share bytes are not compared: what
// one of them writes is a new value of all.
void CoherenceOracle::check_version(DataId data, Content content, std::uint32_t version) {
  auto& record = m_data[data.index()];
  if (m_cells[record.cells.front()].shared) return;
  auto const known = record.versions.try_emplace(*content, version).first->second;
  require(known == version, [&] {
    return "the value " + std::to_string(*content) + " of " + name(data) + " has versions " + std::to_string(known) +
           " and " + std::to_string(version);
  });
  auto const other = record.contents.try_emplace(version, *content).first->second;
  require(other == *content, [&] {
    return "version " + std::to_string(version) + " of " + name(data) + " is that of the values " +
           std::to_string(other) + " and " + std::to_string(*content);
  });
}

// The datum that lost its value is gone: what its home holds counts as a value for the others.
void CoherenceOracle::take_as_it_is(Cell& cell) {
  constexpr std::uint64_t first_unknown = std::uint64_t{1} << 60;
  if (!cell.home.content) cell.home.content = first_unknown + m_unknown++;
  cell.first = cell.current = cell.home.content;
  std::erase_if(cell.writers, [&](TaskId task) { return m_tasks[task.index()].retired; });
  if (!cell.writers.empty()) return;
  cell.last_writers.clear();
  cell.run.reset();
}

bool CoherenceOracle::holds(std::size_t index, Content value) const {
  auto const& cell = m_cells[index];
  if (cell.home.content == value) return true;
  for (DataId const data : cell.data) {
    auto const& record = m_data[data.index()];
    auto const at = static_cast<std::size_t>(std::ranges::find(record.cells, index) - record.cells.begin());
    if (record.origin.spots[at].content == value) return true;
    for (auto const& [node, place] : record.places) {
      if (place.spots[at].content == value) return true;
    }
    for (auto const& [node, offset] : record.pool) {
      if (m_pools.at(node).at(offset).spots[at].content == value) return true;
    }
  }
  return false;
}

bool CoherenceOracle::wanted(std::size_t index) const {
  auto const& cell = m_cells[index];
  if (!cell.current) return false;
  bool needed = false;
  for (DataId const data : cell.data) {
    auto const& record = m_data[data.index()];
    if (m_planner && !record.forgotten && m_planner->inspect().poisoned(data)) return false;
    auto const at = static_cast<std::size_t>(std::ranges::find(record.cells, index) - record.cells.begin());
    bool read = false;
    // A task that writes without reading destroys the value as soon as a worker has it.
    for (TaskId const id : record.pending) {
      auto const& task = m_tasks[id.index()];
      for (std::size_t i = 0; i < task.accesses.size(); ++i) {
        auto const& access = task.accesses[i];
        if (access.data != data) continue;
        read = read || (reads(access.mode) && !access.repeated && may_read(task, i, at, cell.current));
        if (access.repeated || !writes(access.mode)) continue;
        if (task.state == State::Running || (task.returned && !reads(access.mode))) return false;
      }
    }
    if (!record.released()) {
      needed = true;
    } else if (record.copy_failed || record.home_lost) {
      return false;
    } else {
      needed = needed || read || (record.description.home.valid() && *cell.current != 0);
    }
  }
  return needed;
}

void CoherenceOracle::check_not_lost(std::size_t cell) const {
  if (!wanted(cell) || holds(cell, m_cells[cell].current)) return;
  // A copy in flight into the home destroys the old value; its source, or another place, still holds the value.
  require(false, [&] {
    return "version " + std::to_string(*m_cells[cell].current) + " of " + name(m_cells[cell].data.front()) + " is lost";
  });
}

std::map<DataId, std::optional<std::uint64_t>> CoherenceOracle::homes() const {
  std::map<DataId, std::optional<std::uint64_t>> homes;
  for (std::size_t d = 0; d < m_data.size(); ++d) {
    auto const& record = m_data[d];
    bool const lives = record.description.bytes > 0 && !record.forgotten && record.description.home.valid();
    if (lives && record.cells.size() == 1)
      homes[DataId(static_cast<std::uint32_t>(d))] = m_cells[record.cells.front()].home.content;
  }
  return homes;
}

void CoherenceOracle::at_rest(std::vector<Failure> const& failures) {
  for (std::size_t t = 0; t < m_tasks.size(); ++t) {
    auto& task = m_tasks[t];
    if (task.state == State::Absent) continue;
    require(task.retired, [&] { return "task " + std::to_string(t) + " never left"; });
    bool const judged = std::exchange(task.judged, true);
    require(judged || !failures.empty() || task.state == State::Succeeded,
            [&] { return "task " + std::to_string(t) + " did not run"; });
  }
  m_relatives.clear();
  require(m_open_copies.empty(), [] { return std::string("a copy is in flight at rest"); });
  for (std::size_t d = 0; d < m_data.size(); ++d) {
    auto& record = m_data[d];
    DataId const id(static_cast<std::uint32_t>(d));
    // A value that could not be written home is reported, and written again in the next run.
    bool const reported = std::ranges::find(failures, id, &Failure::write_back_of) != failures.end();
    record.excused = std::exchange(record.copy_failed, false) || reported;
    require(record.forgotten == record.released() || record.excused,
            [&] { return name(id) + " is released but not forgotten"; });
    check_poisoned(id, record);
    record.excused = record.excused || !record.description.home.valid() || (record.forgotten && record.home_lost);
  }
  for (auto& cell : m_cells) {
    // A lost value counts as never written: a task that only writes it defines it again.
    if (!cell.current) cell.first.reset();
    if (!cell.current) cell.writers.clear();
    cell.run.reset();
    cell.last_writers.clear();
    if (!cell.writers.empty()) cell.last_writers.push_back(cell.writers.back());
    bool const excused =
        std::ranges::any_of(cell.data, [&](DataId data) { return m_data[data.index()].excused; }) || cell.data.empty();
    if (excused || !cell.current || *cell.current == 0) continue;
    require(cell.home.content == cell.current,
            [&] { return "the home of " + name(cell.data.front()) + " is out of date at rest"; });
  }
}

void CoherenceOracle::check_poisoned(DataId id, DataRecord& record) {
  if (record.forgotten || m_planner == nullptr || !m_planner->inspect().poisoned(id)) return;
  bool has_value = true;
  for_each_cell(id, [&](Cell& cell) {
    if (record.excused) cell.current.reset();  // lost with its device
    // A datum that covers it may have defined it again.
    has_value = has_value && cell.current && (!cell.shared || cell.written_as == id);
  });
  require(!has_value, [&] { return name(id) + " is poisoned although a task left it a value"; });
}

}  // namespace granary::test
