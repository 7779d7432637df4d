// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/ids.hpp>
#include <granary/core/base/units.hpp>
#include <granary/core/model/machine.hpp>

#include <deque>
#include <optional>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// How transfers proceed in virtual time. A transfer first waits for its link's latency, without taking bandwidth; then
/// its bytes flow at the max-min fair rate: all transfers speed up together until a link or a bus that they cross is
/// full, and those that cross it stay there while the others go on (progressive filling; Bertsekas, Gallager 1992,
/// 6.5.2). A link that names a bus twice takes twice its rate there. On a link whose transfers proceed in order a
/// transfer begins, latency included, when the one before it has ended.
///
/// Drive it by `advance(*next_change())`. Each call costs O(transfers in flight + active links × full links or buses)
/// and allocates nothing once the most transfers have been in flight.
class LinkModel {
 public:
  /// The machine must outlive the model.
  explicit LinkModel(Machine const& machine);

  /// The transfer enters the link; `now` must not be before an earlier call's instant, nor after `next_change()`.
  void start(TransferId transfer, LinkId link, Bytes bytes, Instant now);
  /// When a rate next changes or a transfer ends; empty when nothing is in flight.
  [[nodiscard]] std::optional<Instant> next_change() const {
    return m_flows.empty() ? std::nullopt : std::optional(m_next);
  }
  /// Moves to `now`, at most `next_change()`; returns the transfers that end there, in the order in which they started,
  /// until the next call.
  std::vector<TransferId> const& advance(Instant now);
  [[nodiscard]] bool idle() const { return m_flows.empty(); }
  /// Bytes per second at which the transfer flows now; 0 during its latency.
  [[nodiscard]] double rate(TransferId transfer) const;

 private:
  struct Flow {
    TransferId transfer;
    LinkId link;
    double remaining;  // bytes, at `since`
    double rate = 0;   // bytes per second
    Instant since;
    Instant change;  // when its latency or, at the present rate, the transfer itself ends
    bool flowing = false;
  };
  struct LinkState {
    Duration latency;
    double bandwidth;
    std::vector<std::uint32_t> buses;
    bool in_order;
    bool busy = false;                                     // of a link in order
    std::deque<std::pair<TransferId, Bytes>> behind = {};  // of a link in order: those that have not begun
    std::uint32_t flowing = 0;
    double rate = 0;  // of each flow
    bool full = false;
  };
  struct BusState {
    double bandwidth;
    double left = 0;    // besides what the full links' flows take
    double weight = 0;  // flows of links that are not full, as often as they cross it
  };

  void begin(TransferId transfer, LinkId link, Bytes bytes, Instant now);
  void begin_next(LinkId link, Instant now);
  void begin_to_flow(Flow& flow);
  void share_bandwidth(Instant now);
  void fill();
  [[nodiscard]] double next_level() const;
  void stop_at(double level);
  [[nodiscard]] bool stops(LinkState const& link, double level) const;
  static void set_rate(Flow& flow, double rate, Instant now);

  std::vector<LinkState> m_links;
  std::vector<BusState> m_buses;
  std::vector<std::uint32_t> m_active;   // links with flows
  std::vector<std::uint32_t> m_filling;  // scratch: those that are not full
  std::vector<Flow> m_flows;             // in the order in which they started
  std::vector<TransferId> m_ended;
  std::vector<LinkId> m_left;  // scratch: links in order that a transfer has left
  Instant m_next{};
};

}  // namespace granary

#pragma GCC visibility pop
