// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/runtime/session/reductions.hpp>

#include <granary/detail/core/base/error.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace granary::detail {

Reductions::Lock::Lock(Reductions& reductions, Engine& engine) : m_reductions(reductions), m_engine(engine) {
  m_reductions.m_mutex.lock();
  ++m_reductions.m_depth;
}

Reductions::Lock::~Lock() {
  bool const outermost = --m_reductions.m_depth == 0;
  m_reductions.m_mutex.unlock();
  if (!outermost) return;
  try {
    m_engine.throttle();
  } catch (...) {  // NOLINT(bugprone-empty-catch): the next call of the engine throws the same
  }
}

namespace {

// As many as workers, or always as many if the result must not depend on their number; together at most a quarter of
// the smallest memory.
std::size_t most_copies(ReductionKind const& kind, Machine const& machine) {
  constexpr std::size_t for_any_machine = 8;
  if (kind.ordered()) return for_any_machine;
  Bytes room = unbounded;
  for (auto const& node : machine.nodes) {
    if (node.kind != NodeKind::Disk) room = std::min(room, node.capacity / 4);
  }
  return std::clamp<std::size_t>(room / kind.bytes(), 1, machine.workers.size());
}

}  // namespace

TaskHandle Reductions::contribute(std::function<TaskHandle()> const& submission) {
  m_contributed.clear();
  try {
    return submission();
  } catch (...) {
    take_back();
    throw;
  }
}

// A reduction that was begun for a refused task is over: its combination would write a datum that nobody waits for.
void Reductions::take_back() {
  for (DataId const data : m_contributed) {
    if (auto const open = find(data); open != m_open.end()) --open->contributions;
  }
  m_count -= std::erase_if(m_open, [](Open const& one) { return one.contributions == 0; });
}

DataId Reductions::next_copy(Session& session, std::unique_ptr<ReductionKind> kind) {
  auto& engine = session.engine();
  auto open = find(kind->data());
  if (open == m_open.end() || !open->kind->same(*kind)) {
    DataId const data = kind->data();
    combine_beside(session, {&data, 1});
    if (!engine.has_value(data)) {
      throw InvalidArgument("a task reduces data '" + engine.name_of(data) +
                            "', which have no value yet: write them first");
    }
    auto const most = most_copies(*kind, engine.topology().machine());
    m_open.push_back({.kind = std::move(kind), .copies = {}, .most_copies = most});
    ++m_count;
    open = std::prev(m_open.end());
  }
  auto const number = open->contributions % open->most_copies;
  if (number == open->copies.size()) {
    auto const name = "copy of '" + engine.name_of(open->kind->data()) + "'";
    auto copy = session.hold(session.add_data(name, open->kind->bytes(), {.keep = open->kind->shape()}));
    open->kind->fill(session, copy->id());
    if (number == 0) open->kind->check_combine(session, copy->id());
    open->copies.push_back(std::move(copy));
  }
  ++open->contributions;
  m_contributed.push_back(open->kind->data());
  return open->copies[number]->id();
}

void Reductions::combine_for(Session& session, std::span<Access const> accesses) {
  std::vector<DataId> data;
  for (auto const& access : accesses) data.push_back(access.data);
  combine_beside(session, data);
}

void Reductions::combine(Session& session, std::span<DataId const> data) {
  combine_beside(session, data);
  while (data.empty() && !m_open.empty()) combine_one(session, m_open.begin());
}

std::vector<Reductions::Open>::iterator Reductions::find(DataId data) {
  return std::ranges::find(m_open, data, [](Open const& one) { return one.kind->data(); });
}

void Reductions::combine_beside(Session& session, std::span<DataId const> data) {
  if (m_open.empty()) return;
  for (DataId const id : session.engine().with_bytes_of(data)) {
    if (auto const open = find(id); open != m_open.end()) combine_one(session, open);
  }
}

// It is not open any more when its copies are combined: that is an access to the datum. It counts until then: `submit`
// must not sleep with the lock (`any`).
void Reductions::combine_one(Session& session, std::vector<Open>::iterator open) {
  auto const closed = std::move(*open);
  m_open.erase(open);
  struct Counted {
    std::atomic<std::size_t>& count;
    ~Counted() { --count; }
  } const counted{m_count};
  for (auto const& copy : closed.copies) closed.kind->combine(session, copy->id());
}

}  // namespace granary::detail
