// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/simulator/cluster/network_model.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <tuple>

namespace granary::detail {

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
  auto const& transfer = m_transfers[index];
  auto const [from, to, token] = std::tuple(transfer.from, transfer.to, transfer.token);
  if (transfer.rate == 0) {
    m_ends[from.index()].out.transfers.push_back(index);
    m_ends[to.index()].in.transfers.push_back(index);
    share(from, to, now);
    return std::nullopt;
  }
  end(index);
  share(from, to, now);
  start_next(from, now);
  return token;
}

void NetworkModel::end(std::uint32_t index) {
  auto const& transfer = m_transfers[index];
  auto& source = m_ends[transfer.from.index()];
  for (auto* direction : {&source.out, &m_ends[transfer.to.index()].in}) {
    std::erase(direction->transfers, index);
    direction->used = direction->transfers.empty() ? 0 : direction->used - transfer.rate;
  }
  --source.sending;
  m_changes.erase(index);
  m_free.push_back(index);
}

double NetworkModel::unused(Direction const& direction) const {
  return std::max(0.0, m_network.bandwidth - direction.used);
}

// The sender offers the transfers between the two what it has for them, of which the receiver grants a part, and the
// others of the sender share the rest.
void NetworkModel::share(ProcessId from, ProcessId to, Instant now) {
  m_offers.resize(m_transfers.size());
  for (auto const index : m_ends[from.index()].out.transfers) m_offers[index] = m_network.bandwidth;
  share_out(from, to);
  for (auto const& [rate, index] : m_out) m_offers[index] = rate;
  share_in(from, to);
  bool granted = true;
  for (auto const& [rate, index] : m_in) {
    granted = granted && (m_transfers[index].from != from || rate == m_offers[index]);
    m_offers[index] = rate;
  }
  if (!granted) share_out(from, to);
  std::erase_if(m_in, [&](Share const& share) { return m_transfers[share.transfer].from == from; });
  m_out.insert(m_out.end(), m_in.begin(), m_in.end());
  // Smaller rates first: they make room at the other ends, where several transfers may have been offered the same.
  for (bool const smaller : {true, false}) {
    for (auto const& [rate, index] : m_out) {
      if ((rate < m_transfers[index].rate) == smaller) set_rate(index, rate, now);
    }
  }
}

void NetworkModel::share_out(ProcessId from, ProcessId to) {
  m_out.clear();
  for (auto const index : m_ends[from.index()].out.transfers) {
    auto const& transfer = m_transfers[index];
    m_out.push_back(
        {transfer.to == to ? m_offers[index] : transfer.rate + unused(m_ends[transfer.to.index()].in), index});
  }
  divide(m_out);
}

void NetworkModel::share_in(ProcessId from, ProcessId to) {
  m_in.clear();
  for (auto const index : m_ends[to.index()].in.transfers) {
    auto const& transfer = m_transfers[index];
    m_in.push_back(
        {transfer.from == from ? m_offers[index] : transfer.rate + unused(m_ends[transfer.from.index()].out), index});
  }
  divide(m_in);
}

// Max-min fair: the transfer that may get least comes first, and leaves the rest to the others.
void NetworkModel::divide(std::vector<Share>& shares) const {
  std::ranges::sort(shares, std::less<>{});
  double left = m_network.bandwidth;
  auto sharing = static_cast<double>(shares.size());
  for (auto& share : shares) {
    share.rate = std::min(share.rate, left / sharing);
    left -= share.rate;
    sharing -= 1;
  }
}

void NetworkModel::set_rate(std::uint32_t index, double rate, Instant now) {
  auto& transfer = m_transfers[index];
  auto& out = m_ends[transfer.from.index()].out;
  auto& in = m_ends[transfer.to.index()].in;
  rate = std::min(rate, transfer.rate + std::min(unused(out), unused(in)));
  // Rounding errors are no change, and never leave a transfer without a rate.
  rate = std::max(rate, m_network.bandwidth * 1e-9);
  if (std::abs(rate - transfer.rate) <= 1e-9 * rate) return;
  out.used += rate - transfer.rate;
  in.used += rate - transfer.rate;
  transfer.remaining = std::max(0.0, transfer.remaining - transfer.rate * seconds(now - transfer.since));
  transfer.since = now;
  transfer.rate = rate;
  // Rounded up to the next nanosecond; the margin absorbs rounding errors of exact quotients.
  double const left = std::ceil(transfer.remaining / rate * 1e9 - 1e-3);
  m_changes.set(
      index, {now + (left < 0x1p62 ? Duration(static_cast<Duration::rep>(left)) : longest_duration), m_numbers[index]});
}

}  // namespace granary::detail
