// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/distributed/distributed_submitter.hpp>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

namespace granary::detail {

DataId DistributedSubmitter::add_data(DataDescription description) {
  return submitted_id(
      add_data(std::move(description), [this](DataDescription own) { return m_local.add_data(std::move(own)); }));
}

DataKey DistributedSubmitter::add_data(DataDescription description, Registration registration,
                                       std::shared_ptr<void const> keep) {
  ProcessId const owner = m_owner(description, m_data++);
  DataKey const key = m_order.add(owner);
  count(std::uint64_t{owner.value()} << 32 | key.value());
  if (key.index() >= m_remote.size()) m_remote.resize(key.index() + 1);
  if (owner == m_self) {
    m_tasks.add_data(key, registration(std::move(description)));
    return key;
  }
  m_remote[key.index()] = std::make_unique<Remote>(Remote{std::move(description), std::move(keep)});
  if (owner == CommonOrder::nobody) m_unplaced.emplace(key, std::move(registration));
  return key;
}

void DistributedSubmitter::assign(DataKey key, ProcessId owner) {
  if (owner.value() >= m_processes) {
    throw InvalidArgument("there is no process " + std::to_string(owner.value()) + ": there are " +
                          std::to_string(m_processes));
  }
  if (!m_order.placed(key)) return place(key, owner);
  if (m_order.owner(key) == owner) return;
  throw InvalidArgument("data " + std::to_string(key.value()) + " cannot be given to process " +
                        std::to_string(owner.value()) + ": they belong to process " +
                        std::to_string(m_order.owner(key).value()) + " already");
}

void DistributedSubmitter::place(DataKey key, ProcessId owner) {
  placing(key, owner);
  auto const unplaced = m_unplaced.extract(key);
  count(std::uint64_t{owner.value()} << 32 | key.value());
  m_order.place(key, owner);
  if (owner == m_self)
    m_tasks.add_data(key, unplaced.mapped()(std::move(std::exchange(m_remote[key.index()], nullptr)->description)));
}

// The data of nobody among these.
void DistributedSubmitter::place(std::span<Access const> accesses) {
  ProcessId owner;
  bool written = false;
  for (auto const& access : accesses) {
    DataKey const key = key_of(access.data);
    if (!m_order.placed(key)) continue;
    if (!owner.valid() || (writes(access.mode) && !written)) owner = m_order.owner(key);
    written = written || writes(access.mode);
  }
  for (auto const& access : accesses) {
    DataKey const key = key_of(access.data);
    if (!m_order.known(key) || m_order.placed(key)) continue;
    if (!owner.valid()) owner = ProcessId(key.value() % m_processes);
    place(key, owner);
  }
}

void DistributedSubmitter::retain_data(DataKey key) {
  count(key.value());
  ++m_retained[key];
}

void DistributedSubmitter::release_data(DataId data) {
  DataKey const key = key_of(data);
  if (!m_order.known(key))
    throw InvalidArgument("data " + std::to_string(key.value()) + " is released but not registered");
  count(key.value());
  if (auto const more = m_retained.find(key); more != m_retained.end()) {
    if (--more->second == 0) m_retained.erase(more);
    return;
  }
  bool const own = m_order.owner(key) == m_self;
  m_unplaced.erase(key);
  m_order.release(key, [&](ProcessId reader) { let_go(key, reader); });
  own ? m_tasks.release_data(key) : m_remote[key.index()].reset();
}

void DistributedSubmitter::last_use(DataId data) {
  DataKey const key = key_of(data);
  count(~std::uint64_t{key.value()});
  m_order.last_use(key, [&](ProcessId reader) { let_go(key, reader); });
}

void DistributedSubmitter::let_go_of_all() {
  m_order.let_go_of_all();
  m_tasks.let_go_of_all();
}

TaskId DistributedSubmitter::submit(TaskSubmission const& submission, Parameters parameters) {
  if (!m_unplaced.empty()) place(submission.accesses);
  ProcessId process = m_order.process_of(submission.accesses);
  if (!process.valid()) process = ProcessId(0);
  auto const position = submission.position == TaskSubmission::next_position ? m_position : submission.position;
  m_position = position + 1;
  std::uint64_t accessed = submission.codelet.value();
  for (auto const& access : submission.accesses) {
    accessed =
        std::rotl(accessed, 21) ^ (std::uint64_t{access.data.value()} << 3 | static_cast<std::uint64_t>(access.mode));
  }
  count(accessed);
  if (process == m_self) return run(submission, position, std::move(parameters));
  m_order.pass_over(
      submission.accesses, process, m_self,
      [&](ValueId value) {
        auto placed = submission;
        placed.position = position;
        m_tasks.ship(value, process, placed);
      },
      [&](DataKey key) { m_tasks.let_go(key); });
  return {};
}

TaskId DistributedSubmitter::run(TaskSubmission submission, std::uint64_t position, Parameters parameters) {
  submission.position = position;
  m_incoming.clear();
  m_order.enter(
      submission.accesses, m_self,
      [&](ValueId value, ProcessId owner) {
        m_incoming.push_back({value, owner});
      },
      [](DataKey, ProcessId) {});
  return m_tasks.submit(submission, std::move(parameters), [&](DataKey key) {
    auto const incoming = std::ranges::find(m_incoming, key, [](Incoming const& in) { return in.value.key; });
    if (incoming == m_incoming.end()) {
      throw InvalidArgument("a task accesses data " + std::to_string(key.value()) + ", whose registration was refused");
    }
    auto const& remote = *m_remote[key.index()];
    return LocalTasks::Remote{incoming->owner, incoming->value, &remote.description,
                              add_incoming(m_tasks.incoming(remote.description), remote.keep)};
  });
}

}  // namespace granary::detail
