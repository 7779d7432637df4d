// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace granary::detail {

/// A datum of several processes, by the same number in all of them. Numbers count registrations from 0; those of
/// released data are used again first, in the same order everywhere. An engine knows the datum by a DataId of its own.
using DataKey = Id<struct DataKeyTag, std::uint32_t>;

/// A Submitter for several processes has keys in the place of ids: in what it returns, and in the accesses of tasks.
/// Only these two functions convert the one to the other.
[[nodiscard]] constexpr DataKey key_of(DataId submitted) { return DataKey(submitted.value()); }
[[nodiscard]] constexpr DataId submitted_id(DataKey key) { return DataId(key.value()); }

/// A value, alike in all processes. The version grows with each write of the datum and each last use.
struct GRANARY_EXPORT ValueId {
  DataKey key;
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
