// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/ids.hpp>
#include <granary/core/planner/movement/datum.hpp>

#include <cstddef>
#include <memory>
#include <vector>

#pragma GCC visibility push(default)

namespace granary::detail {

/// The registered data, at addresses that do not change. Ids of forgotten ones are given again.
class DataTable {
 public:
  /// With its origin and its home as replicas.
  DataId add(DataDescription description);
  void forget(DataId data);

  [[nodiscard]] bool known(DataId data) const { return data.index() < m_size && (*this)[data].bytes() > 0; }
  [[nodiscard]] Datum& operator[](DataId data) { return m_pages[data.index() / page][data.index() % page]; }
  [[nodiscard]] Datum const& operator[](DataId data) const { return const_cast<DataTable&>(*this)[data]; }
  /// One more than the largest id so far.
  [[nodiscard]] std::size_t size() const { return m_size; }

  /// Calls `function(DataId, Datum&)` for each, in the order of ids.
  template <class Function>
  void for_each(Function&& function) {
    for (std::uint32_t d = 0; d < m_size; ++d) {
      if (known(DataId(d))) function(DataId(d), (*this)[DataId(d)]);
    }
  }
  template <class Function>
  void for_each(Function&& function) const {
    const_cast<DataTable&>(*this).for_each([&](DataId id, Datum const& datum) { function(id, datum); });
  }

 private:
  static constexpr std::size_t page = 64;

  std::vector<std::unique_ptr<Datum[]>> m_pages;
  std::size_t m_size = 0;
  std::vector<DataId> m_free;
};

}  // namespace granary::detail

#pragma GCC visibility pop
