// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/trace/waits.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace granary {
namespace {

struct Interval {
  detail::Instant begin;
  detail::Instant end;
};

// Sorted, with touching intervals merged.
std::vector<Interval> united(std::vector<Interval> intervals) {
  std::ranges::sort(intervals, {}, &Interval::begin);
  std::vector<Interval> result;
  for (auto const& interval : intervals) {
    if (result.empty() || result.back().end < interval.begin) {
      result.push_back(interval);
    } else {
      result.back().end = std::max(result.back().end, interval.end);
    }
  }
  return result;
}

// The parts of the intervals that are outside the others; both sorted and apart.
std::vector<Interval> without(std::vector<Interval> const& intervals, std::vector<Interval> const& others) {
  std::vector<Interval> result;
  auto other = others.begin();
  for (auto [begin, end] : intervals) {
    while (other != others.end() && other->end <= begin) ++other;
    for (auto next = other; next != others.end() && next->begin < end; ++next) {
      if (next->begin > begin) result.push_back({begin, next->begin});
      begin = std::max(begin, next->end);
    }
    if (begin < end) result.push_back({begin, end});
  }
  return result;
}

// Of a node: the intervals in which its workers, if they run nothing, wait.
struct Waiting {
  std::vector<Interval> data;
  std::vector<Interval> peers;  // for other processes
};

// By node: the intervals in which values were fetched to it.
std::vector<Waiting> fetches(Trace const& trace) {
  auto const& machine = trace.machine;
  std::vector<bool> has_workers(machine.nodes.size(), false);
  for (auto const& worker : machine.workers) has_workers[worker.node.index()] = true;
  std::vector<std::vector<std::size_t>> nodes_of(trace.processes());
  for (std::uint32_t node = 0; node < machine.nodes.size(); ++node) {
    nodes_of[trace.process_of(NodeId(node))].push_back(node);
  }
  std::vector<Waiting> result(machine.nodes.size());
  for (auto const& transfer : trace.transfers) {
    if (transfer.why != detail::TraceTransfer::Why::Fetch) continue;
    auto const& link = machine[transfer.link];
    bool const from_peers = machine[link.from].kind == detail::NodeKind::Peers;
    auto const to = link.to.index();
    for (auto const node : nodes_of[trace.process_of(link.to)]) {
      if (from_peers) {
        result[node].peers.push_back({transfer.begin, transfer.end});
      } else if (node == to || (has_workers[node] && !has_workers[to])) {
        result[node].data.push_back({transfer.begin, transfer.end});
      }
    }
  }
  return result;
}

// Adds, by node, the intervals from the choice of a replica for eviction to the end of its write-back.
void add_evictions(Trace const& trace, std::vector<Waiting>& waiting) {
  std::map<std::pair<std::uint32_t, NodeId>, std::vector<detail::Instant>> ends;
  for (auto const& transfer : trace.transfers) {
    if (transfer.why != detail::TraceTransfer::Why::WriteBack) continue;
    ends[{transfer.data, trace.machine[transfer.link].from}].push_back(transfer.end);
  }
  for (auto& [key, instants] : ends) std::ranges::sort(instants);
  for (auto const& eviction : trace.evictions) {
    auto const found = eviction.written_back ? ends.find({eviction.data, eviction.node}) : ends.end();
    if (found == ends.end()) continue;
    auto const end = std::ranges::lower_bound(found->second, eviction.when);
    if (end != found->second.end()) waiting[eviction.node.index()].data.push_back({eviction.when, *end});
  }
}

// Adds the intersections of [begin, end) with the intervals.
void intersect(detail::WorkerId worker, Interval gap, std::vector<Interval> const& intervals, TraceWait::Why why,
               std::vector<TraceWait>& into) {
  auto interval = std::ranges::upper_bound(intervals, gap.begin, {}, &Interval::end);
  for (; interval != intervals.end() && interval->begin < gap.end; ++interval) {
    into.push_back({worker, std::max(gap.begin, interval->begin), std::min(gap.end, interval->end), why});
  }
}

}  // namespace

std::vector<TraceWait> waits_of(Trace const& trace) {
  auto waiting = fetches(trace);
  add_evictions(trace, waiting);
  for (auto& [data, peers] : waiting) {
    peers = united(std::move(peers));
    data = without(united(std::move(data)), peers);
  }

  std::vector<std::vector<Interval>> busy(trace.machine.workers.size());
  std::vector<TraceWait> result;
  for (auto const& task : trace.tasks) {
    auto const taken = task.begin - task.blocked;
    busy[task.worker.index()].push_back({taken, task.end});
    if (task.blocked > Duration{0}) result.push_back({task.worker, taken, task.begin, TraceWait::Why::Blocked});
  }
  for (std::size_t w = 0; w < busy.size(); ++w) {
    detail::WorkerId const worker(static_cast<std::uint32_t>(w));
    auto const& node = waiting[trace.machine[worker].node.index()];
    auto const wait = [&](Interval gap) {
      intersect(worker, gap, node.data, TraceWait::Why::Data, result);
      intersect(worker, gap, node.peers, TraceWait::Why::Peers, result);
    };
    detail::Instant free{};
    for (auto const& task : united(std::move(busy[w]))) {
      if (task.begin > free) wait({free, task.begin});
      free = std::max(free, task.end);
    }
    if (trace.end > free) wait({free, trace.end});
  }
  std::ranges::sort(result, [](TraceWait const& a, TraceWait const& b) {
    return a.worker != b.worker ? a.worker < b.worker : a.begin < b.begin;
  });
  return result;
}

}  // namespace granary
