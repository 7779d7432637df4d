// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/runtime/session/divisions.hpp>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/engine/engine.hpp>

#include <algorithm>

namespace granary::detail {

namespace {

constexpr std::size_t undivided = 0;

}  // namespace

Family::~Family() {
  if (auto const table = m_table.lock()) table->remove(all_data());
}

Division* Family::find(std::vector<std::size_t> const& tiles) const {
  auto const found = std::ranges::find(m_divisions, tiles, [](auto const& division) { return division->tiles(); });
  return found != m_divisions.end() ? found->get() : nullptr;
}

void Family::add(std::unique_ptr<Division> division) {
  m_current.push_back(false);
  m_divisions.push_back(std::move(division));
}

std::span<DataId const> Family::data(std::size_t form) const {
  if (form == undivided) return {&m_whole, 1};
  return m_divisions[form - 1]->data();
}

std::vector<DataId> Family::all_data() const {
  std::vector<DataId> all;
  for (std::size_t form = 0; form < m_current.size(); ++form) {
    auto const its = data(form);
    all.insert(all.end(), its.begin(), its.end());
  }
  return all;
}

std::vector<DataId> Family::sharing(std::size_t form, DataId data) const {
  if (form == undivided) return all_data();
  std::vector<DataId> found{data, m_whole};
  auto const& its = *m_divisions[form - 1];
  auto const ranges = its.ranges(static_cast<std::size_t>(std::ranges::find(its.data(), data) - its.data().begin()));
  for (auto const& other : m_divisions) {
    if (other.get() == &its) continue;
    for (std::size_t part = 0; part < other->data().size(); ++part) {
      bool const overlap = std::ranges::equal(ranges, other->ranges(part), [](PartRange const& a, PartRange const& b) {
        return a.first < b.second && b.first < a.second;
      });
      if (overlap) found.push_back(other->data()[part]);
    }
  }
  return found;
}

void Family::set_current(std::optional<std::size_t> form) {
  std::fill(m_current.begin(), m_current.end(), false);
  if (form) m_current[*form] = true;
}

void Family::bring(Session& session, std::string_view name, std::size_t form, Access const& access) {
  auto& engine = session.engine();
  if (m_current[form]) {
    // A write makes it the only one: while another is current, too, what it lacks can still be copied.
    bool const last_chance = writes(access.mode) && std::ranges::count(m_current, true) > 1;
    bool const complete = last_chance ? !engine.first_without_value(data(form)).valid()
                                      : !reads(access.mode) || engine.has_value(access.data);
    if (complete) return;
  }
  std::optional<std::size_t> source;
  DataId missing;
  for (std::size_t other = 0; other < m_current.size() && !source; ++other) {
    if (other == form || !m_current[other]) continue;
    auto const lacks = engine.first_without_value(data(other));
    if (!lacks.valid()) source = other;
    if (lacks.valid() && !missing.valid()) missing = lacks;
  }
  if (!source) {
    if (m_current[form] || !missing.valid()) return;  // the engine says what is missing
    throw InvalidArgument("task '" + std::string(name) + "' uses data '" + engine.name_of(access.data) +
                          "', which need a copy of data '" + engine.name_of(missing) +
                          "', which have no value, because no task has written them or a failure took it: write "
                          "these first");
  }
  if (*source != undivided) gather(session, *source);
  if (form != undivided) scatter(session, form);
}

// A form that is written only in part, as after a refused submission, must not count as current.
void Family::gather(Session& session, std::size_t from) {
  m_current[undivided] = false;
  auto const& division = *m_divisions[from - 1];
  for (std::size_t part = 0; part < division.data().size(); ++part) division.gather(session, part);
  m_current[undivided] = true;
}

void Family::scatter(Session& session, std::size_t to) {
  m_current[to] = false;
  auto const& division = *m_divisions[to - 1];
  for (std::size_t part = 0; part < division.data().size(); ++part) division.scatter(session, part);
  m_current[to] = true;
}

bool Divisions::any_of(std::span<DataId const> data) const {
  if (m_count.load() == 0) return false;
  std::lock_guard const lock(m_mutex);
  return std::ranges::any_of(data, [&](DataId id) { return m_entries.contains(id); });
}

bool Divisions::any_of(std::span<Access const> accesses) const {
  if (m_count.load() == 0) return false;
  std::lock_guard const lock(m_mutex);
  return std::ranges::any_of(accesses, [&](Access const& access) { return m_entries.contains(access.data); });
}

std::optional<std::pair<std::shared_ptr<Family>, std::size_t>> Divisions::find(DataId data) const {
  std::lock_guard const lock(m_mutex);
  auto const found = m_entries.find(data);
  if (found == m_entries.end()) return std::nullopt;
  auto family = found->second.family.lock();
  if (!family) return std::nullopt;
  return std::pair(std::move(family), found->second.form);
}

std::vector<DataId> Divisions::with_forms(std::span<DataId const> data) const {
  std::vector<DataId> all;
  for (DataId const id : data) {
    if (std::ranges::find(all, id) != all.end()) continue;
    auto const entry = find(id);
    auto const its = entry ? entry->first->sharing(entry->second, id) : std::vector{id};
    all.insert(all.end(), its.begin(), its.end());
  }
  return all;
}

void Divisions::add(std::shared_ptr<Family> const& family, std::size_t form, std::span<DataId const> data) {
  std::lock_guard const lock(m_mutex);
  for (DataId const id : data) m_entries.insert_or_assign(id, Entry{family, form});
  m_count = m_entries.size();
}

void Divisions::remove(std::span<DataId const> data) {
  std::lock_guard const lock(m_mutex);
  for (DataId const id : data) m_entries.erase(id);
  m_count = m_entries.size();
}

Division const& Divisions::divide(Session& session, std::shared_ptr<DataHold const> const& whole,
                                  std::unique_ptr<Division> wanted) {
  auto& engine = session.engine();
  auto const entry = find(whole->id());
  auto family = entry ? entry->first : nullptr;
  if (!family) {
    family = std::make_shared<Family>(whole->id(), weak_from_this());
    // Submissions without this lock see the entry, or are refused because of the count, or came before what follows.
    add(family, undivided, family->data(undivided));
    ++m_cuts;
    engine.keep_no_old_value(whole->id());
    if (engine.has_value(whole->id())) family->set_current(undivided);
    whole->attach(family);
  }
  if (auto const* const known = family->find(wanted->tiles())) return *known;
  wanted->add_parts(session, engine.name_of(whole->id()));
  auto const& added = *wanted;
  auto const parts = wanted->data();
  for (DataId const part : parts) engine.keep_no_old_value(part);
  try {
    add(family, family->forms(), parts);
    family->add(std::move(wanted));
  } catch (...) {
    remove(parts);
    throw;
  }
  return added;
}

std::vector<Divisions::Use> Divisions::prepare(Session& session, std::string_view name,
                                               std::span<Access const> accesses) {
  std::vector<Use> uses;
  if (m_count.load() == 0) return uses;
  for (auto const& access : accesses) {
    if (auto entry = find(access.data)) uses.push_back({std::move(entry->first), entry->second, access});
  }
  for (auto const& use : uses) {
    for (auto const& other : uses) {
      if (use.family != other.family || use.form == other.form || !writes(use.access.mode)) continue;
      auto& engine = session.engine();
      throw InvalidArgument("task '" + std::string(name) + "' writes data '" + engine.name_of(use.access.data) +
                            "', which shares bytes with data '" + engine.name_of(other.access.data) +
                            "' of the same task");
    }
  }
  for (auto const& use : uses) {
    bool const replaces_all = use.form == undivided && !reads(use.access.mode);
    if (!replaces_all) use.family->bring(session, name, use.form, use.access);
  }
  return uses;
}

void Divisions::submitted(std::vector<Use> const& uses) {
  for (auto const& use : uses) {
    if (writes(use.access.mode)) use.family->set_current(use.form);
  }
}

}  // namespace granary::detail
