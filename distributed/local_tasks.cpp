// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/distributed/local_tasks.hpp>

#include <algorithm>

namespace granary::detail {

LocalTasks::LocalTasks(Submitter& submitter, NodeId peers, Exchange& exchange)
    : m_submitter(submitter),
      m_peers(peers),
      m_exchange(exchange),
      m_incoming_value(submitter.add_codelet({.name = "incoming value", .external = true, .stub = true})),
      m_outgoing_value(submitter.add_codelet({.name = "outgoing value", .external = true, .stub = true})) {}

void LocalTasks::release_data(DataKey key) {
  auto const own = m_own.find(key);
  if (own == m_own.end()) return;  // its registration was refused
  m_exchange.releasing(own->second);
  m_submitter.release_data(own->second);
  m_own.erase(own);
}

DataId LocalTasks::arrive(Remote const& remote, TaskSubmission const& reading) {
  DataId const local = remote.local.valid() ? remote.local : m_submitter.add_data(incoming(*remote.description));
  m_held.emplace(remote.value.key, local);
  m_exchange.prepare(
      {.value = remote.value, .peer = remote.owner, .local = local, .varies = remote.description->bound > 0});
  Access const written[] = {{local, AccessMode::Write}};
  m_submitter.submit(
      {.codelet = m_incoming_value, .accesses = written, .index = reading.index, .position = reading.position}, {});
  return local;
}

void LocalTasks::ship(ValueId value, ProcessId reader, TaskSubmission const& reading) {
  m_exchange.prepare({.value = value, .peer = reader, .priority = reading.priority});
  Access const read[] = {{m_own.at(value.key), AccessMode::Read}};
  try {
    m_submitter.submit({.codelet = m_outgoing_value,
                        .accesses = read,
                        .priority = reading.priority,
                        .index = reading.index,
                        .position = reading.position},
                       {});
  } catch (InvalidArgument const& error) {  // it has no value
    m_exchange.cannot_offer(error, reading.position);
  }
}

void LocalTasks::let_go(DataKey key) {
  auto const held = m_held.find(key);
  if (held == m_held.end()) return;
  m_submitter.release_data(held->second);
  m_held.erase(held);
}

void LocalTasks::let_go_of_all() {
  std::vector<DataId> held;
  for (auto const& [key, local] : m_held) held.push_back(local);
  std::ranges::sort(held);
  for (DataId const local : held) m_submitter.release_data(local);
  m_held.clear();
}

}  // namespace granary::detail
