// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/indexed_heap.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/machine.hpp>

#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

namespace granary::detail {

/// The time that transfers between processes take. When one starts or ends, the transfers of its sender and of its
/// receiver share these two connections anew, max-min fair: a transfer gets an equal part, or what its other end leaves
/// to it if that is less. Others keep their rates, so that a start or an end changes only the transfers of two
/// processes.
///
/// Measured against SimGrid, where all transfers share max-min fair (bench/distributed/network.csv): Cholesky
/// factorizations on 4 to 64 processes take 0.87 to 1.01 of the time of their replays, all-to-all transfers 0.995
/// to 1.00.
///
/// O(transfers at both ends · log(transfers)) for each start and end.
///
/// ```cpp
/// granary::detail::NetworkModel network(3, {.bandwidth = 1e9}, 16);
/// granary::detail::Instant const start{};
/// network.send(granary::ProcessId(0), granary::ProcessId(1), 1'000'000, 0, 7, start);
/// network.send(granary::ProcessId(0), granary::ProcessId(2), 3'000'000, 0, 8, start);
/// granary::detail::Instant end = start;
/// for (; network.next_change(); network.advance()) end = *network.next_change();
/// assert(end - start == std::chrono::milliseconds(4));  // both cross the connection of process 0
/// ```
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
    // True if it goes after the other one.
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
  // One direction of a process' connection.
  struct Direction {
    std::vector<std::uint32_t> transfers{};  // that flow
    double used = 0;                         // the sum of their rates
  };
  struct End {
    std::priority_queue<Waiting> waiting{};
    std::uint32_t sending = 0;  // latency included
    Direction out{};
    Direction in{};
  };
  // The highest rate that a transfer may get, and then the rate that it gets.
  struct Share {
    double rate;
    std::uint32_t transfer;
    bool operator<(Share const& other) const {
      return rate != other.rate ? rate < other.rate : transfer < other.transfer;
    }
  };
  struct Change {
    Instant at;
    std::uint64_t number;  // of the transfer, for changes at one instant
    bool operator<(Change const& other) const { return at != other.at ? at < other.at : number < other.number; }
  };

  void start_next(ProcessId from, Instant now);
  void share(ProcessId from, ProcessId to, Instant now);
  void share_out(ProcessId from, ProcessId to);
  void share_in(ProcessId from, ProcessId to);
  void divide(std::vector<Share>& shares) const;
  [[nodiscard]] double unused(Direction const& direction) const;
  void set_rate(std::uint32_t index, double rate, Instant now);
  void end(std::uint32_t index);

  Network m_network;
  std::uint32_t m_sends;
  std::vector<End> m_ends;  // by process
  std::vector<Transfer> m_transfers;
  std::vector<std::uint64_t> m_numbers;  // by transfer
  std::vector<std::uint32_t> m_free;
  IndexedHeap<Change> m_changes;  // by transfer
  std::vector<Share> m_out;       // of the sender that shares, and below of the receiver
  std::vector<Share> m_in;
  std::vector<double> m_offers;  // by transfer from that sender to that receiver: what one end leaves to it
  std::uint64_t m_sent = 0;
};

}  // namespace granary::detail
