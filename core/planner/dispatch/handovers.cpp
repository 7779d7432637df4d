// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/planner/dispatch/handovers.hpp>

#include <algorithm>
#include <cstddef>

namespace granary::detail {

void Handovers::registered(DataId data) {
  auto claims = m_movement.overlaps().unfinished_before(data);
  if (!claims.empty()) add(std::move(claims));
}

void Handovers::precede(AccessList const& accesses) {
  auto& overlaps = m_movement.overlaps();
  if (!overlaps.any() || overlaps.blocked(accesses)) return;
  m_redefined.clear();
  for (auto& claims : overlaps.take_claims(accesses, m_redefined)) add(std::move(claims));
}

void Handovers::add(std::vector<Claimed> claims) {
  AccessList accesses(claims.size());
  std::ranges::transform(claims, accesses.begin(), [](Claimed const& claimed) {
    return Access{claimed.data, claimed.mode};
  });
  m_movement.announce(accesses);
  auto& task = m_dispatch.tasks().add(std::move(accesses));
  m_claims.emplace(task.id, std::move(claims));
  if (task.predecessors == 0) m_dispatch.make_ready(task);
}

void Handovers::submitted(LiveTask& task) {
  auto& overlaps = m_movement.overlaps();
  if (!overlaps.any()) return;
  if (overlaps.blocked(task.accesses)) {
    task.cancelled = true;
    overlaps.block_outputs(task.accesses);
  } else if (!m_redefined.empty()) {
    m_claims.emplace(task.id, std::exchange(m_redefined, {}));
  }
}

void Handovers::perform() {
  for (std::size_t i = 0; i < m_dispatch.external().size();) {
    LiveTask& task = m_dispatch.tasks()[m_dispatch.external()[i]];
    auto const way =
        task.handover() && !task.cancelled ? m_movement.bring_home(task.accesses, task.home) : Movement::Way::Under;
    if (way == Movement::Way::Open) {
      m_movement.hand_over(task.accesses);
      ended(task.id);
      m_dispatch.end(task);
      continue;
    }
    if (way == Movement::Way::Closed) {
      task.cancelled = true;
      m_context.agenda.post(Agenda::Cancel{task.id});
    }
    ++i;
  }
}

void Handovers::undo(LiveTask const& task) {
  if (m_claims.empty() || !m_claims.contains(task.id)) return;
  auto& overlaps = m_movement.overlaps();
  overlaps.begin_undo();
  overlaps.undo(m_claims.extract(task.id).mapped());
  m_dispatch.tasks().for_each([&](LiveTask& later) {
    if (later.id <= task.id || !overlaps.undone(later.accesses)) return;
    later.cancelled = true;
    if (auto const claims = m_claims.extract(later.id)) overlaps.undo(claims.mapped());
  });
}

void Handovers::undo_all() {
  m_movement.overlaps().begin_undo();
  for (auto claims = m_claims.begin(); claims != m_claims.end();) {
    bool const begun = m_dispatch.tasks()[claims->first].assignment.phase == TaskPhase::Issued;
    if (!begun) m_movement.overlaps().undo(claims->second);
    claims = begun ? std::next(claims) : m_claims.erase(claims);
  }
}

}  // namespace granary::detail
