// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/data.hpp>
#include <granary/detail/core/model/machine.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace granary {

namespace detail {

/// A datum that events name. Ids are reused after a datum was released; these records stay.
struct GRANARY_EXPORT TraceData {
  std::string name;
  Bytes bytes = 0;  ///< of its largest value so far
  MatrixPosition position = {};
};

/// A run of a task on a worker: the only one, unless earlier ones were stopped.
struct GRANARY_EXPORT TraceTask {
  static constexpr std::uint32_t no_data = 0xffffffffU;

  TaskId task;
  CodeletId codelet;  ///< its name is Trace::codelets[codelet.index()]
  WorkerId worker;
  std::uint32_t data = no_data;  ///< the first datum that it writes, in Trace::data
  TaskIndex index = no_index;    ///< i, j and k of the algorithm
  Instant issued;                ///< when it was handed to the worker
  Instant begin;
  Instant end;
  double flops = 0;  ///< 0: unknown, or it was stopped
  bool failed = false;
  bool stopped = false;  ///< before its end, for its scheduler: the task ran again
  Duration blocked{0};  ///< part of the time before `begin`: by kernels of other workers that must not run concurrently
};

/// A copy of a datum along a link.
struct GRANARY_EXPORT TraceTransfer {
  enum class Why : std::uint8_t {
    Fetch,      ///< toward tasks that read it
    WriteBack,  ///< toward its home or storage, to make room or because the value is final
  };

  std::uint32_t data = TraceTask::no_data;  ///< in Trace::data
  LinkId link;
  Bytes bytes = 0;
  Instant begin;
  Instant end;
  Why why = Why::Fetch;
  bool failed = false;
};

/// Why a replica was evicted.
enum class GRANARY_EXPORT EvictionReason : std::uint8_t {
  Policy,     ///< the eviction policy chose it
  Fallback,   ///< the policy chose none: the planner's own choice
  Fragments,  ///< it fragmented the free memory
  Reserve,    ///< it occupied the room reserved for write-backs
  Clearing,   ///< the node was cleared, because a task could not fit otherwise
  Prefetch,   ///< no task of the node used it, and a value was brought ahead of its task
};

}  // namespace detail

[[nodiscard]] constexpr std::string_view name_of(detail::EvictionReason reason) {
  constexpr std::string_view names[] = {"policy", "fallback", "fragments", "reserve", "clearing", "prefetch"};
  return names[static_cast<std::size_t>(reason)];
}

namespace detail {

/// A replica that was chosen to be dropped.
struct GRANARY_EXPORT TraceEviction {
  std::uint32_t data = TraceTask::no_data;  ///< in Trace::data
  NodeId node;
  Bytes bytes = 0;
  Instant when;
  EvictionReason reason = EvictionReason::Policy;
  bool written_back = false;  ///< this was the only copy of its value: a write-back comes first
};

/// The bytes in use on a node, from this instant until its next record.
struct GRANARY_EXPORT TraceMemory {
  Instant when;
  NodeId node;
  Bytes used = 0;
};

/// The bytes that submitted tasks have booked in the host's memory, from this instant until the next record.
struct GRANARY_EXPORT TraceBooked {
  Instant when;
  NodeId node;  ///< of the host: tells the process
  Bytes bytes = 0;
  Bytes limit = unbounded;  ///< submission sleeps above it
};

}  // namespace detail

/// The record of a run, as plain data; every list is in the order in which its entries ended. The trace of several
/// processes has the nodes, links and workers of all of them, and each belongs to the process of its node.
struct GRANARY_EXPORT Trace {
  detail::Machine machine;
  std::vector<std::uint32_t> process_of_node;  ///< by node; empty: all nodes belong to one process
  std::vector<std::string> codelets;
  std::vector<detail::TraceData> data;
  std::vector<detail::TraceTask> tasks;
  std::vector<detail::TraceTransfer> transfers;
  std::vector<detail::TraceEviction> evictions;
  std::vector<detail::TraceMemory> memory;
  std::vector<detail::TraceBooked> booked;
  std::vector<std::pair<std::string, std::string>> configuration;  ///< program, scheduler, limits, …: for people
  std::vector<std::pair<std::string, double>> totals;              ///< and bounds where they are known, by name
  detail::Instant end;                                             ///< of the run
  std::uint64_t dropped = 0;  ///< events beyond the recorder's limit: they are missing above

  /// The process to which it belongs; 0 if there is one process.
  [[nodiscard]] std::uint32_t process_of(NodeId node) const {
    return process_of_node.empty() ? 0 : process_of_node[node.index()];
  }
  [[nodiscard]] std::uint32_t process_of(detail::WorkerId worker) const { return process_of(machine[worker].node); }
  [[nodiscard]] std::uint32_t process_of(detail::LinkId link) const { return process_of(machine[link].from); }
  /// The number of processes, at least 1. O(nodes).
  [[nodiscard]] std::uint32_t processes() const {
    return process_of_node.empty() ? 1 : *std::max_element(process_of_node.begin(), process_of_node.end()) + 1;
  }
};

}  // namespace granary
