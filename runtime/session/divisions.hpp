// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/model/access.hpp>
#include <granary/detail/runtime/session/division.hpp>
#include <granary/detail/runtime/session/session.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace granary::detail {

class Divisions;

/// A temporary that was cut. Its forms are the whole (0) and its divisions (1, 2, ...), each with data of its own. A
/// form is current if it has the newest value, in the order of submission. A failure may take that: then its data
/// have no value (KeepNoOldValue), so that nobody reads an old one.
class Family {
 public:
  Family(DataId whole, std::weak_ptr<Divisions> table) : m_whole(whole), m_table(std::move(table)) {}
  ~Family();
  Family(Family const&) = delete;
  Family& operator=(Family const&) = delete;

  // Under the lock of submissions.
  [[nodiscard]] Division* find(std::vector<std::size_t> const& tiles) const;
  void add(std::unique_ptr<Division> division);
  [[nodiscard]] std::span<DataId const> data(std::size_t form) const;
  [[nodiscard]] std::vector<DataId> all_data() const;
  /// A datum of that form, and the data of other forms that stand for some of the same elements.
  [[nodiscard]] std::vector<DataId> sharing(std::size_t form, DataId data) const;
  /// The only current form, or none.
  void set_current(std::optional<std::size_t> form);
  /// Submits the tasks that copy the newest value to a form, if it does not have what the task with this name
  /// accesses there. Throws InvalidArgument if all that had the value lost it.
  void bring(Session& session, std::string_view name, std::size_t form, Access const& access);
  [[nodiscard]] std::size_t forms() const { return m_current.size(); }

 private:
  void gather(Session& session, std::size_t from);
  void scatter(Session& session, std::size_t to);

  DataId m_whole;
  std::weak_ptr<Divisions> m_table;
  std::vector<std::unique_ptr<Division>> m_divisions;
  std::vector<bool> m_current{false};
};

/// The temporaries of a session that were cut, by their data. What is between two of its calls, and changes families,
/// happens under the lock of submissions (Reductions::Lock).
class Divisions : public std::enable_shared_from_this<Divisions> {
 public:
  /// How many temporaries were cut so far. A task that was submitted while this did not change, and of whose data none
  /// was `any_of` then, needs no copies.
  [[nodiscard]] std::atomic<std::uint64_t> const& cuts() const { return m_cuts; }
  /// True if one of these data is a cut temporary or a part of one. Costs a look-up each, or nothing if there is none.
  [[nodiscard]] bool any_of(std::span<DataId const> data) const;
  [[nodiscard]] bool any_of(std::span<Access const> accesses) const;
  /// These data, and the data of other forms that stand for some of the same elements.
  [[nodiscard]] std::vector<DataId> with_forms(std::span<DataId const> data) const;

  /// The division of the temporary like that one, which is registered if there is none.
  Division const& divide(Session& session, std::shared_ptr<DataHold const> const& whole,
                         std::unique_ptr<Division> wanted);

  /// A task's access to a cut temporary or a part of one.
  struct Use {
    std::shared_ptr<Family> family;
    std::size_t form;
    Access access;
  };
  /// Before a task is submitted: brings the newest values to where it accesses them. Throws InvalidArgument if it
  /// writes one form and uses another one of the same temporary.
  [[nodiscard]] std::vector<Use> prepare(Session& session, std::string_view name, std::span<Access const> accesses);
  /// The task was submitted.
  static void submitted(std::vector<Use> const& uses);

  /// Of a family that ends.
  void remove(std::span<DataId const> data);

 private:
  struct Entry {
    std::weak_ptr<Family> family;
    std::size_t form;
  };
  void add(std::shared_ptr<Family> const& family, std::size_t form, std::span<DataId const> data);
  [[nodiscard]] std::optional<std::pair<std::shared_ptr<Family>, std::size_t>> find(DataId data) const;

  std::atomic<std::uint64_t> m_cuts = 0;
  std::atomic<std::size_t> m_count = 0;  // of entries
  mutable std::mutex m_mutex;            // of the entries; never held while anything else is called
  std::unordered_map<DataId, Entry> m_entries;
};

}  // namespace granary::detail
