// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/ids.hpp>
#include <granary/core/base/units.hpp>
#include <granary/core/model/machine.hpp>

#include <optional>
#include <vector>

namespace granary {

/// How transfers proceed in virtual time. A transfer first waits for its link's latency, without taking bandwidth; then
/// its bytes flow at the max-min fair rate: the transfers of a link share the link's bandwidth, the links of a bus
/// share that of the fastest of them, and what a slow link cannot use of its share goes to the others (progressive
/// filling; Bertsekas, Gallager 1992, 6.5.2).
///
/// Drive it by `advance(*next_change())`. Each call costs O(transfers in flight × log).
class LinkModel {
 public:
  explicit LinkModel(Machine const& machine);

  /// The transfer enters the link; `now` must not be before an earlier call's instant, nor after `next_change()`.
  void start(TransferId transfer, LinkId link, Bytes bytes, Instant now);
  /// When a rate next changes or a transfer ends; empty when nothing is in flight.
  [[nodiscard]] std::optional<Instant> next_change() const;
  /// Moves to `now`, at most `next_change()`; returns the transfers that end there, in the order in which they started.
  std::vector<TransferId> advance(Instant now);
  [[nodiscard]] bool idle() const { return m_flows.empty(); }
  /// Bytes per second at which the transfer flows now; 0 during its latency.
  [[nodiscard]] double rate(TransferId transfer) const;

 private:
  struct Flow {
    TransferId transfer;
    LinkId link;
    double remaining;  // bytes
    double rate = 0;   // bytes per second
    Instant change;    // when its latency or, at the present rate, the transfer itself ends
    bool flowing = false;
  };
  struct Share {
    LinkId link;
    double each;  // bytes per second for each of its flows, alone on the bus
    std::size_t flows;
  };

  void move_bytes(Instant now);
  void share_bandwidth();
  void fill(std::vector<Share>& shares, double capacity);
  void set_rate(Flow& flow, double rate) const;

  Machine const& m_machine;
  std::vector<std::uint32_t> m_buses;   // the distinct non-zero ones
  std::vector<double> m_bus_bandwidth;  // bytes per second, parallel to m_buses
  std::vector<Flow> m_flows;            // in the order in which they started
  std::vector<double> m_link_rate;      // scratch: the rate of each flow on the link
  Instant m_now{};
};

}  // namespace granary
