// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <typeindex>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// What kernels keep on one worker's lane from call to call: a vendor's library handles, say. Used by one thread at a
/// time, and destroyed before the lane's stream.
class LaneStorage {
 public:
  /// The lane's T; `make` returns it (by value) when it is first asked for.
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

}  // namespace granary

#pragma GCC visibility pop
