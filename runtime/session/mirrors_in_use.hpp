// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/runtime/session/two_sides.hpp>

#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace granary::detail {

/// The sides of mirrored data that tasks have used since the application last waited for them. Thread-safe.
class MirrorsInUse {
 public:
  /// See TwoSides::use.
  void keep(std::shared_ptr<TwoSides> used);
  /// The application has waited for these data, or for all if there are none.
  void give_back(std::span<DataId const> data);

 private:
  std::mutex m_mutex;
  std::vector<std::shared_ptr<TwoSides>> m_sides;
};

}  // namespace granary::detail
