// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/model/machine.hpp>

#include <simgrid/s4u.hpp>

#include <cstdint>
#include <vector>

#include "recorded_run.hpp"

namespace granary::bench {

using namespace detail;

/// When replayed tasks and transfers start.
enum class Replaying : std::uint8_t {
  /// Of the tasks of a process that could start on a free worker, and of the transfers of a sender, the first in the
  /// recorded order.
  ReadyFirst,
  Recorded,  ///< each worker and each sender keeps the recorded order, and waits for the next one
  AtOnce,    ///< as ReadyFirst, but values are asked for when they are announced: two latencies after they were made
  Pattern,   ///< there are no tasks, and all transfers could start at the start
};

/// Hosts of SimGrid, each with a split-duplex link to a switch that is no limit. Fluid max-min fairness (model CM02)
/// without effects of TCP: no window, no loss of bandwidth or latency by protocols, no interference of the two
/// directions of a link, and weights that are the same for all transfers. One object a process: SimGrid's engine is a
/// singleton.
class SimGridNetwork {
 public:
  explicit SimGridNetwork(std::uint32_t hosts);

  /// For what is replayed from now on.
  void set(Network const& network);
  /// The makespan, in seconds. Workers are actors, which sleep for a task's duration. A transfer starts a latency after
  /// the event after which its value was asked for (RecordedValue::asked), and two after its value was made, when its
  /// sender has one of `sends_at_once` slots free.
  double replay(RecordedRun const& run, Replaying how);

 private:
  struct Replay;

  simgrid::s4u::Engine m_engine;
  std::vector<simgrid::s4u::Host*> m_hosts;
  std::vector<simgrid::s4u::SplitDuplexLink*> m_links;
  double m_latency = 0;
};

}  // namespace granary::bench
