// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/engine/engine_data.hpp>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/engine/pool.hpp>

#include <cstddef>
#include <string>

namespace granary::detail {

namespace {

std::vector<std::shared_ptr<NodeMemory>> complete(Machine const& machine,
                                                  std::vector<std::shared_ptr<NodeMemory>> memories) {
  memories.resize(machine.nodes.size());
  for (std::size_t n = 0; n < memories.size(); ++n) {
    auto const& node = machine.nodes[n];
    if (node.kind == NodeKind::Disk || node.kind == NodeKind::Peers) continue;
    if (node.capacity >= unbounded) throw InvalidArgument("memory node '" + node.name + "' needs a stated capacity");
    if (memories[n]) continue;
    if (node.kind == NodeKind::Device) throw InvalidArgument("memory node '" + node.name + "' has no memory backend");
    memories[n] = std::make_shared<Pool>(node.name, node.capacity);
  }
  return memories;
}

std::vector<std::byte*> bases_of(std::vector<std::shared_ptr<NodeMemory>> const& memories) {
  std::vector<std::byte*> bases;
  for (auto const& memory : memories) bases.push_back(memory ? memory->base() : nullptr);
  return bases;
}

}  // namespace

EngineData::EngineData(Machine const& machine, std::vector<std::shared_ptr<NodeMemory>> memories)
    : m_memories(complete(machine, std::move(memories))), m_addresses(bases_of(m_memories)) {}

DataId EngineData::find(ByteSet const& bytes, HostBinding const& binding) const {
  auto const data = bytes.empty() ? DataId() : m_bytes.find(bytes);
  return data.valid() && m_addresses.binding(data).same_form(binding) ? data : DataId();
}

void EngineData::fill(LaneEntry& entry, RunCommand const& run) {
  auto const& accesses = run.description->accesses;
  entry.parameters = &m_parameters[run.task];
  auto const addresses = entry.addresses(accesses.size());
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    auto const data = accesses[i].data;
    addresses[i] = m_addresses.find(data, run.places[i]);
    if (run.places[i].slot == Slot::Pool || !m_addresses.has_lines()) continue;
    if (auto const lines = m_addresses.lines(data); lines.count > 0) entry.set_pitch(i, lines.pitch);
  }
  entry.varying.clear();
  if (!run.varying.empty()) fill_varying(entry.varying, run);
  entry.kept.clear();
  for (auto const& kept : run.kept) {
    auto const data = accesses[kept.access].data;
    entry.kept.push_back({.value = addresses[kept.access],
                          .aside = m_addresses.find(data, kept.place),
                          .bytes = kept.bytes,
                          .lines = run.places[kept.access].slot != Slot::Pool ? m_addresses.lines(data) : Lines{}});
  }
}

void EngineData::fill_varying(VaryingData& varying, RunCommand const& run) const {
  varying.resize(run.varying.size());
  for (std::size_t i = 0; i < run.varying.size(); ++i) {
    auto const& [bytes, result] = run.varying[i];
    varying.bytes[i] = bytes;
    if (!result) continue;
    varying.results[i] = {m_addresses.find(run.description->accesses[i].data, result->place), result->room};
  }
}

CopyRequest EngineData::request(CopyCommand const& copy) const {
  return {copy.data,
          copy.from,
          copy.to,
          m_addresses.find(copy.data, copy.from),
          m_addresses.find(copy.data, copy.to),
          copy.bytes,
          m_addresses.lines(copy.data)};
}

void EngineData::retire(TaskId task) {
  auto& parameters = m_parameters[task];
  // The worker has destroyed the parameters of a task that ran.
  if (parameters.get() != nullptr) m_dropped.parameters.push_back(std::move(parameters));
  m_parameters.erase(task);
}

void EngineData::forget(DataId data) {
  m_addresses.forget(data, m_dropped.bindings);
  m_bytes.forget(data);
}

}  // namespace granary::detail
