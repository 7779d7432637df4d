// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/simulator/link_model.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace granary::detail {
namespace {

// Levels that differ by less are equal: sums of rates are not exact.
constexpr double same_level = 1 + 1e-12;

}  // namespace

LinkModel::LinkModel(Machine const& machine) {
  for (auto const& link : machine.links) {
    m_links.push_back(
        {.latency = link.latency, .bandwidth = link.bandwidth, .buses = link.buses, .in_order = link.in_order});
  }
  for (auto const& bus : machine.buses) m_buses.push_back({.bandwidth = bus.bandwidth});
}

void LinkModel::start(TransferId transfer, LinkId link, Bytes bytes, Instant now) {
  auto& state = m_links[link.index()];
  if (state.in_order && std::exchange(state.busy, true)) {
    state.behind.emplace_back(transfer, bytes);
    return;
  }
  begin(transfer, link, bytes, now);
  if (m_flows.back().flowing) share_bandwidth(now);
}

void LinkModel::begin_next(LinkId link, Instant now) {
  auto& state = m_links[link.index()];
  state.busy = !state.behind.empty();
  if (!state.busy) return;
  auto const [transfer, bytes] = state.behind.front();
  state.behind.pop_front();
  begin(transfer, link, bytes, now);
}

void LinkModel::begin(TransferId transfer, LinkId link, Bytes bytes, Instant now) {
  Duration const latency = m_links[link.index()].latency;
  Instant const change = now + latency;
  m_next = m_flows.empty() ? change : std::min(m_next, change);
  m_flows.push_back(
      {.transfer = transfer, .link = link, .remaining = static_cast<double>(bytes), .since = now, .change = change});
  if (latency == Duration{0}) begin_to_flow(m_flows.back());
}

std::vector<TransferId> const& LinkModel::advance(Instant now) {
  m_ended.clear();
  m_left.clear();
  bool changed = false;
  std::erase_if(m_flows, [&](Flow& flow) {
    if (flow.change > now) return false;
    changed = true;
    if (!flow.flowing) {
      begin_to_flow(flow);
      return false;
    }
    auto& link = m_links[flow.link.index()];
    if (--link.flowing == 0) std::erase(m_active, flow.link.value());
    m_ended.push_back(flow.transfer);
    if (link.in_order) m_left.push_back(flow.link);
    return true;
  });
  for (auto const link : m_left) begin_next(link, now);
  if (changed) share_bandwidth(now);
  return m_ended;
}

double LinkModel::rate(TransferId transfer) const {
  auto const flow = std::ranges::find(m_flows, transfer, &Flow::transfer);
  return flow == m_flows.end() ? 0 : flow->rate;
}

void LinkModel::begin_to_flow(Flow& flow) {
  flow.flowing = true;
  if (m_links[flow.link.index()].flowing++ == 0) m_active.push_back(flow.link.value());
}

void LinkModel::share_bandwidth(Instant now) {
  fill();
  m_next = Instant::max();
  for (auto& flow : m_flows) {
    if (flow.flowing) set_rate(flow, m_links[flow.link.index()].rate, now);
    m_next = std::min(m_next, flow.change);
  }
}

void LinkModel::fill() {
  for (auto& bus : m_buses) {
    bus.left = bus.bandwidth;
    bus.weight = 0;
  }
  m_filling.clear();
  for (auto const l : m_active) {
    auto& link = m_links[l];
    if (link.buses.empty()) {
      link.rate = link.bandwidth / link.flowing;
      continue;
    }
    link.full = false;
    m_filling.push_back(l);
    for (auto const bus : link.buses) m_buses[bus].weight += link.flowing;
  }
  while (!m_filling.empty()) stop_at(next_level());
}

// The lowest rate at which a link that is not full, or one of its buses, becomes full.
double LinkModel::next_level() const {
  double level = std::numeric_limits<double>::infinity();
  for (auto const l : m_filling) {
    auto const& link = m_links[l];
    level = std::min(level, link.bandwidth / link.flowing);
    for (auto const bus : link.buses) level = std::min(level, m_buses[bus].left / m_buses[bus].weight);
  }
  return level;
}

void LinkModel::stop_at(double level) {
  for (auto const l : m_filling) m_links[l].full = stops(m_links[l], level * same_level);
  std::erase_if(m_filling, [&](std::uint32_t l) {
    auto& link = m_links[l];
    if (!link.full) return false;
    link.rate = level;
    for (auto const bus : link.buses) {
      m_buses[bus].left -= level * link.flowing;
      m_buses[bus].weight -= link.flowing;
    }
    return true;
  });
}

bool LinkModel::stops(LinkState const& link, double level) const {
  if (link.bandwidth / link.flowing <= level) return true;
  return std::ranges::any_of(link.buses, [&](std::uint32_t b) { return m_buses[b].left / m_buses[b].weight <= level; });
}

void LinkModel::set_rate(Flow& flow, double rate, Instant now) {
  if (flow.rate == rate) return;
  flow.remaining = std::max(0.0, flow.remaining - flow.rate * seconds(now - flow.since));
  flow.since = now;
  flow.rate = rate;
  // Round up to the next nanosecond; the margin absorbs rounding errors of exact quotients.
  double const left = std::ceil(flow.remaining / rate * 1e9 - 1e-3);
  flow.change = now + (left < 0x1p62 ? Duration(static_cast<Duration::rep>(left)) : longest_duration);
}

}  // namespace granary::detail
