// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/coherence_oracle.hpp"

#include <granary/detail/core/planner/inspection.hpp>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace granary::test {

using namespace detail;

void CoherenceOracle::require(bool condition, std::function<std::string()> const& message) const {
  if (!condition) throw std::logic_error("oracle: " + message());
}

void CoherenceOracle::on_event(Event const& happened, NewIds ids) {
  auto const* const taken = std::get_if<TakeFailures>(&happened);
  m_clearing = taken != nullptr && !taken->data.valid();
  if (auto const* const submitted = std::get_if<TaskSubmission>(&happened)) return submit(ids.task, *submitted);
  std::visit([&](auto const& what) { event(what); }, happened);
}

void CoherenceOracle::on_act(Act const& done) {
  std::visit([&](auto const& what) { act(what); }, done);
}

void CoherenceOracle::after_event() {
  for (auto const cell : m_touched) check_not_lost(cell);
  m_touched.clear();
}

void CoherenceOracle::add_data(DataId id, DataDescription description, std::span<FixedPlace const> places,
                               std::span<std::uint32_t const> cells) {
  if (id.index() >= m_data.size()) m_data.resize(id.index() + 1);
  auto& record = m_data[id.index()];
  require(record.description.bytes == 0 || record.forgotten, [&] { return name(id) + " has its id taken away"; });
  leave_cells(id);
  record = {};
  for (auto const number : cells) record.cells.push_back(cell_of(number));
  if (cells.empty()) {
    record.cells.push_back(m_cells.size());
    bool const given = description.origin.valid() || std::ranges::any_of(places, &FixedPlace::valid);
    auto& cell = m_cells.emplace_back();
    if (given) cell.first = cell.current = 0;
    if (description.origin_is_home) cell.home.content = 0;
  }
  auto const region = [&](bool valid) {
    Spot const spot{.content = valid ? Content(0) : Content{}};
    return Region{.data = id, .bytes = description.bytes, .spots = std::vector<Spot>(record.cells.size(), spot)};
  };
  record.origin = region(description.origin.valid() && !description.origin_is_home);
  for (auto const& place : places) record.places[place.node] = region(place.valid);
  record.description = std::move(description);
  record.bytes = record.description.bytes;
  record.made = record.description.bound;
  for_each_cell(id, [&](Cell& cell) { cell.data.push_back(id); });
}

std::size_t CoherenceOracle::cell_of(std::uint32_t number) {
  auto const [found, is_new] = m_family_cells.emplace(number, m_cells.size());
  if (is_new) {
    auto& cell = m_cells.emplace_back();
    cell.first = cell.current = cell.home.content = 0;
    cell.shared = true;
  }
  return found->second;
}

void CoherenceOracle::leave_cells(DataId data) {
  for_each_cell(data, [&](Cell& cell) { std::erase(cell.data, data); });
}

void CoherenceOracle::touch(DataId data) {
  auto const& cells = m_data[data.index()].cells;
  m_touched.insert(cells.begin(), cells.end());
}

bool CoherenceOracle::has_value(DataId data) const {
  return std::ranges::all_of(m_data[data.index()].cells,
                             [&](std::size_t cell) { return m_cells[cell].promised().has_value(); });
}

bool CoherenceOracle::shares_lost_bytes(DataId data) const {
  auto const& cells = m_data[data.index()].cells;
  for (auto const cell : cells) {
    for (DataId const other : m_cells[cell].data) {
      auto const& record = m_data[other.index()];
      if (other == data || record.forgotten || !m_planner->inspect().poisoned(other)) continue;
      auto const covered = [&](std::size_t its) { return std::ranges::find(cells, its) != cells.end(); };
      if (!std::ranges::all_of(record.cells, covered)) return true;
    }
  }
  return false;
}

void CoherenceOracle::event(RetainData const& retained) {
  auto& record = m_data[retained.data.index()];
  require(!record.forgotten, [&] { return name(retained.data) + " is retained after it was forgotten"; });
  ++record.registrations;
}

void CoherenceOracle::event(ReleaseData const& released) {
  --m_data[released.data.index()].registrations;
  touch(released.data);
}

// Of a place that is not the home.
CoherenceOracle::Region& CoherenceOracle::region(DataId data, Place const& place) {
  auto& record = m_data[data.index()];
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
  require(record.description.origin == place.node,
          [&] { return name(data) + " has no origin on " + name(place.node); });
  return record.origin;
}

CoherenceOracle::Spots CoherenceOracle::spots(DataId data, Place const& place) {
  Spots spots;
  auto const& record = m_data[data.index()];
  bool const further = place.slot != Slot::Pool && record.places.contains(place.node);
  bool const at_home = place.slot == Slot::Home || (place.slot == Slot::Origin && record.description.origin_is_home);
  if (at_home && !further) {
    require(record.description.home == place.node, [&] { return name(data) + " has no home on " + name(place.node); });
    for_each_cell(data, [&](Cell& cell) { spots.push_back(&cell.home); });
  } else {
    for (auto& spot : region(data, place).spots) spots.push_back(&spot);
  }
  return spots;
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
  auto& record = m_data[allocated.data.index()];
  require(!record.pool.contains(allocated.node),
          [&] { return "the place of " + name(allocated.data) + " on " + name(allocated.node) + " was there before"; });
  take(allocated.data, allocated.node, allocated.offset, allocated.bytes);
  record.pool[allocated.node] = allocated.offset;
}

void CoherenceOracle::act(KeptAside const& kept) {
  require(m_kept.emplace(kept.data, Place{kept.node, Slot::Pool, kept.offset}).second,
          [&] { return name(kept.data) + " is kept aside twice"; });
  take(kept.data, kept.node, kept.offset, kept.bytes);
}

void CoherenceOracle::act(NotKept const& given_back) {
  auto const found = m_kept.find(given_back.data);
  require(found != m_kept.end() && found->second == Place{given_back.node, Slot::Pool, given_back.offset},
          [&] { return name(given_back.data) + " was not kept aside there"; });
  m_kept.erase(found);
  m_pools[given_back.node].erase(given_back.offset);
}

void CoherenceOracle::act(ResultPlaced const& placed) {
  require(m_results.emplace(placed.data, Place{placed.node, Slot::Pool, placed.offset}).second,
          [&] { return "two tasks at once make a value of " + name(placed.data); });
  take(placed.data, placed.node, placed.offset, placed.bytes);
}

void CoherenceOracle::act(ResultDropped const& dropped) {
  auto const found = m_results.find(dropped.data);
  require(found != m_results.end() && found->second == Place{dropped.node, Slot::Pool, dropped.offset},
          [&] { return "a result of " + name(dropped.data) + " has no place there"; });
  for (auto const& spot : region(dropped.data, found->second).spots)
    require(!spot.written, [&] { return "a result of " + name(dropped.data) + " is dropped while it is made"; });
  m_results.erase(found);
  m_pools[dropped.node].erase(dropped.offset);
}

void CoherenceOracle::act(Settled const& settled) {
  auto& record = m_data[settled.data.index()];
  auto const what = [&] { return name(settled.data) + " on " + name(settled.node); };
  Bytes const before = record.pool.at(settled.node);
  if (auto const found = m_results.extract(settled.data)) {
    require(found.mapped() == Place{settled.node, Slot::Pool, settled.offset},
            [&] { return what() + " settles elsewhere than its result"; });
    for (auto const& spot : region(settled.data, {settled.node, Slot::Pool, before}).spots)
      require(spot.readers == 0 && !spot.written, [&] { return what() + " is freed while in use"; });
    m_pools[settled.node].erase(before);
    record.pool[settled.node] = settled.offset;
  } else {
    require(settled.offset == before, [&] { return what() + " settles where it has no place"; });
  }
  auto& place = m_pools[settled.node].at(settled.offset);
  Bytes const bytes = round_up(std::max<Bytes>(record.bytes, 1), m_topology.machine()[settled.node].alignment);
  require(settled.bytes == bytes && bytes <= place.bytes, [&] { return what() + " has a wrong size"; });
  place.bytes = bytes;
  touch(settled.data);
}

void CoherenceOracle::event(Sized const& sized) {
  auto& record = m_data[sized.data.index()];
  require(sized.bytes <= record.description.bound, [&] { return name(sized.data) + " grows beyond its bound"; });
  record.made = sized.bytes;
}

void CoherenceOracle::take(DataId data, NodeId on, Bytes offset, Bytes bytes) {
  auto const& node = m_topology.machine()[on];
  auto& pool = m_pools[on];
  auto const& record = m_data[data.index()];
  auto const what = [&] { return "the place of " + name(data) + " on " + name(on); };
  auto const rounded = [&](Bytes size) { return round_up(std::max<Bytes>(size, 1), node.alignment); };
  bool const result = m_results.contains(data) && m_results.at(data) == Place{on, Slot::Pool, offset};
  Bytes const most = record.description.bound > 0 ? record.description.bound : record.bytes;
  require((result || bytes >= rounded(record.bytes)) && bytes <= rounded(most),
          [&] { return what() + " has a wrong size"; });
  require(offset % node.alignment == 0, [&] { return what() + " is not aligned"; });
  require(offset + bytes <= node.capacity, [&] { return what() + " is beyond the capacity"; });
  require(!record.forgotten, [&] { return what() + " comes after the datum was forgotten"; });
  auto const after = pool.lower_bound(offset);
  require(after == pool.end() || after->first >= offset + bytes,
          [&] { return what() + " overlaps with that of " + name(after->second.data); });
  if (after != pool.begin()) {
    auto const before = std::prev(after);
    require(before->first + before->second.bytes <= offset,
            [&] { return what() + " overlaps with that of " + name(before->second.data); });
  }
  pool[offset] = Region{.data = data, .bytes = bytes, .spots = std::vector<Spot>(record.cells.size())};
}

void CoherenceOracle::act(Freed const& freed) {
  for (auto const& spot : region(freed.data, {freed.node, Slot::Pool, freed.offset}).spots) {
    require(spot.readers == 0 && !spot.written,
            [&] { return name(freed.data) + " is freed on " + name(freed.node) + " while in use"; });
  }
  m_data[freed.data.index()].pool.erase(freed.node);
  m_pools[freed.node].erase(freed.offset);
  touch(freed.data);
}

void CoherenceOracle::act(CopyCommand const& copy) {
  auto const& link = m_topology.machine()[copy.link];
  auto const& record = m_data[copy.data.index()];
  auto const what = [&] { return "copy " + std::to_string(copy.transfer.value()) + " of " + name(copy.data); };
  require(link.from == copy.from.node && link.to == copy.to.node, [&] { return what() + " is on a wrong link"; });
  require(copy.bytes == std::max<Bytes>(record.bytes, 1), [&] { return what() + " has a wrong size"; });
  require(++m_in_flight[copy.link] <= link.width, [&] { return what() + " is one too many on its link"; });
  require(copy.to.slot != Slot::Origin, [&] { return what() + " writes an origin"; });
  require(copy.to.slot != Slot::Home || !m_planner || !m_planner->inspect().poisoned(copy.data),
          [&] { return what() + " writes a poisoned value home"; });
  OpenCopy open{copy, {}};
  for (auto* const from : spots(copy.data, copy.from)) {
    require(from->content.has_value() && !from->written, [&] { return what() + " reads nothing valid"; });
    open.contents.push_back(from->content);
    ++from->readers;
  }
  check_version(copy.data, open.contents.front(), copy.version);
  for (auto* const to : spots(copy.data, copy.to)) {
    require(to->readers == 0 && !to->written, [&] { return what() + " overwrites what is in use"; });
    to->written = true;
    to->content.reset();
  }
  require(m_open_copies.emplace(copy.transfer, std::move(open)).second, [&] { return what() + " was ordered before"; });
  touch(copy.data);
  ++m_copies;
}

void CoherenceOracle::end_copy(TransferId transfer, bool success) {
  auto const [copy, contents] = m_open_copies.at(transfer);
  m_open_copies.erase(transfer);
  --m_in_flight[copy.link];
  auto const from = spots(copy.data, copy.from);
  auto const to = spots(copy.data, copy.to);
  for (std::size_t i = 0; i < contents.size(); ++i) {
    require(from[i]->content == contents[i], [&] { return name(copy.data) + " changed while a copy read it"; });
    --from[i]->readers;
    to[i]->written = false;
    if (success) to[i]->content = contents[i];
  }
  if (!success) m_data[copy.data.index()].copy_failed = true;
  touch(copy.data);
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
  touch(forgotten.data);
  for (auto const index : record.cells) {
    auto& cell = m_cells[index];
    auto const lost = [&](DataId data) {
      return !m_data[data.index()].forgotten && m_planner && m_planner->inspect().poisoned(data);
    };
    if (!cell.shared) continue;
    // Who registers the bytes after all that shared them are gone begins anew.
    bool const last = std::ranges::all_of(cell.data, [&](DataId data) { return m_data[data.index()].forgotten; });
    if (last && cell.home.content == cell.current) take_as_it_is(cell);
    if (std::ranges::any_of(cell.data, lost)) continue;
    // Another datum may have read it since, and then takes it home.
    bool const its_value_is_lost = cell.written_as == forgotten.data && record.home_lost && !holds(index, cell.current);
    if (!cell.current || its_value_is_lost) take_as_it_is(cell);
  }
}

}  // namespace granary::test
