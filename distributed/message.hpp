// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/distributed/failure_origin.hpp>
#include <granary/detail/distributed/value.hpp>

#include <cstdint>
#include <memory>

namespace granary::detail {

/// A message between processes about a value.
struct GRANARY_EXPORT Message {
  enum class Kind : std::uint8_t {
    Announce,  ///< owner to reader: the value exists; or, with a failure, it never will
    Ask,       ///< reader to owner: send it with this tag; its place is reserved, and it is expected there
    Refuse,    ///< owner to reader: what was asked for with this tag does not come, because of the failure
    LetGo      ///< reader to owner: the reader does not need the value any more, and does not ask for it again
  };
  Kind kind = Kind::Announce;
  ValueId value;
  std::uint32_t tag = 0;
  Bytes bytes = 0;  ///< Announce: of the value
  std::shared_ptr<FailureOrigin const> failure = {};
};

}  // namespace granary::detail
