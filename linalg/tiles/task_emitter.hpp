// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/model/submitter.hpp>
#include <granary/detail/linalg/data/narrow.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

namespace granary {

/// Emits the tasks of algorithms. Holds a submitter, its ids of the codelets in use, and the common properties of all
/// tasks. One emitter serves any number of algorithms on its submitter.
class GRANARY_EXPORT TaskEmitter {
 public:
  /// `source_line`: of the application, for which the algorithms run; failures of their tasks name it.
  explicit TaskEmitter(Submitter& submitter, SourceLine source_line = {})
      : m_submitter(&submitter), m_source_line(source_line) {}

  [[nodiscard]] Submitter& submitter() const { return *m_submitter; }
  [[nodiscard]] SourceLine const& source_line() const { return m_source_line; }

  /// Sub-tile size of tasks that may run as a finer graph (Hierarchical paper, section 3); 0: never. Tasks whose tiles
  /// are not larger never do: see docs/hierarchical.md.
  [[nodiscard]] std::int32_t inner_tile() const { return m_inner_tile; }
  void set_inner_tile(std::int32_t inner_tile) { m_inner_tile = inner_tile; }

  /// Sets the indices i, j and k of the next task in its algorithm, for traces.
  TaskEmitter& at(std::uint64_t i, std::uint64_t j, std::optional<std::uint64_t> k = {}) {
    m_index = {to_int32(i, "a tile row"), to_int32(j, "a tile column"), k ? to_int32(*k, "a tile column") : -1};
    return *this;
  }

  /// If true, the next task changes its tile in any order with others that do: AccessMode::Commute for ReadWrite.
  TaskEmitter& commuting(bool commutes) {
    m_commutes = commutes;
    return *this;
  }

  /// See Submitter::last_use.
  void last_use(DataId data) { m_submitter->last_use(data); }

  /// Submits one task. `codelet` outlives the emitter: it is added to the submitter when it is first used.
  template <class P>
  TaskId emit(detail::Codelet const& codelet, std::initializer_list<detail::Access> accesses, std::int64_t priority,
              double flops, P&& parameters) {
    return emit(codelet, std::span<detail::Access const>(accesses.begin(), accesses.size()), priority, flops,
                std::forward<P>(parameters));
  }
  template <class P>
  TaskId emit(detail::Codelet const& codelet, std::span<detail::Access const> accesses, std::int64_t priority,
              double flops, P&& parameters) {
    std::vector<detail::Access> commuting;
    if (std::exchange(m_commutes, false)) {
      commuting.assign(accesses.begin(), accesses.end());
      for (auto& access : commuting)
        if (access.mode == detail::AccessMode::ReadWrite) access.mode = detail::AccessMode::Commute;
      accesses = commuting;
    }
    return m_submitter->submit({.codelet = id_of(codelet),
                                .accesses = accesses,
                                .priority = priority,
                                .flops = flops,
                                .index = std::exchange(m_index, detail::no_index),
                                .source_line = m_source_line},
                               detail::Parameters(std::forward<P>(parameters)));
  }

 private:
  detail::CodeletId id_of(detail::Codelet const& codelet) {
    for (auto const& [known, id] : m_codelets) {
      if (known == &codelet) return id;
    }
    return m_codelets.emplace_back(&codelet, m_submitter->add_codelet(codelet)).second;
  }

  Submitter* m_submitter;
  SourceLine m_source_line;
  std::int32_t m_inner_tile = 0;
  detail::TaskIndex m_index = detail::no_index;  // of the next task
  bool m_commutes = false;                       // the next task does
  std::vector<std::pair<detail::Codelet const*, detail::CodeletId>> m_codelets;
};

namespace detail {

/// Sets another inner tile size of an emitter while it lives; 0 keeps the emitter's own.
class GRANARY_EXPORT InnerTileScope {
 public:
  InnerTileScope(TaskEmitter& tasks, std::int32_t inner_tile) : m_tasks(tasks), m_before(tasks.inner_tile()) {
    if (inner_tile != 0) tasks.set_inner_tile(inner_tile);
  }
  ~InnerTileScope() { m_tasks.set_inner_tile(m_before); }
  InnerTileScope(InnerTileScope const&) = delete;
  InnerTileScope& operator=(InnerTileScope const&) = delete;

 private:
  TaskEmitter& m_tasks;
  std::int32_t m_before;
};

}  // namespace detail

}  // namespace granary
