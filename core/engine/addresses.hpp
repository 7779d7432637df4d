// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/error.hpp>
#include <granary/core/base/ids.hpp>
#include <granary/core/engine/backend.hpp>
#include <granary/core/planner/command.hpp>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// Where a datum's origin and home lie when they have addresses.
struct HostBinding {
  std::byte* origin = nullptr;
  std::byte* home = nullptr;
  std::shared_ptr<void const> keep;  ///< kept until the datum is forgotten
  Lines lines = {};                  ///< where the bytes at origin and home are not contiguous
};

/// (datum, place) to address. Ids of forgotten data are used again.
class Addresses {
 public:
  explicit Addresses(std::vector<std::byte*> pool_bases) : m_bases(std::move(pool_bases)) {}

  void bind(DataId data, HostBinding binding) {
    if (data.index() >= m_bindings.size()) m_bindings.resize(data.index() + 1);
    m_has_lines = m_has_lines || binding.lines.count > 0;
    m_bindings[data.index()] = std::move(binding);
  }
  /// Returns what was kept for the datum, for the caller to drop.
  std::shared_ptr<void const> forget(DataId data) {
    if (data.index() >= m_bindings.size()) return nullptr;
    return std::move(std::exchange(m_bindings[data.index()], {}).keep);
  }
  /// Whether some datum ever had lines.
  [[nodiscard]] bool has_lines() const { return m_has_lines; }
  [[nodiscard]] Lines lines(DataId data) const {
    return data.index() < m_bindings.size() ? m_bindings[data.index()].lines : Lines{};
  }
  /// Null where the place has no address.
  [[nodiscard]] std::byte* find(DataId data, Place const& place) const {
    if (place.slot == Slot::Pool) {
      auto* base = m_bases[place.node.index()];
      return base != nullptr ? base + place.offset : nullptr;
    }
    if (data.index() >= m_bindings.size()) return nullptr;
    auto const& binding = m_bindings[data.index()];
    return place.slot == Slot::Origin ? binding.origin : binding.home;
  }

 private:
  std::vector<std::byte*> m_bases;      // by node
  std::vector<HostBinding> m_bindings;  // by datum
  bool m_has_lines = false;
};

}  // namespace granary

#pragma GCC visibility pop
