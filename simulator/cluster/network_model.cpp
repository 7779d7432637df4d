// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/base/error.hpp>
#include <granary/simulator/cluster/network_model.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace granary {

NetworkModel::NetworkModel(std::uint32_t processes, Network const& network, std::uint32_t sends)
    : m_network(network), m_sends(sends), m_ends(processes) {
  if (!(network.bandwidth >= least_bandwidth && network.bandwidth <= most_bandwidth)) {
    throw InvalidArgument("the network needs a bandwidth from 1 to 1e18 bytes per second, not " +
                          std::to_string(network.bandwidth));
  }
  if (network.latency < Duration{0} || network.latency > most_latency) {
    throw InvalidArgument("the network has a latency of " + std::to_string(seconds(network.latency)) +
                          " s; it must be from 0 to 1000 s");
  }
  if (sends == 0) throw InvalidArgument("a process must be able to send at least one value at once");
}

void NetworkModel::send(ProcessId from, ProcessId to, Bytes bytes, std::int64_t priority, std::uint64_t token,
                        Instant now) {
  m_ends[from.index()].waiting.push({priority, m_sent++, to, bytes, token});
  start_next(from, now);
}

void NetworkModel::start_next(ProcessId from, Instant now) {
  auto& end = m_ends[from.index()];
  if (end.sending == m_sends || end.waiting.empty()) return;
  ++end.sending;
  auto const next = end.waiting.top();
  end.waiting.pop();
  auto index = static_cast<std::uint32_t>(m_transfers.size());
  if (m_free.empty()) {
    m_transfers.emplace_back();
    m_numbers.emplace_back();
  } else {
    index = m_free.back();
    m_free.pop_back();
  }
  m_transfers[index] = {
      .from = from, .to = next.to, .token = next.token, .remaining = static_cast<double>(next.bytes), .since = now};
  m_numbers[index] = next.number;
  m_changes.set(index, {now + m_network.latency, next.number});
}

std::optional<std::uint64_t> NetworkModel::advance() {
  auto const index = static_cast<std::uint32_t>(m_changes.top());
  Instant const now = m_changes.top_key().at;
  auto& transfer = m_transfers[index];
  auto& source = m_ends[transfer.from.index()];
  auto& destination = m_ends[transfer.to.index()];
  if (transfer.rate == 0) {
    source.outgoing.push_back(index);
    destination.incoming.push_back(index);
    share(transfer.from, transfer.to, now);
    return std::nullopt;
  }
  auto const [from, to, token] = std::tuple(transfer.from, transfer.to, transfer.token);
  std::erase(source.outgoing, index);
  std::erase(destination.incoming, index);
  m_changes.erase(index);
  m_free.push_back(index);
  --source.sending;
  share(from, to, now);
  start_next(from, now);
  return token;
}

void NetworkModel::share(ProcessId from, ProcessId to, Instant now) {
  for (auto const index : m_ends[from.index()].outgoing) set_rate(index, now);
  for (auto const index : m_ends[to.index()].incoming) {
    if (m_transfers[index].from != from) set_rate(index, now);
  }
}

void NetworkModel::set_rate(std::uint32_t index, Instant now) {
  auto& transfer = m_transfers[index];
  auto const sharing =
      std::max(m_ends[transfer.from.index()].outgoing.size(), m_ends[transfer.to.index()].incoming.size());
  double const rate = m_network.bandwidth / static_cast<double>(sharing);
  if (rate == transfer.rate) return;
  transfer.remaining = std::max(0.0, transfer.remaining - transfer.rate * seconds(now - transfer.since));
  transfer.since = now;
  transfer.rate = rate;
  // Rounded up to the next nanosecond; the margin absorbs rounding errors of exact quotients.
  double const left = std::ceil(transfer.remaining / rate * 1e9 - 1e-3);
  m_changes.set(
      index, {now + (left < 0x1p62 ? Duration(static_cast<Duration::rep>(left)) : longest_duration), m_numbers[index]});
}

}  // namespace granary
