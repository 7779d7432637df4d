// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/engine/lines.hpp>

#include <cstddef>

namespace granary::detail {

/// A datum's bytes where a task overwrites them, and the place where they are kept meanwhile, both in memory of the
/// host.
struct GRANARY_EXPORT KeptBytes {
  std::byte* value = nullptr;
  std::byte* aside = nullptr;
  Bytes bytes = 0;
  Lines lines = {};  ///< at `value`; aside they are packed

  void keep() const;
  void put_back() const;
};

}  // namespace granary::detail
