// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/engine/copy_commands.hpp>

#include <granary/detail/core/base/error.hpp>

#include <string>
#include <thread>
#include <utility>

namespace granary::detail {

CopyCommands::CopyCommands(Machine const& machine, std::vector<std::shared_ptr<CopyBackend>> by_link,
                           std::function<void(TransferId, std::exception_ptr)> report)
    : m_by_link(std::move(by_link)), m_report(std::move(report)) {
  m_by_link.resize(machine.links.size());
  for (std::size_t l = 0; l < m_by_link.size(); ++l) {
    if (m_by_link[l]) continue;
    auto const& link = machine.links[l];
    auto const is_peers = [&](NodeId node) { return machine[node].kind == NodeKind::Peers; };
    if (is_peers(link.from) || is_peers(link.to)) continue;
    throw InvalidArgument("the link from '" + machine[link.from].name + "' to '" + machine[link.to].name +
                          "' has no backend for its copies");
  }
}

void CopyCommands::wait() const {
  while (m_under_way.load() != 0) std::this_thread::yield();
}

CopyCommands::Job CopyCommands::prepare(CopyCommand const& copy, CopyRequest const& request) {
  m_under_way.fetch_add(1);
  ++m_active;
  return {m_by_link[copy.link.index()].get(), copy.transfer, request};
}

void CopyCommands::start(Job const& job) {
  try {
    job.backend->copy_async(
        job.request, [this, transfer = job.transfer](std::exception_ptr error) { ended(transfer, std::move(error)); });
  } catch (...) {
    ended(job.transfer, std::current_exception());
  }
}

void CopyCommands::ended(TransferId transfer, std::exception_ptr error) {
  m_report(transfer, std::move(error));
  m_under_way.fetch_sub(1);  // last: the owner may be destroyed after this
}

void CopyCommands::forget(DataId data) {
  for (auto const& backend : m_by_link) {
    if (backend) backend->forget(data);
  }
}

}  // namespace granary::detail
