// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/planner/movement/overlaps.hpp>

#include <algorithm>
#include <utility>

namespace granary::detail {
namespace {

bool contradict(Claim claim, AccessMode mode) { return writes(mode) ? claim != Claim::None : claim == Claim::Write; }

Claim claim_of(AccessMode mode) { return writes(mode) ? Claim::Write : Claim::Read; }

}  // namespace

Overlaps::Entry* Overlaps::find(DataId data) {
  auto const found = m_entries.find(data);
  return found != m_entries.end() ? &found->second : nullptr;
}

Overlaps::Entry& Overlaps::entry_of(DataId data) {
  auto const [found, is_new] = m_entries.try_emplace(data);
  auto& entry = found->second;
  if (!is_new) return entry;
  entry.data = data;
  entry.serial = ++m_serials;
  auto const& datum = m_data[data];
  if (datum.accessed) entry.claim = datum.version > 0 ? Claim::Write : Claim::Read;
  return entry;
}

void Overlaps::add(DataId data, std::span<SharedBytes const> shares) {
  if (shares.empty()) return;
  auto& entry = entry_of(data);
  for (auto const& [other, covers, covered] : shares) {
    auto& neighbour = entry_of(other);
    entry.neighbours.push_back({&neighbour, covered, covers});
    neighbour.neighbours.push_back({&entry, covers, covered});
    entry.claimed += neighbour.claim != Claim::None ? 1 : 0;
    entry.written += neighbour.claim == Claim::Write ? 1 : 0;
  }
}

std::vector<DataId> Overlaps::forget(DataId data) {
  std::vector<DataId> defined;
  auto* const entry = find(data);
  if (entry == nullptr) return defined;
  bool const written = entry->claim == Claim::Write;
  for (auto const& neighbour : entry->neighbours) {
    auto& other = *neighbour.entry;
    bool const redefined =
        written && neighbour.covered && other.claim == Claim::None && m_data[other.data].value.lost();
    if (redefined && m_data[data].value.lost()) {
      set_claim(other, Claim::Write);
    } else if (redefined) {
      defined.push_back(other.data);
    }
  }
  set_claim(*entry, Claim::None);
  for (auto const& neighbour : entry->neighbours) {
    auto& other = *neighbour.entry;
    std::erase_if(other.neighbours, [&](Neighbour const& back) { return back.entry == entry; });
  }
  std::erase(m_blocked, data);
  m_entries.erase(data);
  return defined;
}

std::vector<Claimed> Overlaps::unfinished_before(DataId data) const {
  std::vector<Claimed> claims;
  auto const* const entry = find(data);
  if (entry == nullptr) return claims;
  for (auto const& neighbour : entry->neighbours) {
    auto const& other = *neighbour.entry;
    if (other.claim != Claim::Write && m_data[other.data].writers > 0)
      claims.push_back({other.data, AccessMode::Read, other.claim, other.serial});
  }
  if (!claims.empty()) claims.push_back({data, AccessMode::Write, Claim::None, entry->serial});
  return claims;
}

void Overlaps::check(std::string const& task, AccessList const& accesses) const {
  if (!any()) return;
  for (auto const& access : accesses) {
    auto const* const entry = access.repeated ? nullptr : find(access.data);
    if (entry == nullptr) continue;
    if (accesses.size() > 1) refuse_both(task, accesses, access, *entry);
    if (waits_for_report(*entry)) continue;
    if ((writes(access.mode) ? entry->claimed : entry->written) > 0) refuse_lost(task, access, *entry);
  }
}

void Overlaps::refuse_both(std::string const& task, AccessList const& accesses, Access const& access,
                           Entry const& entry) const {
  for (auto const& other : accesses) {
    if (&other == &access || other.repeated || !writes(access.mode)) continue;
    auto const* const others = find(other.data);
    if (others == nullptr) continue;
    auto const& [few, one] =
        others->neighbours.size() < entry.neighbours.size() ? std::pair(others, &entry) : std::pair(&entry, others);
    if (std::ranges::none_of(few->neighbours, [&](Neighbour const& n) { return n.entry == one; })) continue;
    throw InvalidArgument("task '" + task + "' writes data '" + m_data[access.data].description.name +
                          "', which shares bytes with data '" + m_data[other.data].description.name +
                          "' of the same task");
  }
}

void Overlaps::refuse_lost(std::string const& task, Access const& access, Entry const& entry) const {
  for (auto const& neighbour : entry.neighbours) {
    auto const& other = *neighbour.entry;
    if (!contradict(other.claim, access.mode) || m_data[other.data].defined()) continue;
    if (redefines(access.mode, neighbour)) continue;
    auto const& name = m_data[other.data].description.name;
    throw InvalidArgument("task '" + task + "' " + (writes(access.mode) ? "writes" : "reads") + " data '" +
                          m_data[access.data].description.name + "', which shares bytes with data '" + name +
                          "', which an earlier failure left without a value: write '" + name +
                          "' first or destroy its handles");
  }
}

// A task with this access to a datum defines the whole neighbour, which lost its value.
bool Overlaps::redefines(AccessMode mode, Neighbour const& neighbour) const {
  return !reads(mode) && neighbour.covered && !m_data[neighbour.entry->data].defined();
}

bool Overlaps::is_defined_by_another(DataId data) const {
  auto const* const entry = any() ? find(data) : nullptr;
  return entry != nullptr && entry->claim == Claim::None &&
         std::ranges::any_of(entry->neighbours, [](Neighbour const& neighbour) {
           return neighbour.covers && neighbour.entry->claim == Claim::Write;
         });
}

bool Overlaps::blocked(AccessList const& accesses) const {
  return !m_blocked.empty() &&
         std::ranges::any_of(accesses, [&](Access const& access) { return waits_for_report(access.data); });
}

bool Overlaps::waits_for_report(DataId data) const {
  auto const* const entry = m_blocked.empty() ? nullptr : find(data);
  return entry != nullptr && waits_for_report(*entry);
}

bool Overlaps::waits_for_report(Entry const& entry) const {
  auto const blocks = [](Neighbour const& neighbour) { return neighbour.entry->blocked; };
  return !m_blocked.empty() && (entry.blocked || std::ranges::any_of(entry.neighbours, blocks));
}

std::vector<std::vector<Claimed>> Overlaps::take_claims(AccessList const& accesses, std::vector<Claimed>& redefined) {
  std::vector<std::vector<Claimed>> handovers;
  for (auto const& access : accesses) {
    auto* const entry = access.repeated ? nullptr : find(access.data);
    if (entry == nullptr || (writes(access.mode) ? entry->claimed : entry->written) == 0) continue;
    auto claims = hand_over_to(*entry, access.mode, redefined);
    if (!claims.empty()) handovers.push_back(std::move(claims));
  }
  for (auto const& claimed : redefined) set_claim(*find(claimed.data), Claim::None);
  for (auto const& access : accesses) {
    if (auto* const entry = find(access.data)) set_claim(*entry, std::max(entry->claim, claim_of(access.mode)));
  }
  return handovers;
}

std::vector<Claimed> Overlaps::hand_over_to(Entry& entry, AccessMode mode, std::vector<Claimed>& redefined) {
  std::vector<Claimed> claims;
  ++m_lists;
  auto const first = redefined.size();
  for (auto const& neighbour : entry.neighbours) {
    auto& other = *neighbour.entry;
    if (!contradict(other.claim, mode)) continue;
    if (redefines(mode, neighbour)) {
      redefined.push_back({other.data, AccessMode::Write, other.claim, other.serial});
    } else {
      list(other, AccessMode::ReadWrite, claims);
    }
  }
  if (redefined.size() > first) redefined.push_back({entry.data, AccessMode::Write, entry.claim, entry.serial});
  for (std::size_t i = 0, handed_over = claims.size(); i < handed_over; ++i) {
    auto const with = claims[i].before == Claim::Write ? AccessMode::Write : AccessMode::Read;
    for (auto const& neighbour : find(claims[i].data)->neighbours) list(*neighbour.entry, with, claims);
  }
  for (auto const& claimed : claims) {
    if (claimed.mode == AccessMode::ReadWrite) set_claim(*find(claimed.data), Claim::None);
  }
  return claims;
}

void Overlaps::list(Entry& entry, AccessMode mode, std::vector<Claimed>& claims) {
  if (entry.listed != m_lists) {
    entry.listed = m_lists;
    entry.at = claims.size();
    claims.push_back({entry.data, mode, entry.claim, entry.serial});
  } else if (claims[entry.at].mode == AccessMode::Read) {
    claims[entry.at].mode = mode;
  }
}

bool Overlaps::hands_over_all_of(AccessList const& handover, DataId lost) const {
  auto const* const entry = find(lost);
  return std::ranges::any_of(entry->neighbours, [&](Neighbour const& neighbour) {
    return neighbour.covers && std::ranges::any_of(handover, [&](Access const& access) {
             return access.data == neighbour.entry->data && access.mode == AccessMode::ReadWrite;
           });
  });
}

void Overlaps::undo(std::span<Claimed const> claims) {
  for (auto const& [data, mode, before, serial] : claims) {
    auto* const found = find(data);
    if (found == nullptr || found->serial != serial) continue;  // without handles a lost datum is forgotten
    auto& entry = *found;
    bool const first = std::exchange(entry.undo, m_undo) != m_undo;
    if (first) entry.restored = false;
    block(entry);
    if (!writes(mode)) {
      // Tasks that read it go on: the claim before counts only if none came since.
      if (!entry.restored) set_claim(entry, std::min(entry.claim, Claim::Read));
    } else if (!std::exchange(entry.restored, true)) {
      set_claim(entry, first ? before : std::min(before, Claim::Read));
    }
  }
}

bool Overlaps::undone(AccessList const& accesses) const {
  return std::ranges::any_of(accesses, [&](Access const& access) {
    auto const* const entry = find(access.data);
    return entry != nullptr && entry->undo == m_undo && (entry->restored || writes(access.mode));
  });
}

void Overlaps::block(Entry& entry) {
  if (!std::exchange(entry.blocked, true)) m_blocked.push_back(entry.data);
}

bool Overlaps::blocked(DataId data) const {
  auto const* const entry = find(data);
  return entry != nullptr && entry->blocked;
}

bool Overlaps::shares_bytes(DataId data) const {
  auto const* const entry = find(data);
  return entry != nullptr && !entry->neighbours.empty();
}

void Overlaps::block_outputs(AccessList const& accesses) {
  for_each_write(accesses, [&](Access const& access) {
    if (auto* const entry = find(access.data)) block(*entry);
  });
}

void Overlaps::failures_reported() {
  for (DataId const data : m_blocked) find(data)->blocked = false;
  m_blocked.clear();
}

void Overlaps::set_claim(Entry& entry, Claim claim) {
  if (entry.claim == claim) return;
  bool const had = entry.claim != Claim::None;
  bool const wrote = entry.claim == Claim::Write;
  entry.claim = claim;
  for (auto const& neighbour : entry.neighbours) {
    neighbour.entry->claimed += static_cast<std::uint32_t>(claim != Claim::None) - static_cast<std::uint32_t>(had);
    neighbour.entry->written += static_cast<std::uint32_t>(claim == Claim::Write) - static_cast<std::uint32_t>(wrote);
  }
}

void Overlaps::check_invariants() const {
  for (auto const& [data, entry] : m_entries) {
    auto const& datum = m_data[data];
    auto const demand = [&](bool holds, std::string const& what) {
      if (!holds) throw InternalError("broken invariant: the claim on '" + datum.description.name + "' " + what);
    };
    std::uint32_t claimed = 0;
    std::uint32_t written = 0;
    for (auto const& neighbour : entry.neighbours) {
      claimed += neighbour.entry->claim != Claim::None ? 1 : 0;
      written += neighbour.entry->claim == Claim::Write ? 1 : 0;
    }
    demand(claimed == entry.claimed && written == entry.written, "miscounts those of its neighbours");
    if (datum.value.lost()) continue;
    bool const contradicts = written > 0 ? entry.claim != Claim::None : claimed > 0 && entry.claim == Claim::Write;
    demand(!contradicts, "contradicts one of a neighbour");
    if (datum.users > 0) continue;
    auto const valid_elsewhere = [](Replica const& replica) { return replica.valid && replica.slot != Slot::Home; };
    demand(entry.claim != Claim::None || std::ranges::none_of(datum.replicas, valid_elsewhere),
           "is missing: it has replicas besides its home");
    demand(entry.claim == Claim::Write || !datum.away_from_home(), "does not say that its home lacks its value");
  }
}

}  // namespace granary::detail
