// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/simulator/link_model.hpp>

#include <algorithm>
#include <cmath>

namespace granary {

LinkModel::LinkModel(Machine const& machine) : m_machine(machine), m_link_rate(machine.links.size(), 0.0) {
  for (auto const& link : machine.links) {
    if (link.bus == 0) continue;
    auto const known = std::ranges::find(m_buses, link.bus);
    if (known == m_buses.end()) {
      m_buses.push_back(link.bus);
      m_bus_bandwidth.push_back(link.bandwidth);
    } else {
      auto& bandwidth = m_bus_bandwidth[static_cast<std::size_t>(known - m_buses.begin())];
      bandwidth = std::max(bandwidth, link.bandwidth);
    }
  }
}

void LinkModel::start(TransferId transfer, LinkId link, Bytes bytes, Instant now) {
  move_bytes(now);
  Duration const latency = m_machine[link].latency;
  Flow flow{.transfer = transfer, .link = link, .remaining = static_cast<double>(bytes), .change = now + latency};
  flow.flowing = latency <= Duration{0};
  m_flows.push_back(flow);
  if (flow.flowing) share_bandwidth();
}

std::optional<Instant> LinkModel::next_change() const {
  if (m_flows.empty()) return std::nullopt;
  return std::ranges::min_element(m_flows, {}, &Flow::change)->change;
}

std::vector<TransferId> LinkModel::advance(Instant now) {
  move_bytes(now);
  std::vector<TransferId> ended;
  bool changed = false;
  std::erase_if(m_flows, [&](Flow& flow) {
    if (flow.change > now) return false;
    changed = true;
    if (!flow.flowing) {
      flow.flowing = true;
      return false;
    }
    ended.push_back(flow.transfer);
    return true;
  });
  if (changed) share_bandwidth();
  return ended;
}

double LinkModel::rate(TransferId transfer) const {
  auto const flow = std::ranges::find(m_flows, transfer, &Flow::transfer);
  return flow == m_flows.end() ? 0 : flow->rate;
}

void LinkModel::move_bytes(Instant now) {
  double const elapsed = seconds(now - m_now);
  m_now = now;
  for (auto& flow : m_flows) flow.remaining = std::max(0.0, flow.remaining - flow.rate * elapsed);
}

void LinkModel::share_bandwidth() {
  std::vector<std::size_t> flows(m_machine.links.size(), 0);
  for (auto const& flow : m_flows) flows[flow.link.index()] += flow.flowing ? 1 : 0;
  std::vector<std::vector<Share>> on_bus(m_buses.size());
  for (std::size_t l = 0; l < flows.size(); ++l) {
    if (flows[l] == 0) continue;
    auto const& link = m_machine.links[l];
    m_link_rate[l] = link.bandwidth / static_cast<double>(flows[l]);
    if (link.bus == 0) continue;
    auto const bus = static_cast<std::size_t>(std::ranges::find(m_buses, link.bus) - m_buses.begin());
    on_bus[bus].push_back({LinkId(static_cast<std::uint32_t>(l)), m_link_rate[l], flows[l]});
  }
  for (std::size_t b = 0; b < on_bus.size(); ++b) fill(on_bus[b], m_bus_bandwidth[b]);
  for (auto& flow : m_flows) {
    if (flow.flowing) set_rate(flow, m_link_rate[flow.link.index()]);
  }
}

// The slowest flows first: each takes its own link's share or, if that is less, an equal part of what is left of the
// bus.
void LinkModel::fill(std::vector<Share>& shares, double capacity) {
  std::ranges::stable_sort(shares, {}, &Share::each);
  std::size_t left = 0;
  for (auto const& share : shares) left += share.flows;
  for (auto const& share : shares) {
    double const each = std::min(share.each, capacity / static_cast<double>(left));
    m_link_rate[share.link.index()] = each;
    capacity -= each * static_cast<double>(share.flows);
    left -= share.flows;
  }
}

void LinkModel::set_rate(Flow& flow, double rate) const {
  if (flow.rate == rate) return;
  flow.rate = rate;
  // Up to the next nanosecond; the margin keeps exact quotients where rounding lifted them a little.
  flow.change = m_now + Duration(static_cast<Duration::rep>(std::ceil(flow.remaining / rate * 1e9 - 1e-3)));
}

}  // namespace granary
