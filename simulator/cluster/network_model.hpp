// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/export.hpp>
#include <granary/core/base/ids.hpp>
#include <granary/core/base/indexed_heap.hpp>
#include <granary/core/base/units.hpp>
#include <granary/core/model/machine.hpp>

#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

namespace granary {

/// The time that transfers between processes take. A transfer gets the smaller of its equal shares of its sender's and
/// its receiver's bandwidth; what one of them leaves unused is not given to others, so that a start or an end changes
/// only the transfers of two processes. Under max-min fairness others would be faster: bench/simulator/network.csv has
/// the difference.
///
/// O(transfers at both ends · log(transfers)) for each start and end.
class GRANARY_EXPORT NetworkModel {
 public:
  /// A process sends as many values at once as `sends`; the others wait, by priority. Throws InvalidArgument for what
  /// Topology refuses of a link, and for 0.
  NetworkModel(std::uint32_t processes, Network const& network, std::uint32_t sends);

  /// Sends `bytes`, when the sender has a slot free. `token` is returned when they have arrived.
  void send(ProcessId from, ProcessId to, Bytes bytes, std::int64_t priority, std::uint64_t token, Instant now);
  /// Empty when nothing is on its way.
  [[nodiscard]] std::optional<Instant> next_change() const {
    return m_changes.empty() ? std::nullopt : std::optional(m_changes.top_key().at);
  }
  /// Advances to `next_change()`; returns the token of a transfer that has arrived, if one has.
  std::optional<std::uint64_t> advance();

 private:
  struct Waiting {
    std::int64_t priority;
    std::uint64_t number;
    ProcessId to;
    Bytes bytes;
    std::uint64_t token;
    // Whether it goes after the other one.
    bool operator<(Waiting const& other) const {
      return priority != other.priority ? priority < other.priority : number > other.number;
    }
  };
  struct Transfer {
    ProcessId from;
    ProcessId to;
    std::uint64_t token = 0;
    double remaining = 0;  // bytes, at `since`
    double rate = 0;       // bytes per second; 0 during its latency
    Instant since{};
  };
  struct End {
    std::priority_queue<Waiting> waiting{};
    std::uint32_t sending = 0;              // latency included
    std::vector<std::uint32_t> outgoing{};  // transfers that flow
    std::vector<std::uint32_t> incoming{};
  };
  struct Change {
    Instant at;
    std::uint64_t number;  // of the transfer, for changes at one instant
    bool operator<(Change const& other) const { return at != other.at ? at < other.at : number < other.number; }
  };

  void start_next(ProcessId from, Instant now);
  void share(ProcessId from, ProcessId to, Instant now);
  void set_rate(std::uint32_t index, Instant now);

  Network m_network;
  std::uint32_t m_sends;
  std::vector<End> m_ends;  // by process
  std::vector<Transfer> m_transfers;
  std::vector<std::uint64_t> m_numbers;  // by transfer
  std::vector<std::uint32_t> m_free;
  IndexedHeap<Change> m_changes;  // by transfer
  std::uint64_t m_sent = 0;
};

}  // namespace granary
