// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/runtime/session/mirrors_in_use.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace granary::detail {

void MirrorsInUse::keep(std::shared_ptr<TwoSides> used) {
  std::lock_guard const lock(m_mutex);
  m_sides.push_back(std::move(used));
}

void MirrorsInUse::give_back(std::span<DataId const> data) {
  std::vector<std::shared_ptr<TwoSides>> concerned;
  {
    std::lock_guard const lock(m_mutex);
    auto const others = std::ranges::stable_partition(
        m_sides, [&](auto const& one) { return !data.empty() && std::ranges::count(data, one->data()) == 0; });
    std::ranges::move(others, std::back_inserter(concerned));
    m_sides.erase(others.begin(), others.end());
  }
  for (auto const& one : concerned) one->give_back();
}

}  // namespace granary::detail
