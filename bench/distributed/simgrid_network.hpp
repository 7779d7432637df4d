// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/model/machine.hpp>

#include <simgrid/s4u.hpp>

#include <cstdint>
#include <vector>

#include "recorded_run.hpp"

namespace granary::bench {

/// When a replayed transfer may start, apart from its place in its sender's order.
enum class Asking : std::uint8_t {
  AsRecorded,  ///< a latency after the event after which the reader asked for it, as it was recorded
  AtOnce,      ///< two latencies after the value was made: it is announced, and asked for then
  Never,       ///< at the start: values of no task, that nobody asks for
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
  /// The makespan, in seconds. Workers are actors and sleep for a task's duration; each runs its tasks in the recorded
  /// order, and each process sends its values in the recorded order, at most `sends_at_once` at once.
  double replay(RecordedRun const& run, Asking asking);

 private:
  struct Replay;

  simgrid::s4u::Engine m_engine;
  std::vector<simgrid::s4u::Host*> m_hosts;
  std::vector<simgrid::s4u::SplitDuplexLink*> m_links;
  double m_latency = 0;
};

}  // namespace granary::bench
