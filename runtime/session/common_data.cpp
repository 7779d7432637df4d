// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/runtime/session/common_data.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

namespace granary::detail {

CommonData::CommonData(Processes& processes, Distribution const& grid, Engine& engine, NodeId peers, Exchange& exchange)
    : DistributedSubmitter(
          processes.self(),
          [grid](DataDescription const& datum, std::uint64_t) {
            return datum.position.row < 0 ? CommonOrder::nobody : grid.owner(datum.position);
          },
          engine, peers, exchange, processes.count()),
      m_processes(processes),
      m_engine(engine) {
  processes.connect(exchange, engine);
}

DataKey CommonData::add_view(DataDescription description, ByteSet const& bytes, Registration registration,
                             std::shared_ptr<void const> keep) {
  if (DataKey const earlier = key_of(m_views.find(bytes)); earlier.valid()) {
    retain_data(earlier);
    m_kept.push_back(std::move(keep));
    return earlier;
  }
  DataKey const key = add_data(std::move(description), std::move(registration), std::move(keep));
  m_views.add(submitted_id(key), bytes);
  m_view_of.emplace(key, bytes);
  if (owner(key) != CommonOrder::nobody) placing(key, owner(key));
  return key;
}

void CommonData::release_data(DataId submitted) {
  DistributedSubmitter::release_data(submitted);
  DataKey const key = key_of(submitted);
  if (known(key)) return;
  m_views.forget(submitted);
  m_view_of.erase(key);
}

std::string CommonData::name_of(DataKey key) const {
  if (DataId const own = local(key); own.valid()) return m_engine.name_of(own);
  auto const* const other = description(key);
  return other != nullptr ? other->name : "data " + std::to_string(key.value());
}

// Each process has its own memory: Views that share bytes in it would have different values in different processes.
void CommonData::placing(DataKey key, ProcessId owner_of_key) {
  auto const view = m_view_of.find(key);
  if (view == m_view_of.end()) return;
  for (auto const& shared : m_views.sharing(view->second)) {
    DataKey const other = key_of(shared.other);
    if (other == key || owner(other) == CommonOrder::nobody || owner(other) == owner_of_key) continue;
    throw InvalidArgument("'" + name_of(key) + "' of process " + std::to_string(owner_of_key.value()) +
                          " shares bytes with '" + name_of(other) + "' of process " +
                          std::to_string(owner(other).value()) + ": with several processes, such Views need one owner");
  }
}

void CommonData::wait() {
  settle([this] {
    let_go_of_all();
    m_engine.wait();
  });
  m_kept.clear();
}

void CommonData::wait(std::span<DataKey const> keys, std::span<DataKey const> also) {
  auto const own = [this](std::span<DataKey const> all) {
    std::vector<DataId> ids;
    for (DataKey const key : all) {
      if (DataId const id = local(key); id.valid()) ids.push_back(id);
    }
    return ids;
  };
  settle([&] {
    // Readers hold values of these data until then.
    for (DataKey const key : keys) last_use(submitted_id(key));
    for (DataKey const key : also) last_use(submitted_id(key));
    auto const ids = own(keys), others = own(also);
    if (!ids.empty() || !others.empty()) m_engine.wait(ids, others);
  });
}

// All processes throw the same.
template <class Wait>
void CommonData::settle(Wait&& wait) {
  std::shared_ptr<FailureOrigin const> failure;
  try {
    wait();
  } catch (...) {
    auto const thrown = std::current_exception();
    auto const& reported = m_engine.failures();
    auto const found = std::ranges::find(reported, thrown, &Failure::error);
    failure = origin_of(found != reported.end() ? *found : Failure{.position = 0, .error = thrown}, m_processes.self());
  }
  if (auto const first = m_processes.agree(order(), failure)) rethrow_origin(first);
}

std::shared_ptr<FailureOrigin const> CommonData::give_up(std::exception_ptr const& why, int status) {
  m_gave_up = true;
  m_engine.cancel(why);
  auto const ours = origin_of({.position = 0, .error = why}, m_processes.self());
  auto first = m_processes.leave(order(), ours, status);
  let_go_of_all();
  try {
    m_engine.wait();
  } catch (...) {  // NOLINT(bugprone-empty-catch): of tasks that were cancelled
  }
  m_processes.barrier();
  return first;
}

}  // namespace granary::detail
