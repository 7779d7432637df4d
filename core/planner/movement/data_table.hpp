// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/chunked_array.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/model/machine.hpp>
#include <granary/detail/core/planner/movement/datum.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace granary::detail {

/// The registered data, at addresses that do not change. Ids of forgotten ones are given again.
class GRANARY_EXPORT DataTable {
 public:
  /// With its origin, its home and its further places as replicas.
  DataId add(DataDescription description, std::span<FixedPlace const> places, Topology const& topology);
  void forget(DataId data);

  [[nodiscard]] bool known(DataId data) const { return data.index() < m_data.size() && (*this)[data].bound > 0; }
  [[nodiscard]] Datum& operator[](DataId data) { return m_data[data.index()]; }
  [[nodiscard]] Datum const& operator[](DataId data) const { return m_data[data.index()]; }
  /// True if there ever was a datum whose values differ in size.
  [[nodiscard]] bool any_varies() const { return m_any_varies; }
  /// One more than the largest id so far.
  [[nodiscard]] std::size_t size() const { return m_data.size(); }

  /// Calls `function(DataId, Datum&)` for each, in the order of ids.
  template <class Function>
  void for_each(Function&& function) {
    for (std::uint32_t d = 0; d < m_data.size(); ++d) {
      if (known(DataId(d))) function(DataId(d), (*this)[DataId(d)]);
    }
  }
  template <class Function>
  void for_each(Function&& function) const {
    const_cast<DataTable&>(*this).for_each([&](DataId id, Datum const& datum) { function(id, datum); });
  }

 private:
  ChunkedArray<Datum> m_data;
  std::vector<DataId> m_free;
  bool m_any_varies = false;
};

}  // namespace granary::detail
