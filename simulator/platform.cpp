// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/simulator/platform.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace granary {
namespace {

constexpr double seconds_without_flops = 10e-6;

// The name of the operation on real scalars.
std::string_view on_real_scalars(std::string_view codelet) { return codelet == "herk" ? "syrk" : codelet; }

std::vector<bool> all_of(std::size_t n, bool value) { return std::vector<bool>(n, value); }

// Also keeps the nodes on the routes between kept nodes.
void keep_routes(detail::Machine const& machine, std::vector<bool>& keep) {
  detail::Topology const topology(machine);
  auto const id = [](std::size_t n) { return NodeId(static_cast<std::uint32_t>(n)); };
  auto const ends = keep;
  for (std::size_t i = 0; i < keep.size(); ++i) {
    for (std::size_t j = 0; j < keep.size(); ++j) {
      if (!ends[i] || !ends[j]) continue;
      for (NodeId at = id(i); at != id(j); at = machine[topology.next_hop(at, id(j))].to) keep[at.index()] = true;
    }
  }
}

// The new numbers of the kept entries.
std::vector<std::uint32_t> renumber(std::vector<bool> const& keep) {
  std::vector<std::uint32_t> numbers;
  std::uint32_t next = 0;
  for (bool const kept : keep) numbers.push_back(kept ? next++ : 0);
  return numbers;
}

detail::Machine part_of(detail::Machine const& whole, std::vector<bool> const& nodes,
                        std::vector<bool> const& workers) {
  auto const new_node = renumber(nodes);
  auto buses = all_of(whole.buses.size(), false);
  for (auto const& link : whole.links) {
    if (!nodes[link.from.index()] || !nodes[link.to.index()]) continue;
    for (auto const bus : link.buses) buses[bus] = true;
  }
  auto const new_bus = renumber(buses);
  detail::Machine part;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (nodes[n]) part.add_node(whole.nodes[n]);
  }
  for (std::size_t b = 0; b < buses.size(); ++b) {
    if (buses[b]) part.add_bus(whole.buses[b]);
  }
  for (detail::Link link : whole.links) {
    if (!nodes[link.from.index()] || !nodes[link.to.index()]) continue;
    link.from = NodeId(new_node[link.from.index()]);
    link.to = NodeId(new_node[link.to.index()]);
    for (auto& bus : link.buses) bus = new_bus[bus];
    part.add_link(std::move(link));
  }
  for (std::size_t w = 0; w < workers.size(); ++w) {
    if (!workers[w]) continue;
    detail::Worker worker = whole.workers[w];
    worker.node = NodeId(new_node[worker.node.index()]);
    part.add_worker(std::move(worker));
  }
  return part;
}

}  // namespace

double detail::KernelTimes::seconds_per_flop(double flops) const {
  if (points.empty()) return 1 / flops_per_second;
  auto const per_flop = [](Point const& point) { return point.seconds / point.flops; };
  auto const above = std::ranges::lower_bound(points, flops, {}, &Point::flops);
  if (above == points.begin()) return per_flop(points.front());
  if (above == points.end()) return per_flop(points.back());
  auto const below = std::prev(above);
  double const way = std::log(flops / below->flops) / std::log(above->flops / below->flops);
  return per_flop(*below) + way * (per_flop(*above) - per_flop(*below));
}

double detail::KernelTimes::seconds(double flops) const {
  return flops > 0 ? flops * seconds_per_flop(flops) : seconds_without_flops;
}

double detail::KernelTimes::share(double flops) const {
  if (!(flops > 0)) return 0;
  double least = seconds_per_flop(flops);
  double const own = least;
  for (auto const& point : points) least = std::min(least, point.seconds / point.flops);
  return least / own;
}

std::string_view Platform::model_of(detail::Worker const& worker) {
  if (!worker.model.empty()) return worker.model;
  return worker.kind == detail::WorkerKind::Cpu ? "cpu" : "device";
}

bool Platform::names(std::string_view codelet, detail::Precision precision) const {
  if (kernels[static_cast<std::size_t>(precision)].contains(codelet)) return true;
  return has_complex_scalars(precision) && names(on_real_scalars(codelet), real_precision(precision));
}

std::optional<detail::KernelTimes> Platform::times(std::string_view codelet, detail::Precision precision,
                                                   std::string_view model) const {
  auto const& codelets = kernels[static_cast<std::size_t>(precision)];
  auto const named = codelets.find(codelet);
  if (named != codelets.end()) {
    auto const found = named->second.find(model);
    return found == named->second.end() ? std::nullopt : std::optional(found->second);
  }
  auto const speed = speeds.find(model);
  if (speed != speeds.end() && speed->second[static_cast<std::size_t>(precision)] > 0) {
    return detail::KernelTimes{{}, speed->second[static_cast<std::size_t>(precision)]};
  }
  if (!has_complex_scalars(precision)) return std::nullopt;
  return times(on_real_scalars(codelet), real_precision(precision), model);
}

Duration Platform::kernel_time(std::string_view codelet, double flops, detail::Precision precision,
                               std::string_view model) const {
  auto const known = times(codelet, precision, model);
  if (!known) {
    throw InvalidArgument("platform '" + name + "' has no time for codelet '" + std::string(codelet) + "' in " +
                          name_of(precision) + " precision on workers of model '" + std::string(model) + "'");
  }
  return from_seconds(known->seconds(flops));
}

std::uint32_t Platform::workers(detail::WorkerKind kind) const {
  return static_cast<std::uint32_t>(std::ranges::count(machine.workers, kind, &detail::Worker::kind));
}

void Platform::select(std::optional<std::uint32_t> gpus, std::optional<std::uint32_t> cpus) {
  auto keep_workers = all_of(machine.workers.size(), true);
  auto const choose = [&](detail::WorkerKind kind, std::optional<std::uint32_t> wanted, char const* what) {
    if (!wanted) return;
    if (*wanted > workers(kind)) {
      throw InvalidArgument("platform '" + name + "' has " + std::to_string(workers(kind)) + " " + what + "; " +
                            std::to_string(*wanted) + " were requested");
    }
    std::uint32_t seen = 0;
    for (std::size_t w = 0; w < keep_workers.size(); ++w) {
      if (machine.workers[w].kind == kind) keep_workers[w] = seen++ < *wanted;
    }
  };
  choose(detail::WorkerKind::Device, gpus, "device workers");
  choose(detail::WorkerKind::Cpu, cpus, "CPU workers");
  if (std::ranges::count(keep_workers, true) == 0) {
    throw InvalidArgument("this selection removes all workers of platform '" + name + "'");
  }
  auto keep_nodes = all_of(machine.nodes.size(), false);
  keep_nodes[home_node().index()] = true;
  for (std::size_t w = 0; w < keep_workers.size(); ++w) {
    if (keep_workers[w]) keep_nodes[machine.workers[w].node.index()] = true;
  }
  keep_routes(machine, keep_nodes);
  machine = part_of(machine, keep_nodes, keep_workers);
}

void Platform::share_devices(std::uint32_t count) {
  std::uint64_t const all =
      workers(detail::WorkerKind::Cpu) + std::uint64_t{count} * workers(detail::WorkerKind::Device);
  if (count == 0 || all > most_platform_workers) {
    throw InvalidArgument("platform '" + name + "' would have " + std::to_string(all) + " workers with " +
                          std::to_string(count) + " per device; a device has at least 1, a machine at most " +
                          std::to_string(most_platform_workers));
  }
  if (count == 1) return;
  if (shared_devices) throw InvalidArgument("the workers of platform '" + name + "' share their devices already");
  shared_devices = true;
  std::vector<detail::Worker> split;
  for (auto const& worker : machine.workers) {
    if (worker.kind != detail::WorkerKind::Device) {
      split.push_back(worker);
      continue;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      split.push_back(worker);
      split.back().name += " " + std::to_string(i);
      split.back().peak_flops /= count;
    }
  }
  machine.workers = std::move(split);
}

std::vector<NodeId> Platform::limited_nodes() const {
  bool const devices = workers(detail::WorkerKind::Device) > 0;
  std::vector<NodeId> limited;
  for (auto const& worker : machine.workers) {
    if (worker.kind != (devices ? detail::WorkerKind::Device : detail::WorkerKind::Cpu) || worker.node == home_node())
      continue;
    if (std::ranges::find(limited, worker.node) == limited.end()) limited.push_back(worker.node);
  }
  return limited;
}

void Platform::limit(Bytes capacity) {
  auto const limited = limited_nodes();
  if (limited.empty()) {
    throw InvalidArgument("platform '" + name + "' has no memory to limit: its workers use the data in place");
  }
  if (capacity == 0) throw InvalidArgument("the memory limit is 0 bytes; it must be at least 1");
  for (NodeId const node : limited) machine.nodes[node.index()].capacity = capacity;
}

void Platform::share_directions() {
  auto& links = machine.links;
  auto const opposite_of = [&](detail::Link const& link) {
    return std::ranges::find_if(links, [&](detail::Link const& o) { return o.from == link.to && o.to == link.from; });
  };
  // The links that cross each bus, as ends, before and after they are turned.
  using Ends = std::set<std::pair<NodeId, NodeId>>;
  std::vector<Ends> over(machine.buses.size());
  std::vector<Ends> turned(machine.buses.size());
  for (auto const& link : links) {
    for (auto const bus : link.buses) {
      over[bus].emplace(link.from, link.to);
      turned[bus].emplace(link.to, link.from);
    }
  }
  // Each bus joins at most one other, of those in the opposite direction one of the most similar bandwidth: a link may
  // cross several buses in a row. One that both directions cross already stays.
  struct Pair {
    double difference;
    std::uint32_t first, second;
  };
  std::vector<Pair> pairs;
  for (std::uint32_t a = 0; a < over.size(); ++a) {
    if (over[a].empty() || over[a] == turned[a]) continue;
    for (std::uint32_t b = a + 1; b < over.size(); ++b) {
      if (over[a] != turned[b]) continue;
      pairs.push_back({std::abs(machine.buses[a].bandwidth - machine.buses[b].bandwidth), a, b});
    }
  }
  std::ranges::stable_sort(pairs, {}, &Pair::difference);
  auto joined = all_of(over.size(), false);
  for (auto const& [difference, a, b] : pairs) {
    if (joined[a] || joined[b]) continue;
    joined[a] = joined[b] = true;
    machine.buses[a].bandwidth = std::max(machine.buses[a].bandwidth, machine.buses[b].bandwidth);
    for (auto& link : links) std::ranges::replace(link.buses, b, a);
  }
  for (auto& link : links) {
    auto const other = opposite_of(link);
    if (other == links.end() || link.to < link.from) continue;
    auto const bus = machine.add_bus(
        {machine[link.from].name + " - " + machine[link.to].name, std::max(link.bandwidth, other->bandwidth)});
    link.buses.push_back(bus);
    other->buses.push_back(bus);
  }
}

NodeId Platform::home_node() const {
  for (auto const kind : {detail::NodeKind::Disk, detail::NodeKind::Host}) {
    auto const found = std::ranges::find(machine.nodes, kind, &detail::MemoryNode::kind);
    if (found != machine.nodes.end()) return NodeId(static_cast<std::uint32_t>(found - machine.nodes.begin()));
  }
  throw InvalidArgument("platform '" + name + "' has neither a disk nor a host node for the data");
}

bool Platform::home_in_place() const {
  return std::ranges::find(machine.workers, home_node(), &detail::Worker::node) != machine.workers.end();
}

}  // namespace granary
