// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/planner/dispatch/issued_places.hpp>

#include <cstddef>

namespace granary::detail {

void IssuedPlaces::show(LiveTask& task, NodeId node, Keep keep, RunCommand& command) {
  if (m_free == nullptr) m_free = m_all.emplace_back(std::make_unique<TaskPlaces>()).get();
  auto& memory = *m_free;
  m_free = memory.next;
  task.places = &memory;
  std::size_t const size = task.accesses.size();
  if (memory.places.size() < size) memory.places.resize(size);
  auto const& data = m_movement.data();
  auto* place = memory.places.data();
  for (auto const& access : task.accesses) {
    auto const* const replica = data[access.data].on(node);
    *place++ = {node, replica->slot, replica->offset};
  }
  command.description = &task;
  command.places = {memory.places.data(), size};
  if (task.varies) {
    list_varying(task);
    command.varying = memory.varying;
  }
  if (keep == Keep::Aside) {
    list_kept(task);
    command.kept = memory.kept;
  }
}

void IssuedPlaces::list_varying(LiveTask const& task) const {
  auto& varying = task.places->varying;
  varying.resize(task.accesses.size());
  for (std::size_t i = 0; i < varying.size(); ++i) {
    auto const& access = task.accesses[i];
    auto const& datum = m_movement.data()[access.data];
    varying[i] = {.bytes = datum.bytes};
    if (!datum.varies || access.repeated || !writes(access.mode)) continue;
    auto const* const beside = m_movement.results().find(access.data);
    varying[i].result = ResultPlace{beside != nullptr ? *beside : task.places->places[i], datum.result};
  }
}

void IssuedPlaces::list_kept(LiveTask const& task) const {
  auto& kept = task.places->kept;
  kept.clear();
  for (std::size_t i = 0; i < task.accesses.size(); ++i) {
    auto const& access = task.accesses[i];
    if (access.repeated || !writes(access.mode)) continue;
    auto const* const place = m_movement.kept().find(access.data);
    if (place != nullptr) kept.push_back({i, *place, m_movement.data()[access.data].bytes});
  }
}

}  // namespace granary::detail
