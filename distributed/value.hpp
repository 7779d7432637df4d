// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace granary::detail {

/// A value, alike in all processes: of the datum that is registered as the `key`-th (keys of released data are used
/// again in the same order everywhere). The version grows with each write and each last use.
struct GRANARY_EXPORT ValueId {
  DataId key;
  std::uint32_t version = 0;
  auto operator<=>(ValueId const&) const = default;
};

}  // namespace granary::detail

template <>
struct GRANARY_EXPORT std::hash<granary::detail::ValueId> {
  std::size_t operator()(granary::detail::ValueId value) const noexcept {
    return std::hash<std::uint64_t>{}((std::uint64_t{value.key.value()} << 32 | value.version) * 0x9e3779b97f4a7c15U);
  }
};
