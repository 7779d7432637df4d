// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/machine.hpp>

#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace granary::detail {

/// The progress of transfers in virtual time. A transfer first waits for its link's latency, without using bandwidth.
/// Then its bytes flow at the max-min fair rate: the rates of all transfers rise together until a link or bus is full;
/// those that cross it keep their rate while the others rise further (progressive filling; Bertsekas, Gallager 1992,
/// 6.5.2). A link that names a bus twice uses twice its rate there. On an in-order link a transfer, including its
/// latency, begins when the one before it has ended.
///
/// Drive it by `advance(*next_change())`. Each call costs O(transfers in flight + active links × full links or buses),
/// and allocates memory only when more transfers than ever are in flight.
class GRANARY_EXPORT LinkModel {
 public:
  /// The machine must outlive the model.
  explicit LinkModel(Machine const& machine);

  /// Adds a transfer to the link; `now` must not be before an earlier call's instant, nor after `next_change()`.
  void start(TransferId transfer, LinkId link, Bytes bytes, Instant now);
  /// The time of the next change of a rate or end of a transfer; empty when nothing is in flight.
  [[nodiscard]] std::optional<Instant> next_change() const {
    return m_flows.empty() ? std::nullopt : std::optional(m_next);
  }
  /// Advances to `now`, at most `next_change()`. Returns the transfers that end there, in the order of their starts;
  /// valid until the next call.
  std::vector<TransferId> const& advance(Instant now);
  [[nodiscard]] bool idle() const { return m_flows.empty(); }
  /// The transfer's current rate in bytes per second; 0 during its latency.
  [[nodiscard]] double rate(TransferId transfer) const;

 private:
  struct Flow {
    TransferId transfer;
    LinkId link;
    double remaining;  // bytes, at `since`
    double rate = 0;   // bytes per second
    Instant since;
    Instant change;  // end of its latency, or of the transfer at the present rate
    bool flowing = false;
  };
  struct LinkState {
    Duration latency;
    double bandwidth;
    std::vector<std::uint32_t> buses;
    bool in_order;
    bool busy = false;                                     // of an in-order link
    std::deque<std::pair<TransferId, Bytes>> behind = {};  // of an in-order link: transfers that have not begun
    std::uint32_t flowing = 0;
    double rate = 0;  // of each flow
    bool full = false;
  };
  struct BusState {
    double bandwidth;
    double left = 0;    // not used by the flows of full links
    double weight = 0;  // flows of links that are not full, counted once per crossing
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
  std::vector<std::uint32_t> m_filling;  // scratch: links that are not full
  std::vector<Flow> m_flows;             // in the order of their starts
  std::vector<TransferId> m_ended;
  std::vector<LinkId> m_left;  // scratch: in-order links on which a transfer has ended
  Instant m_next{};
};

}  // namespace granary::detail
