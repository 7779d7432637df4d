// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace granary::detail {

/// Some tasks in the order of their submission, and what they access, by small numbers: the input of `find_order`.
///
/// ```cpp
/// granary::detail::OrderGraph graph;
/// auto const a = graph.add_data({.bytes = 8});
/// auto const c = graph.add_data({.bytes = 8});
/// graph.add_use({.data = a, .reads = true});
/// graph.add_use({.data = c, .reads = true, .writes = true});
/// graph.end_task();
/// assert(graph.tasks() == 1 && graph.uses(0).size() == 2);
/// ```
class GRANARY_EXPORT OrderGraph {
 public:
  struct Use {
    std::uint32_t data = 0;
    bool reads = false;
    bool writes = false;
    bool commutes = false;  ///< AccessMode::Commute
  };

  struct Datum {
    Bytes bytes = 0;
    bool resident = false;   ///< the memory has the value when the first task starts
    bool temporary = false;  ///< nobody needs the value after its last use
  };

  std::uint32_t add_data(Datum datum) {
    m_data.push_back(datum);
    return data() - 1;
  }
  /// A use of the next task; a task uses a datum once.
  void add_use(Use use) { m_uses.push_back(use); }
  /// `elsewhere`: the task runs on what is behind the memory, so that what others of the tasks write moves there and
  /// back.
  void end_task(bool elsewhere = false) {
    m_ends.push_back(m_uses.size());
    m_elsewhere.push_back(elsewhere);
  }

  [[nodiscard]] std::uint32_t data() const { return static_cast<std::uint32_t>(m_data.size()); }
  [[nodiscard]] std::uint32_t tasks() const { return static_cast<std::uint32_t>(m_ends.size() - 1); }
  [[nodiscard]] Bytes bytes(std::uint32_t data) const { return m_data[data].bytes; }
  [[nodiscard]] Datum const& operator[](std::uint32_t data) const { return m_data[data]; }
  [[nodiscard]] bool elsewhere(std::uint32_t task) const { return m_elsewhere[task]; }
  [[nodiscard]] std::span<Use const> uses(std::uint32_t task) const {
    return std::span(m_uses).subspan(m_ends[task], m_ends[task + 1] - m_ends[task]);
  }
  /// The task's uses are numbered from here, in the order of tasks.
  [[nodiscard]] std::size_t first_use(std::uint32_t task) const { return m_ends[task]; }
  [[nodiscard]] std::size_t all_uses() const { return m_uses.size(); }

 private:
  std::vector<Datum> m_data;
  std::vector<bool> m_elsewhere;
  std::vector<Use> m_uses;
  std::vector<std::size_t> m_ends{0};
};

}  // namespace granary::detail
