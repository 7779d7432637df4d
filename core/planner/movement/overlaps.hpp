// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/model/access.hpp>
#include <granary/detail/core/planner/movement/data_table.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace granary::detail {

/// How the tasks submitted so far have accessed a datum since its bytes were last handed over to a datum that shares
/// some of them.
enum class Claim : std::uint8_t {
  None,   ///< not at all: after these tasks its home is its only valid replica
  Read,   ///< other replicas may be valid; no datum that shares bytes with it has more than this claim
  Write,  ///< its home may lack its value; no datum that shares bytes with it has a claim
};

/// The access of a handover to a datum, or of a task to one whose claim it takes, and the claim before.
struct GRANARY_EXPORT Claimed {
  DataId data;
  AccessMode mode;
  Claim before;
  std::uint64_t serial;  ///< of the datum, since ids of forgotten ones are given again
};

/// Data that share bytes of their homes, and which of them has the claim on these bytes.
///
/// Before a task accesses a datum with a mode that contradicts the claim of a neighbour (a datum that shares bytes with
/// it), the neighbour is handed over: its value goes home, and its other replicas become invalid. The accesses of a
/// handover are ReadWrite to what it hands over; Write to the neighbours of data with claim Write, which have no claim
/// and whose bytes change; Read to the other neighbours: only tasks that write them have to come after it.
///
/// Adding, forgetting, handing over and a changed claim cost O(neighbours); a task without contradiction O(accesses).
class GRANARY_EXPORT Overlaps {
 public:
  explicit Overlaps(DataTable const& data) : m_data(data) {}

  /// True if any data share bytes.
  [[nodiscard]] bool any() const { return !m_entries.empty(); }
  void add(DataId data, std::span<SharedBytes const> shares);
  /// Before the datum leaves the table. Returns the lost data whose bytes it has defined again.
  std::vector<DataId> forget(DataId data);
  /// The unfinished handovers of a new datum's neighbours: they must precede the tasks on it.
  [[nodiscard]] std::vector<Claimed> unfinished_before(DataId data) const;

  /// Throws InvalidArgument if the task uses several data with the same bytes and writes one of them, or if a failure
  /// that was reported took the value of bytes that it needs. What is blocked is not refused: the task is cancelled.
  void check(std::string const& task, AccessList const& accesses) const;
  /// True if a lost datum is covered by one that was written since.
  [[nodiscard]] bool is_defined_by_another(DataId data) const;
  /// True if a datum of the list, or a neighbour of one, is blocked.
  [[nodiscard]] bool blocked(AccessList const& accesses) const;
  /// The same for one datum: tasks that access it are cancelled until failures are reported.
  [[nodiscard]] bool waits_for_report(DataId data) const;

  /// Takes the claims for a task with these accesses. Returns the handovers that have to precede the task, in this
  /// order: one for each datum that needs one, so that a failure concerns the others only if they share bytes, too.
  /// `redefined`: what the task defines again, with claims that it gets back if the task does not run.
  std::vector<std::vector<Claimed>> take_claims(AccessList const& accesses, std::vector<Claimed>& redefined);
  /// True if a datum of the handover covers the lost one.
  [[nodiscard]] bool hands_over_all_of(AccessList const& handover, DataId lost) const;

  /// A handover was cancelled: `undo` restores the claims from before it and blocks its data until failures are
  /// reported: no task may access them or their neighbours. Later tasks that are `undone` are cancelled, too. All that
  /// is cancelled with one cause follows in the order of submission.
  void begin_undo() { ++m_undo; }
  void undo(std::span<Claimed const> claims);
  [[nodiscard]] bool undone(AccessList const& accesses) const;
  /// A task that is cancelled as it is submitted: what it writes is blocked.
  void block_outputs(AccessList const& accesses);
  void failures_reported();
  [[nodiscard]] bool blocked(DataId data) const;
  [[nodiscard]] bool shares_bytes(DataId data) const;
  /// The same, now or before.
  [[nodiscard]] bool shared_bytes(DataId data) const { return find(data) != nullptr; }
  /// True if any datum is blocked.
  [[nodiscard]] bool any_blocked() const { return !m_blocked.empty(); }
  /// Calls `function(DataId)` for the data that share bytes with this one.
  template <class Function>
  void for_each_neighbour(DataId data, Function&& function) const {
    auto const* const entry = any() ? find(data) : nullptr;
    if (entry == nullptr) return;
    for (auto const& neighbour : entry->neighbours) function(neighbour.entry->data);
  }

  /// Throws InternalError with the first contradiction. O(all neighbours).
  void check_invariants() const;

 private:
  struct Entry;
  struct Neighbour {
    Entry* entry;
    bool covers;   // its bytes contain this one's
    bool covered;  // this one's contain its bytes
  };
  struct Entry {
    DataId data;
    std::uint64_t serial = 0;
    Claim claim = Claim::None;
    bool blocked = false;
    bool restored = false;      // by the undo with number `undo`
    std::uint32_t claimed = 0;  // neighbours with a claim
    std::uint32_t written = 0;  // of these, those with claim Write
    std::uint64_t undo = 0;     // the last one that concerned it
    std::uint64_t listed = 0;   // the last list that contains it, and where
    std::size_t at = 0;
    std::vector<Neighbour> neighbours;
  };

  [[nodiscard]] Entry* find(DataId data);
  [[nodiscard]] Entry const* find(DataId data) const { return const_cast<Overlaps*>(this)->find(data); }
  Entry& entry_of(DataId data);
  void set_claim(Entry& entry, Claim claim);
  void block(Entry& entry);
  [[nodiscard]] bool waits_for_report(Entry const& entry) const;
  [[nodiscard]] bool redefines(AccessMode mode, Neighbour const& neighbour) const;
  std::vector<Claimed> hand_over_to(Entry& entry, AccessMode mode, std::vector<Claimed>& redefined);
  void list(Entry& entry, AccessMode mode, std::vector<Claimed>& claims);
  void refuse_both(std::string const& task, AccessList const& accesses, Access const& access, Entry const& entry) const;
  void refuse_lost(std::string const& task, Access const& access, Entry const& entry) const;

  DataTable const& m_data;
  std::unordered_map<DataId, Entry> m_entries;
  std::vector<DataId> m_blocked;
  std::uint64_t m_serials = 0;
  std::uint64_t m_lists = 0;
  std::uint64_t m_undo = 0;
};

}  // namespace granary::detail
