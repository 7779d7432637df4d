// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/planner/movement/changes.hpp>
#include <granary/detail/core/planner/movement/early_fetch.hpp>
#include <granary/detail/core/planner/movement/transfers.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace granary::detail {

/// Manages the location of data: replicas, places in memories, transfers, homes. It knows lists of accesses, whose
/// holders ask for places and values on a node; it does not know what the holders are. It posts its further work on the
/// agenda and tells its listener of each change of a replica at once.
///
/// The life of a holder: `announce`, `hold` until it returns true, `begin_work` once `complete`, one of `end`, `lose`
/// and `revert` of `changes` for each datum that it writes, `let_go`, `end_uses`, `uses_ended`.
class GRANARY_EXPORT Movement {
 public:
  Movement(PlannerContext& context, EvictionCalls& eviction, ReplicaListener& listener);
  Movement(Movement const&) = delete;

  /// Registers a datum; throws InvalidArgument for a description that contradicts itself or the machine.
  DataId add(DataDescription description, std::span<FixedPlace const> places = {},
             std::span<SharedBytes const> shares = {});
  /// Throws InvalidArgument for a datum that is not registered.
  Datum const& check_known(DataId data) const;
  void retain(DataId data);
  void release(DataId data);

  /// A task with these accesses was submitted; gives them their versions.
  void announce(AccessList& accesses);
  /// It ended: it is not counted as a user any more.
  void end_uses(AccessList const& accesses);
  /// Follows `end_uses`. `wrote_on`: the node where it wrote values that shall go home early, or invalid.
  void uses_ended(AccessList const& accesses, NodeId wrote_on);

  /// Gives all data of the list places on the node, and asks for the values of those that are read; false if there is
  /// no room now. Evicts others only if `may_evict`. The priority is for links: see PlannerOptions.
  bool hold(AccessList const& accesses, NodeId node, bool may_evict, std::int64_t priority = 0);
  void let_go(AccessList const& accesses, NodeId node);  ///< undoes `hold`
  /// As `hold`, for a value that is sent from the node: in the reserve, if need be. `let_go_shipped` undoes it.
  bool hold_to_ship(DataId data, NodeId node, std::int64_t priority);
  void let_go_shipped(DataId data, NodeId node);
  /// True if all that the holder needs is there. `overlaps`: it may read what another holder writes on the node.
  [[nodiscard]] bool complete(AccessList const& accesses, NodeId node, bool overlaps) const;
  /// True if no transfer uses a datum that the holder writes. Values that are there stay, but transfers may start.
  [[nodiscard]] bool may_write(AccessList const& accesses) const;
  /// The holder works with its places until `end_work`: what it writes is overwritten from now on (`Changes::begin`).
  void begin_work(AccessList const& accesses, NodeId node, Keep keep = Keep::Nothing);
  void end_work() { m_memories.end_work(); }
  [[nodiscard]] Changes& changes() { return m_changes; }
  [[nodiscard]] KeptValues const& kept() const { return m_kept; }
  [[nodiscard]] Results& results() { return m_results; }
  [[nodiscard]] Results const& results() const { return m_results; }
  [[nodiscard]] EarlyFetch& early_fetch() { return m_early_fetch; }

  /// Sends home the data of a handover (ReadWrite in the list). `done`: of the list, which are home already.
  enum class Way : std::uint8_t { Open, Under, Closed };
  [[nodiscard]] Way bring_home(AccessList const& accesses, std::uint32_t& done);
  /// All that the handover writes is valid at home alone from now on.
  void hand_over(AccessList const& accesses);
  /// Calls `function(DataId)` for the datum and for those that share bytes with it.
  template <class Function>
  void for_each_with_bytes_of(DataId data, Function&& function) const {
    function(data);
    m_overlaps.for_each_neighbour(data, function);
  }
  [[nodiscard]] Overlaps& overlaps() { return m_overlaps; }
  [[nodiscard]] Overlaps const& overlaps() const { return m_overlaps; }

  /// More or fewer holders wait for room on the node, or values that will be sent from there.
  void set_waiting(NodeId node, std::size_t holders) { m_memories[node].waiting = static_cast<std::uint32_t>(holders); }
  void set_unsent(NodeId node, std::size_t n) { m_memories[node].unsent = static_cast<std::uint32_t>(n); }
  void evict_whatever(bool any) { m_memories.evict_whatever(any); }  ///< see Memories
  /// First to what is on its way home, then to what passes through.
  void give_room(NodeId node);
  void room_may_have_changed(NodeId node) { m_memories.room_may_have_changed(node); }

  /// The transfer arrived; returns the datum.
  DataId copy_done(TransferId transfer) { return m_transfers.copy_done(transfer); }
  /// The transfer failed; `settle` follows, after the caller has decided what fails with it.
  Transfer copy_failed(TransferId transfer) { return m_transfers.end(transfer); }
  void settle(Transfer const& transfer) { m_transfers.settle(transfer); }
  /// A node that waits for the datum to pass through `node`, or an invalid id.
  [[nodiscard]] NodeId waits_behind(DataId data, NodeId node) const;
  /// Nothing will bring the datum to the node.
  void give_up_fetch(DataId data, NodeId node) { m_routes.end_hops(data, node); }
  /// The datum cannot be written home; returns whether its value is lost with the device `lost_on`, if it is valid.
  bool give_up_home(DataId data, NodeId lost_on) { return m_homes.fail(data, lost_on); }
  /// Nothing passes where it was to pass so far: looks for other ways.
  void find_ways_anew(DataId data) { m_routes.find_ways_anew(data); }
  /// A datum that waits for room on its way home, and the node; it does not wait any more.
  std::optional<std::pair<DataId, NodeId>> take_waiting_write_back();
  void flush(DataId data);  ///< sends its value home; if the id is invalid, all values
  /// See HomesMayChange (of all data, if it is invalid) and KeepNoOldValue.
  void homes_may_change(DataId data);
  void keep_no_old_value(DataId data);
  /// See PlaceChanged, whose exceptions it throws.
  void place_changed(DataId data, NodeId node);
  /// See Prefetch and WillNotUse.
  void prefetch(DataId data, NodeId node);
  void will_not_use(DataId data);
  bool write_back_early() { return m_homes.write_back_early(); }
  void failures_reported() { m_homes.failures_reported(); }
  /// The failure with this number was reported for the datum; returns whether it concerns no other one.
  bool failure_reported(DataId data, std::uint32_t cause) { return m_homes.failure_reported(data, cause); }

  void perform(Agenda::StartTransfers item) { m_transfers.start_on(item.link); }
  void perform(Agenda::Fetch item);
  void perform(Agenda::PassThrough item);
  void perform(Agenda::WriteBack item);
  void perform(Agenda::Forget item);

  /// No transfer is requested or in flight, and no datum on its way home.
  [[nodiscard]] bool idle() const { return m_links.size() == 0 && m_homes.going() == 0; }
  [[nodiscard]] DataTable const& data() const { return m_data; }
  [[nodiscard]] Links const& links() const { return m_links; }
  [[nodiscard]] Memories const& memories() const { return m_memories; }
  [[nodiscard]] Homes const& homes() const { return m_homes; }
  /// True if data of the list stand in the node's reserve, where a holder may not keep them.
  [[nodiscard]] bool stands_in_reserve(AccessList const& accesses, NodeId node) const;

 private:
  bool place(AccessList const& accesses, NodeId node, bool may_evict);

  PlannerContext& m_context;
  EvictionCalls& m_eviction;
  DataTable m_data;
  Overlaps m_overlaps{m_data};
  Links m_links;
  Memories m_memories;
  KeptValues m_kept;
  Results m_results;
  Routes m_routes;
  Homes m_homes;
  Transfers m_transfers;
  Changes m_changes;
  EarlyFetch m_early_fetch;
  std::vector<Memories::Lacking> m_lacking;  // scratch of `place`, as the next two
  std::vector<Bytes> m_taken;
  std::vector<DataId> m_own;
};

}  // namespace granary::detail
