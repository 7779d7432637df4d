// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/model/access.hpp>
#include <granary/detail/distributed/value.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace granary::detail {

/// The data and tasks that all processes submit in the same order: which process runs a task, and which values go from
/// their owners to others for that. Each process may hold its own copy; all copies agree.
///
/// The owner of a datum runs all tasks that write it; it may be found after the registration. `ship` is called once for
/// a value and each process that reads it, until `let_go_of_all`, also if the value is then sent several times because
/// the reader has evicted it. Before its owner overwrites it, its readers let go of it.
class GRANARY_EXPORT CommonOrder {
 public:
  /// The owner of a datum that is registered and has none yet.
  static constexpr ProcessId nobody{0xfffffffe};

  /// Registers a datum, and returns its key.
  DataKey add(ProcessId owner) {
    DataKey key(static_cast<std::uint32_t>(m_data.size()));
    if (m_free.empty()) {
      m_data.emplace_back();
    } else {
      key = m_free.back();
      m_free.pop_back();
    }
    auto& datum = m_data[key.index()];
    datum.owner = owner;
    ++datum.version;  // no value of an earlier datum with this key has it
    return key;
  }

  /// Releases it; `let_go(ProcessId reader)` for each process that holds its present value.
  template <class LetGo>
  void release(DataKey key, LetGo&& let_go) {
    last_use(key, let_go);
    m_data[key.index()].owner = {};
    m_free.push_back(key);
  }

  /// Sets the owner of a datum that has none (`nobody`). No task accesses the datum before.
  void place(DataKey key, ProcessId owner) { m_data[key.index()].owner = owner; }
  [[nodiscard]] bool placed(DataKey key) const { return known(key) && owner(key) != nobody; }

  /// The process that runs a task with these accesses, whose data are keys (`key_of`). Throws InvalidArgument if it
  /// writes data of several owners, or accesses a datum that is not registered.
  [[nodiscard]] ProcessId process_of(std::span<Access const> accesses) const {
    ProcessId process;
    bool written = false;
    for (auto const& access : accesses) {
      if (!known(key_of(access.data))) {
        throw InvalidArgument("a task accesses data " + std::to_string(access.data.value()) +
                              ", which is not registered");
      }
      ProcessId const owner = m_data[key_of(access.data).index()].owner;
      if (!writes(access.mode)) {
        if (!process.valid()) process = owner;
        continue;
      }
      if (written && owner != process) {
        throw InvalidArgument("a task writes data of processes " + std::to_string(process.value()) + " and " +
                              std::to_string(owner.value()) + "; all that a task writes must have one owner");
      }
      process = owner;
      written = true;
    }
    return process;
  }

  /// No task reads the datum before one writes it; `let_go(ProcessId reader)` as above.
  template <class LetGo>
  void last_use(DataKey key, LetGo&& let_go) {
    end_value(m_data[key.index()], let_go);
  }

  /// Enters a task that `process` runs. Calls `ship(ValueId, ProcessId owner)` for each value that has to be sent there
  /// first, and then `let_go(DataKey key, ProcessId reader)` for each process that holds a value that it overwrites.
  template <class Ship, class LetGo>
  void enter(std::span<Access const> accesses, ProcessId process, Ship&& ship, LetGo&& let_go) {
    for (auto const& access : accesses) {
      auto& datum = m_data[key_of(access.data).index()];
      if (datum.owner == process || std::ranges::find(datum.readers, process) != datum.readers.end()) continue;
      datum.readers.push_back(process);
      ship(ValueId{key_of(access.data), datum.version}, datum.owner);
    }
    for (auto const& access : accesses) {
      if (writes(access.mode))
        end_value(m_data[key_of(access.data).index()], [&](ProcessId reader) { let_go(key_of(access.data), reader); });
    }
  }

  /// The same for a task of another process than `self`, as far as it concerns that one: `ship(ValueId)` for its
  /// values, `let_go(DataKey key)` for those that it holds. What others send to each other is not remembered.
  template <class Ship, class LetGo>
  void pass_over(std::span<Access const> accesses, ProcessId process, ProcessId self, Ship&& ship, LetGo&& let_go) {
    for (auto const& access : accesses) {
      auto& datum = m_data[key_of(access.data).index()];
      if (writes(access.mode)) {
        end_value(datum, [&](ProcessId) { let_go(key_of(access.data)); });
      } else if (datum.owner == self && std::ranges::find(datum.readers, process) == datum.readers.end()) {
        datum.readers.push_back(process);
        ship(ValueId{key_of(access.data), datum.version});
      }
    }
  }

  /// All processes let go of all values of others, and submit nothing before all have heard of that.
  void let_go_of_all() {
    for (auto& datum : m_data) datum.readers.clear();
  }

  /// True if a datum with this key is registered.
  [[nodiscard]] bool known(DataKey key) const {
    return key.index() < m_data.size() && m_data[key.index()].owner.valid();
  }
  [[nodiscard]] ProcessId owner(DataKey key) const { return m_data[key.index()].owner; }
  /// The value that the next task reads.
  [[nodiscard]] ValueId value(DataKey key) const { return {key, m_data[key.index()].version}; }

 private:
  struct Datum {
    ProcessId owner;
    std::uint32_t version = 0;
    std::vector<ProcessId> readers{};  // of the present value: other processes to which it is sent
  };

  // The value that is sent next has another name, although it may be the same: the end of this one may still be on its
  // way then.
  template <class LetGo>
  static void end_value(Datum& datum, LetGo&& let_go) {
    ++datum.version;
    for (ProcessId const reader : datum.readers) let_go(reader);
    datum.readers.clear();
  }

  std::vector<Datum> m_data;  // by key
  std::vector<DataKey> m_free;
};

}  // namespace granary::detail
