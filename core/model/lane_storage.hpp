// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>

#include <memory>
#include <typeindex>
#include <utility>
#include <vector>

namespace granary::detail {

/// State that kernels keep on one worker's lane between calls, such as handles of vendor libraries. Used by one thread
/// at a time, and destroyed before the lane's stream.
class GRANARY_EXPORT LaneStorage {
 public:
  /// The lane's T; the first call creates it with `make`, which returns it by value.
  template <class T, class Make>
  T& get(Make&& make) {
    for (auto const& [type, kept] : m_kept) {
      if (type == std::type_index(typeid(T))) return *static_cast<T*>(kept.get());
    }
    auto made = std::make_shared<T>(std::forward<Make>(make)());
    m_kept.emplace_back(typeid(T), made);
    return *made;
  }

 private:
  std::vector<std::pair<std::type_index, std::shared_ptr<void>>> m_kept;
};

}  // namespace granary::detail
