// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>

#include <cstdint>

namespace granary::detail {

/// The layout of a datum whose bytes at its origin and home are `count` lines of `line` bytes, `pitch` bytes apart. In
/// pools the lines are `packed` bytes apart; count * packed is the datum's size. No lines (count 0): the bytes are
/// contiguous everywhere.
struct GRANARY_EXPORT Lines {
  Bytes line = 0;
  std::uint64_t count = 0;
  Bytes pitch = 0;
  Bytes packed = 0;
  bool operator==(Lines const&) const = default;
};

}  // namespace granary::detail
