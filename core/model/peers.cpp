// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/model/peers.hpp>

#include <algorithm>

namespace granary {

detail::Machine with_peers(detail::Machine node, detail::Network const& network, std::uint32_t receives) {
  NodeId send_node;
  for (std::size_t n = 0; n < node.nodes.size(); ++n) {
    NodeId const id(static_cast<std::uint32_t>(n));
    if (node.nodes[n].kind == detail::NodeKind::Peers)
      throw InvalidArgument("memory node '" + node.nodes[n].name + "' stands for the other processes already");
    if (node.nodes[n].kind != detail::NodeKind::Host) continue;
    bool const works = std::ranges::find(node.workers, id, &detail::Worker::node) != node.workers.end();
    bool const first =
        !send_node.valid() || std::ranges::find(node.workers, send_node, &detail::Worker::node) == node.workers.end();
    if (!send_node.valid() || (works && first)) send_node = id;
  }
  if (!send_node.valid()) throw InvalidArgument("a process of a cluster needs host memory, and its machine has none");
  NodeId const peers = node.add_node({.name = "other processes", .kind = detail::NodeKind::Peers});
  // Received values compete in the network; what is sent never crosses a link of the planner.
  node.add_link(
      {.from = peers, .to = send_node, .bandwidth = network.bandwidth, .latency = network.latency, .width = receives});
  node.add_link({.from = send_node, .to = peers, .bandwidth = network.bandwidth, .latency = network.latency});
  return node;
}

}  // namespace granary
