// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/ids.hpp>

#include <algorithm>
#include <cstdint>
#include <unordered_set>
#include <utility>
#include <vector>

namespace granary::detail {

/// A set of data on nodes. O(1).
class Replicas {
 public:
  void add(DataId data, NodeId node) { m_keys.insert(key(data, node)); }
  void remove(DataId data, NodeId node) { m_keys.erase(key(data, node)); }
  /// By datum, then node. O(replicas · log).
  [[nodiscard]] std::vector<std::pair<DataId, NodeId>> sorted() const {
    std::vector<std::uint64_t> keys(m_keys.begin(), m_keys.end());
    std::ranges::sort(keys);
    std::vector<std::pair<DataId, NodeId>> replicas;
    for (auto const key : keys)
      replicas.emplace_back(static_cast<std::uint32_t>(key >> 32U), static_cast<std::uint32_t>(key & 0xffffffffU));
    return replicas;
  }

 private:
  static std::uint64_t key(DataId data, NodeId node) { return std::uint64_t{data.value()} << 32U | node.value(); }
  std::unordered_set<std::uint64_t> m_keys;
};

}  // namespace granary::detail
