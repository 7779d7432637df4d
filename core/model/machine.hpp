// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace granary::detail {

enum class GRANARY_EXPORT NodeKind : std::uint8_t {
  Host,
  Device,
  Disk,
  Peers,  ///< the other processes: one node for all of them, the home of values that come from there
};
enum class GRANARY_EXPORT WorkerKind : std::uint8_t { Cpu, Device };
inline constexpr std::size_t worker_kinds = 2;

inline constexpr Bytes unbounded = std::numeric_limits<Bytes>::max() / 4;

/// Limits for links and buses: bandwidths in bytes per second, and latencies from 0 to `most_latency`. They keep the
/// times of transfers representable.
inline constexpr double least_bandwidth = 1;
inline constexpr double most_bandwidth = 1e18;
inline constexpr Duration most_latency = std::chrono::seconds(1000);
/// Limit on memory nodes: finding the routes takes O(nodes^3).
inline constexpr std::size_t most_nodes = 256;

/// A bounded place for bytes.
struct GRANARY_EXPORT MemoryNode {
  std::string name;
  NodeKind kind = NodeKind::Host;
  Bytes capacity = unbounded;  ///< limit of the sum of the replicas on this node
  Bytes alignment = 1;         ///< every replica's offset and size are rounded up to a multiple of this
};

/// Shared by several links: a switch, a socket's connection to its memory, a disk's head.
struct GRANARY_EXPORT Bus {
  std::string name;
  double bandwidth = 1e9;  ///< bytes per second, shared fairly by all transfers that cross it
};

/// A directed channel between two nodes.
struct GRANARY_EXPORT Link {
  NodeId from;
  NodeId to;
  double bandwidth = 1e9;              ///< bytes per second, when no bus limits it
  Duration latency{0};                 ///< per transfer
  std::uint32_t width = 1;             ///< transfers in flight at once, at least 1
  std::vector<std::uint32_t> buses{};  ///< indices into Machine::buses; crossed twice when named twice
  bool in_order = false;  ///< one transfer after the other, as copies in a stream; otherwise they share the bandwidth
};

/// An in-order lane of execution with one local memory node.
struct GRANARY_EXPORT Worker {
  std::string name;
  NodeId node;
  WorkerKind kind = WorkerKind::Cpu;
  std::string model{};    ///< selects the kernel times of its model; empty: by kind
  double peak_flops = 0;  ///< theoretical peak, operations per second; 0 when unknown
};

/// The network between the processes of a cluster.
struct GRANARY_EXPORT Network {
  double bandwidth = 1e9;  ///< bytes per second of a process' connection, in each direction
  Duration latency{0};     ///< per transfer, and of a message
};

/// Hardware as plain data.
struct GRANARY_EXPORT Machine {
  std::vector<MemoryNode> nodes;
  std::vector<Link> links;
  std::vector<Worker> workers;
  std::vector<Bus> buses;

  NodeId add_node(MemoryNode node);
  LinkId add_link(Link link);
  /// Returns the bus' number, for Link::buses.
  std::uint32_t add_bus(Bus bus);
  /// Two links, one in each direction, of the same speed; returns the one from `a` to `b`, the other follows it.
  LinkId add_link_pair(NodeId a, NodeId b, double bandwidth, Duration latency = Duration{0}, std::uint32_t width = 1,
                       std::vector<std::uint32_t> const& buses = {});
  WorkerId add_worker(Worker worker);
  /// Bytes per second of a single transfer on the link when its buses are idle.
  [[nodiscard]] double bandwidth_alone(Link const& link) const;
  /// True if transfers of the two links compete.
  [[nodiscard]] static bool share_a_bus(Link const& a, Link const& b);

  [[nodiscard]] MemoryNode const& operator[](NodeId id) const { return nodes[id.index()]; }
  [[nodiscard]] Link const& operator[](LinkId id) const { return links[id.index()]; }
  [[nodiscard]] Worker const& operator[](WorkerId id) const { return workers[id.index()]; }
};

/// Workers of one kind on one node.
struct GRANARY_EXPORT WorkerGroup {
  NodeId node;
  WorkerKind kind = WorkerKind::Cpu;
  std::vector<WorkerId> workers;
};

/// A machine with its worker groups and the shortest routes between nodes.
class GRANARY_EXPORT Topology {
 public:
  /// Throws InvalidArgument when a link or a worker names a node or bus that does not exist, a width is 0, a bandwidth
  /// or a latency is out of range, there are more than 64 groups or `most_nodes` nodes, a node cannot be reached from
  /// another, or there are several nodes of other processes, or workers on one.
  explicit Topology(Machine machine);

  [[nodiscard]] Machine const& machine() const { return m_machine; }
  [[nodiscard]] std::vector<WorkerGroup> const& groups() const { return m_groups; }
  [[nodiscard]] WorkerGroup const& group(GroupId id) const { return m_groups[id.index()]; }
  [[nodiscard]] GroupId group_of(WorkerId worker) const { return m_group_of[worker.index()]; }
  /// The groups whose workers use `node` as their local memory.
  [[nodiscard]] std::vector<GroupId> const& groups_on(NodeId node) const { return m_groups_on[node.index()]; }
  /// The first link of the fastest route (time for 1 MiB); invalid when `from` is `to`.
  [[nodiscard]] LinkId next_hop(NodeId from, NodeId to) const { return m_next_hop[pair(from, to)]; }
  /// The time to move `bytes` along the route without other transfers.
  [[nodiscard]] Duration route_time(NodeId from, NodeId to, Bytes bytes) const;
  /// The node that stands for the other processes; invalid: there are none.
  [[nodiscard]] NodeId peers() const { return m_peers; }
  /// The node from which values are sent to other processes: the one before `peers`.
  [[nodiscard]] NodeId send_node() const { return m_send_node; }
  /// True if some route between two other nodes passes through this one.
  [[nodiscard]] bool between_others(NodeId node) const { return m_between[node.index()]; }

 private:
  [[nodiscard]] std::size_t pair(NodeId from, NodeId to) const {
    return from.index() * m_machine.nodes.size() + to.index();
  }
  void check() const;
  void make_groups();
  void make_routes();
  void find_peers();

  Machine m_machine;
  std::vector<WorkerGroup> m_groups;
  std::vector<GroupId> m_group_of;
  std::vector<std::vector<GroupId>> m_groups_on;
  std::vector<LinkId> m_next_hop;
  std::vector<double> m_bandwidths;  // by link: bandwidth_alone
  std::vector<bool> m_between;
  NodeId m_peers;
  NodeId m_send_node;
};

}  // namespace granary::detail
