// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/darts/darts_index.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace granary::detail {
namespace {

GroupId id_of(std::size_t group) { return GroupId(static_cast<std::uint32_t>(group)); }

// With at most this many readers, a datum's highest priority is found by linear search.
constexpr std::size_t few_users = 8;

__extension__ using Wide = __int128;

// Compares transfer / computation exactly; with nothing to compute the ratio is infinite.
int compare_ratios(std::int64_t transfer_a, std::int64_t computation_a, std::int64_t transfer_b,
                   std::int64_t computation_b) {
  if (computation_a == 0 || computation_b == 0) return (computation_a == 0 ? 1 : 0) - (computation_b == 0 ? 1 : 0);
  Wide const a = static_cast<Wide>(transfer_a) * computation_b;
  Wide const b = static_cast<Wide>(transfer_b) * computation_a;
  return a < b ? -1 : (b < a ? 1 : 0);
}

}  // namespace

bool DartsIndex::Better::operator()(Key const& a, Key const& b) const {
  int const ratio = compare_ratios(a.transfer_ns, a.computation_ns, b.transfer_ns, b.computation_ns);
  if (ratio != 0) return ratio < 0;
  if (a.s0 != b.s0) return a.s0 > b.s0;
  if (a.max_priority != b.max_priority) return a.max_priority > b.max_priority;
  if (a.s1 != b.s1) return a.s1 > b.s1;
  if (a.task_left_ns != b.task_left_ns) return a.task_left_ns > b.task_left_ns;
  return a.data < b.data;
}

void DartsIndex::attach(SystemView const& view, PlanBoard const& board) {
  m_view = &view;
  m_board = &board;
  m_groups = view.topology().groups().size();
  m_changed.resize(m_groups);
  m_candidates.resize(m_groups);
}

bool DartsIndex::loaded(DataId data, GroupId group) const {
  NodeId const node = m_view->topology().group(group).node;
  return m_view->expected(data, node) || m_board->uses(data, group) > 0 || m_view->committed_uses(data, node) > 0;
}

bool DartsIndex::considered(TaskId task, std::size_t group, std::uint32_t missing) const {
  auto const slot = m_ready.slot(task);
  return slot != TaskSlots::none && m_ready[slot].groups.contains(id_of(group)) && lane(slot, group).missing == missing;
}

bool DartsIndex::is_free(TaskId task, GroupId group) const { return considered(task, group.index(), 0); }

DartsIndex::HeapOfGroups& DartsIndex::heap_of(GroupSet groups) {
  for (auto& entry : m_heaps) {
    if (entry.groups == groups) return entry;
  }
  m_heaps.push_back({groups, 0, {}});
  return m_heaps.back();
}

void DartsIndex::link_inputs(std::uint32_t slot, AccessList const& accesses) {
  auto& ready = m_ready[slot];
  auto const is_input = [](Access const& access) { return !access.repeated && reads(access.mode); };
  auto const count = static_cast<std::uint32_t>(std::ranges::count_if(accesses, is_input));
  ready.many = count > ready.few.size() ? std::make_unique<Input[]>(count) : nullptr;
  ready.input_count = count;
  std::uint32_t i = 0;
  for (auto const& access : accesses) {
    if (!is_input(access)) continue;
    auto const data = access.data.value();
    take_place(data);
    auto& users = users_of(data);
    if (users.empty()) {
      for (std::size_t g = 0; g < m_groups; ++g) {
        datum(data, g).loaded = loaded(access.data, GroupId(static_cast<std::uint32_t>(g)));
        datum(data, g).transfer_changed = true;
      }
    } else {
      for (std::size_t g = 0; g < m_groups; ++g) refresh(access.data, GroupId(static_cast<std::uint32_t>(g)));
    }
    ready.inputs()[i] = {data, static_cast<std::uint32_t>(users.size())};
    users.push_back({slot, i++});
  }
}

void DartsIndex::add(TaskId id, GroupSet groups) {
  auto const& task = m_view->task(id);
  auto const slot = m_ready.insert(id, {.id = id, .priority = task.priority});
  if (m_lanes.size() < (slot + 1) * m_groups) m_lanes.resize((slot + 1) * m_groups);
  auto& ready = m_ready[slot];  // not counted while its inputs are being linked, since it is for no group yet
  link_inputs(slot, task.accesses);
  ready.groups = groups;
  auto& entry = heap_of(ready.groups);
  ++entry.tasks;
  entry.heap.push({ready.priority, id}, entry.tasks, [&](TaskId other) { return contains(other); });
  for (GroupId const group : ready.groups) {
    auto const g = group.index();
    auto& mine = lane(slot, g);
    mine.duration_ns = m_view->kernel_time(id, group).count();
    mine.missing = 0;
    for (auto const& input : ready.inputs()) {
      auto& data = datum(input.data, g);
      data.task_left_ns += mine.duration_ns;
      if (!data.loaded) {
        ++mine.missing;
        mark_changed(input.data, g);
      }
    }
    count<true>(slot, g);
  }
}

void DartsIndex::remove(TaskId id) {
  auto const slot = m_ready.slot(id);
  auto& ready = m_ready[slot];
  for (GroupId const group : ready.groups) {
    auto const g = group.index();
    count<false>(slot, g);
    auto const duration_ns = lane(slot, g).duration_ns;
    for (auto const& input : ready.inputs()) {
      auto& data = datum(input.data, g);
      data.task_left_ns -= duration_ns;
      if (!data.loaded) mark_changed(input.data, g);
    }
  }
  for (auto const& input : ready.inputs()) unlink_input(input);
  --heap_of(ready.groups).tasks;
  m_ready.take(id);
}

void DartsIndex::unlink_input(Input const& input) {
  auto& users = users_of(input.data);
  auto const place = input.place;
  users[place] = users.back();
  users.pop_back();
  if (place < users.size()) m_ready[users[place].slot].inputs()[users[place].input].place = place;
  if (!users.empty()) return;
  std::vector<User>().swap(users);
  for (std::size_t g = 0; g < m_groups; ++g) datum(input.data, g).tops.reset();
  give_back_place(input.data);
}

void DartsIndex::take_place(std::uint32_t data) {
  if (data >= m_places.size()) m_places.resize(data + 1, no_place);
  auto& place = m_places[data];
  if (place != no_place) return;
  if (m_free_places.empty()) {
    place = static_cast<std::uint32_t>(m_users.size());
    m_users.emplace_back();
    m_data.resize(m_data.size() + m_groups);
  } else {
    place = m_free_places.back();
    m_free_places.pop_back();
  }
}

// Unless the datum has users, or its key is out of date.
void DartsIndex::give_back_place(std::uint32_t data) {
  if (!users_of(data).empty()) return;
  for (std::size_t g = 0; g < m_groups; ++g) {
    if (datum(data, g).changed) return;
  }
  for (std::size_t g = 0; g < m_groups; ++g) datum(data, g) = {};
  m_free_places.push_back(std::exchange(m_places[data], no_place));
}

// Adds the task to S0 or S1 of its missing data, or removes it.
template <bool Add>
void DartsIndex::count(std::uint32_t slot, std::size_t group) {
  auto const& ready = m_ready[slot];
  auto const& mine = lane(slot, group);
  if (mine.missing > 2) return;
  if (mine.missing == 0) {
    if constexpr (Add) m_became_free.push_back({ready.priority, ready.id});
    return;
  }
  std::size_t const set = mine.missing - 1;
  for (auto const& input : ready.inputs()) {
    auto& data = datum(input.data, group);
    if (data.loaded) continue;
    mark_changed(input.data, group);
    if (set == 0) data.computation_ns += Add ? mine.duration_ns : -mine.duration_ns;
    if constexpr (Add) {
      ++data.size[set];
      if (data.tops) {
        data.tops->of[set].push({ready.priority, ready.id}, data.size[set],
                                [&](TaskId other) { return considered(other, group, mine.missing); });
      }
    } else {
      --data.size[set];
    }
  }
}

void DartsIndex::refresh(DataId data, GroupId group) {
  if (!has_users(data)) return;
  bool const now = loaded(data, group);
  if (datum(data.value(), group.index()).loaded != now) load(data.value(), group.index(), now);
}

void DartsIndex::load(std::uint32_t data, std::size_t group, bool loaded) {
  auto& entry = datum(data, group);
  auto const allowed = [&](User const& user) { return m_ready[user.slot].groups.contains(id_of(group)); };
  for (auto const& user : users_of(data)) {
    if (allowed(user)) count<false>(user.slot, group);
  }
  entry.loaded = loaded;
  entry.tops.reset();  // rebuilt on demand
  mark_changed(data, group);
  for (auto const& user : users_of(data)) {
    if (!allowed(user)) continue;
    auto& missing = lane(user.slot, group).missing;
    missing = loaded ? missing - 1 : missing + 1;
    count<true>(user.slot, group);
  }
}

void DartsIndex::replicas_changed(DataId data) {
  if (!has_users(data)) return;
  for (std::size_t g = 0; g < m_groups; ++g) {
    datum(data.value(), g).transfer_changed = true;
    if (!datum(data.value(), g).loaded) mark_changed(data.value(), g);
  }
}

void DartsIndex::mark_changed(std::uint32_t data, std::size_t group) {
  auto& entry = datum(data, group);
  if (entry.changed) return;
  entry.changed = true;
  m_changed[group].push_back(data);
}

void DartsIndex::update_keys(std::size_t group) {
  for (auto const data : m_changed[group]) {
    auto& entry = datum(data, group);
    entry.changed = false;
    // A datum without S0 and S1 comes after all others; lines 14 to 17 treat all of them alike.
    if (entry.loaded || entry.size[0] + entry.size[1] == 0) {
      m_candidates[group].erase(data);
      give_back_place(data);
      continue;
    }
    if (entry.transfer_changed) {
      NodeId const node = m_view->topology().groups()[group].node;
      entry.transfer_ns = m_view->transfer_time(DataId(data), node).count();
      entry.transfer_changed = false;
    }
    auto const highest = top(data, group, entry.size[0] > 0 ? 1 : 2);
    m_candidates[group].set(data, {entry.transfer_ns, entry.computation_ns, highest.priority, entry.task_left_ns,
                                   entry.size[0], entry.size[1], data});
  }
  m_changed[group].clear();
}

RankedTask DartsIndex::top(std::uint32_t data, std::size_t group, std::uint32_t missing) {
  auto const& users = users_of(data);
  auto& entry = datum(data, group);
  if (!entry.tops && users.size() <= few_users) {
    RankedTask best{std::numeric_limits<std::int64_t>::min(), {}};
    for (auto const& user : users) {
      auto const& ready = m_ready[user.slot];
      if (!ready.groups.contains(id_of(group)) || lane(user.slot, group).missing != missing) continue;
      best = std::max(best, RankedTask{ready.priority, ready.id});
    }
    return best;
  }
  if (!entry.tops) {
    std::array<std::vector<RankedTask>, 2> tasks;
    for (auto const& user : users) {
      auto const& ready = m_ready[user.slot];
      auto const missed = lane(user.slot, group).missing;
      if (ready.groups.contains(id_of(group)) && (missed == 1 || missed == 2)) {
        tasks[missed - 1].push_back({ready.priority, ready.id});
      }
    }
    entry.tops = std::make_unique<Tops>();
    for (std::size_t set = 0; set < 2; ++set) entry.tops->of[set].assign(std::move(tasks[set]));
  }
  return entry.tops->of[missing - 1].top([&](TaskId task) { return considered(task, group, missing); });
}

DataId DartsIndex::best_data(GroupId group) {
  update_keys(group.index());
  auto const& candidates = m_candidates[group.index()];
  return candidates.empty() ? DataId{} : DataId(static_cast<std::uint32_t>(candidates.top()));
}

std::vector<TaskId> DartsIndex::enabled_by(DataId data, GroupId group) const {
  std::vector<RankedTask> ranked;
  for (auto const& user : users_of(data.value())) {
    auto const& ready = m_ready[user.slot];
    if (ready.groups.contains(group) && lane(user.slot, group.index()).missing == 1) {
      ranked.push_back({ready.priority, ready.id});
    }
  }
  std::sort(ranked.rbegin(), ranked.rend());
  std::vector<TaskId> tasks;
  tasks.reserve(ranked.size());
  for (auto const& entry : ranked) tasks.push_back(entry.task);
  return tasks;
}

TaskId DartsIndex::best_one_further(DataId data, GroupId group) { return top(data.value(), group.index(), 2).task; }

TaskId DartsIndex::best_ready(GroupId group) {
  RankedTask best{std::numeric_limits<std::int64_t>::min(), {}};
  for (auto& entry : m_heaps) {
    if (!entry.groups.contains(group)) continue;
    auto const first = entry.heap.top([&](TaskId task) { return contains(task); });
    if (first.task.valid()) best = std::max(best, first);
  }
  return best.task;
}

std::vector<TaskId> DartsIndex::take_free_candidates() {
  std::vector<TaskId> tasks;
  if (m_became_free.empty()) return tasks;
  std::sort(m_became_free.rbegin(), m_became_free.rend());
  for (auto const& entry : m_became_free) {
    if (contains(entry.task) && (tasks.empty() || tasks.back() != entry.task)) tasks.push_back(entry.task);
  }
  m_became_free.clear();
  return tasks;
}

}  // namespace granary::detail
