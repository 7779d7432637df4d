// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>

#include <cstdint>
#include <deque>
#include <vector>

namespace granary::detail {

/// Replicas of a node that their last holder let go, in about the order in which that happened: one that was held again
/// since it was queued gets another turn. O(1), amortised; it stores each datum once.
class GRANARY_EXPORT IdleReplicas {
 public:
  /// The last holder let it go.
  void add(DataId data) {
    if (data.index() >= m_uses.size()) m_uses.resize(data.index() + 1);
    auto& use = m_uses[data.index()];
    use.last = ++m_clock;
    if (use.queued) return;
    use.queued = true;
    m_queue.push_back({data, use.last});
  }
  /// Takes the first one of which `suits(DataId)` holds, and forgets those before it; invalid if there is none.
  template <class Suits>
  [[nodiscard]] DataId take(Suits&& suits) {
    while (!m_queue.empty()) {
      auto const [data, last] = m_queue.front();
      m_queue.pop_front();
      auto& use = m_uses[data.index()];
      if (use.last != last) {
        m_queue.push_back({data, use.last});
        continue;
      }
      use.queued = false;
      if (suits(data)) return data;
    }
    return {};
  }

 private:
  struct Entry {
    DataId data;
    std::uint64_t last;
  };
  struct Use {
    std::uint64_t last = 0;  // by m_clock
    bool queued = false;
  };
  std::deque<Entry> m_queue;
  std::vector<Use> m_uses;  // by datum
  std::uint64_t m_clock = 0;
};

}  // namespace granary::detail
