// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/model/group_set.hpp>
#include <granary/detail/core/model/machine.hpp>

#include <algorithm>

namespace granary::detail {

NodeId Machine::add_node(MemoryNode node) {
  nodes.push_back(std::move(node));
  return NodeId(static_cast<std::uint32_t>(nodes.size() - 1));
}

LinkId Machine::add_link(Link link) {
  links.push_back(std::move(link));
  return LinkId(static_cast<std::uint32_t>(links.size() - 1));
}

std::uint32_t Machine::add_bus(Bus bus) {
  buses.push_back(std::move(bus));
  return static_cast<std::uint32_t>(buses.size() - 1);
}

LinkId Machine::add_link_pair(NodeId a, NodeId b, double bandwidth, Duration latency, std::uint32_t width,
                              std::vector<std::uint32_t> const& crossed) {
  LinkId const first = add_link({a, b, bandwidth, latency, width, crossed});
  add_link({b, a, bandwidth, latency, width, crossed});
  return first;
}

double Machine::bandwidth_alone(Link const& link) const {
  double alone = link.bandwidth;
  for (auto const bus : link.buses) {
    alone = std::min(alone, buses[bus].bandwidth / static_cast<double>(std::ranges::count(link.buses, bus)));
  }
  return alone;
}

bool Machine::share_a_bus(Link const& a, Link const& b) {
  return std::ranges::find_first_of(a.buses, b.buses) != a.buses.end();
}

WorkerId Machine::add_worker(Worker worker) {
  workers.push_back(std::move(worker));
  return WorkerId(static_cast<std::uint32_t>(workers.size() - 1));
}

Topology::Topology(Machine machine) : m_machine(std::move(machine)) {
  check();
  for (auto const& link : m_machine.links) m_bandwidths.push_back(m_machine.bandwidth_alone(link));
  make_groups();
  make_routes();
  find_peers();
}

namespace {

void check_bandwidth(double bandwidth, std::string const& what) {
  if (bandwidth >= least_bandwidth && bandwidth <= most_bandwidth) return;
  throw InvalidArgument(what + " needs a bandwidth from 1 to 1e18 bytes per second, not " + std::to_string(bandwidth));
}

}  // namespace

void Topology::check() const {
  if (m_machine.nodes.size() > most_nodes) {
    throw InvalidArgument("the machine has " + std::to_string(m_machine.nodes.size()) + " memory nodes; the limit is " +
                          std::to_string(most_nodes));
  }
  auto const known = [&](NodeId node) { return node.index() < m_machine.nodes.size(); };
  for (auto const& node : m_machine.nodes) {
    if (node.alignment == 0)
      throw InvalidArgument("memory node '" + node.name + "' has alignment 0; it must be at least 1");
  }
  for (auto const& link : m_machine.links) {
    if (!known(link.from) || !known(link.to)) throw InvalidArgument("a link names a memory node that does not exist");
    auto const between = "from '" + m_machine[link.from].name + "' to '" + m_machine[link.to].name + "'";
    check_bandwidth(link.bandwidth, "the link " + between);
    if (link.width == 0) throw InvalidArgument("the link " + between + " needs a width of at least 1");
    if (link.latency < Duration{0} || link.latency > most_latency) {
      throw InvalidArgument("the link " + between + " has a latency of " + std::to_string(seconds(link.latency)) +
                            " s; it must be from 0 to 1000 s");
    }
    for (auto const bus : link.buses) {
      if (bus < m_machine.buses.size()) continue;
      throw InvalidArgument("the link " + between + " crosses bus " + std::to_string(bus) + "; the machine has " +
                            std::to_string(m_machine.buses.size()));
    }
  }
  for (auto const& bus : m_machine.buses) {
    check_bandwidth(bus.bandwidth, "the bus '" + bus.name + "'");
  }
  for (auto const& worker : m_machine.workers) {
    if (!known(worker.node))
      throw InvalidArgument("worker '" + worker.name + "' is on a memory node that does not exist");
  }
}

void Topology::make_groups() {
  m_groups_on.resize(m_machine.nodes.size());
  for (std::size_t w = 0; w < m_machine.workers.size(); ++w) {
    auto const& worker = m_machine.workers[w];
    auto const same = std::ranges::find_if(
        m_groups, [&](WorkerGroup const& g) { return g.node == worker.node && g.kind == worker.kind; });
    GroupId const id(static_cast<std::uint32_t>(same - m_groups.begin()));
    if (same == m_groups.end()) {
      m_groups.push_back({worker.node, worker.kind, {}});
      m_groups_on[worker.node.index()].push_back(id);
    }
    m_groups[id.index()].workers.push_back(WorkerId(static_cast<std::uint32_t>(w)));
    m_group_of.push_back(id);
  }
  if (m_groups.size() > GroupSet::capacity) {
    throw InvalidArgument("the machine has " + std::to_string(m_groups.size()) + " worker groups; the limit is " +
                          std::to_string(GroupSet::capacity));
  }
}

void Topology::make_routes() {
  // Floyd-Warshall on the time of 1 MiB: machines have few nodes.
  std::size_t const n = m_machine.nodes.size();
  constexpr double far = std::numeric_limits<double>::infinity();
  std::vector<double> time(n * n, far);
  m_next_hop.assign(n * n, LinkId{});
  for (std::size_t i = 0; i < n; ++i) time[i * n + i] = 0;
  for (std::size_t l = 0; l < m_machine.links.size(); ++l) {
    auto const& link = m_machine.links[l];
    double const t = seconds(link.latency) + 0x1p20 / m_bandwidths[l];
    if (t >= time[pair(link.from, link.to)]) continue;
    time[pair(link.from, link.to)] = t;
    m_next_hop[pair(link.from, link.to)] = LinkId(static_cast<std::uint32_t>(l));
  }
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        double const through = time[i * n + k] + time[k * n + j];
        if (through >= time[i * n + j]) continue;
        time[i * n + j] = through;
        m_next_hop[i * n + j] = m_next_hop[i * n + k];
      }
    }
  }
  m_between.assign(n, false);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (time[i * n + j] == far) {
        throw InvalidArgument("there is no route from memory node '" + m_machine.nodes[i].name + "' to '" +
                              m_machine.nodes[j].name + "'");
      }
      NodeId const to(static_cast<std::uint32_t>(j));
      for (NodeId at(static_cast<std::uint32_t>(i)); at != to;) {
        at = m_machine[next_hop(at, to)].to;
        if (at != to) m_between[at.index()] = true;
      }
    }
  }
}

void Topology::find_peers() {
  for (std::size_t n = 0; n < m_machine.nodes.size(); ++n) {
    if (m_machine.nodes[n].kind != NodeKind::Peers) continue;
    auto const& name = m_machine.nodes[n].name;
    if (m_peers.valid()) {
      throw InvalidArgument("the memory nodes '" + m_machine[m_peers].name + "' and '" + name +
                            "' both stand for the other processes; there may be one");
    }
    if (!m_groups_on[n].empty())
      throw InvalidArgument("memory node '" + name + "' stands for the other processes and has workers");
    m_peers = NodeId(static_cast<std::uint32_t>(n));
  }
  auto const into = std::ranges::find(m_machine.links, m_peers, &Link::to);
  if (m_peers.valid() && into != m_machine.links.end()) m_send_node = into->from;
}

Duration Topology::route_time(NodeId from, NodeId to, Bytes bytes) const {
  Duration total{0};
  while (from != to) {
    LinkId const hop = next_hop(from, to);
    auto const& link = m_machine[hop];
    total += link.latency + from_seconds(static_cast<double>(bytes) / m_bandwidths[hop.index()]);
    from = link.to;
  }
  return total;
}

}  // namespace granary::detail
