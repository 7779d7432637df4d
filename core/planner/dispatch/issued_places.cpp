// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/planner/dispatch/issued_places.hpp>

#include <cstddef>
#include <utility>

namespace granary::detail {

void IssuedPlaces::show(LiveTask& task, NodeId node, Keep keep, RunCommand& command) {
  if (m_free.empty()) {
    m_free.push_back(static_cast<std::uint32_t>(m_buffers.size()));
    m_buffers.emplace_back();
  }
  task.places = m_free.back();
  m_free.pop_back();
  auto& buffer = m_buffers[task.places];
  buffer.places.resize(task.accesses.size());
  for (std::size_t i = 0; i < buffer.places.size(); ++i) {
    auto const* const replica = m_movement.data()[task.accesses[i].data].on(node);
    buffer.places[i] = {node, replica->slot, replica->offset};
  }
  command.description = &task;
  command.places = buffer.places;
  if (task.varies) {
    list_varying(task, buffer);
    command.varying = buffer.varying;
  }
  if (keep == Keep::Aside) {
    list_kept(task, buffer);
    command.kept = buffer.kept;
  }
}

void IssuedPlaces::let_go(LiveTask& task) { m_free.push_back(std::exchange(task.places, LiveTask::nowhere)); }

void IssuedPlaces::list_varying(LiveTask const& task, Buffer& buffer) const {
  buffer.varying.resize(task.accesses.size());
  for (std::size_t i = 0; i < buffer.varying.size(); ++i) {
    auto const& access = task.accesses[i];
    auto const& datum = m_movement.data()[access.data];
    buffer.varying[i] = {.bytes = datum.bytes};
    if (!datum.varies || access.repeated || !writes(access.mode)) continue;
    auto const* const beside = m_movement.results().find(access.data);
    buffer.varying[i].result = ResultPlace{beside != nullptr ? *beside : buffer.places[i], datum.result};
  }
}

void IssuedPlaces::list_kept(LiveTask const& task, Buffer& buffer) const {
  buffer.kept.clear();
  for (std::size_t i = 0; i < task.accesses.size(); ++i) {
    auto const& access = task.accesses[i];
    if (access.repeated || !writes(access.mode)) continue;
    auto const* const place = m_movement.kept().find(access.data);
    if (place != nullptr) buffer.kept.push_back({i, *place, m_movement.data()[access.data].bytes});
  }
}

}  // namespace granary::detail
