// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/error.hpp>
#include <granary/core/base/export.hpp>
#include <granary/core/base/ids.hpp>
#include <granary/distributed/value.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace granary {

/// Where a failure began.
struct GRANARY_EXPORT FailureOrigin {
  ProcessId process;
  std::uint64_t position = 0;  ///< of the task in the common order of submission
  std::string what = {};       ///< "task 'potrf' 17: the matrix is not positive definite"
  /// Nothing failed there now: the value was asked for after the report of the failure that took it.
  bool known = false;
};

/// A value from another process does not come, because of a failure there.
class GRANARY_EXPORT RemoteFailure : public Error {
 public:
  explicit RemoteFailure(std::shared_ptr<FailureOrigin const> origin)
      : Error("process " + std::to_string(origin->process.value()) + ": " + origin->what),
        m_origin(std::move(origin)) {}
  [[nodiscard]] std::shared_ptr<FailureOrigin const> const& origin() const { return m_origin; }

 private:
  std::shared_ptr<FailureOrigin const> m_origin;
};

/// What processes tell each other about a value.
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
  std::shared_ptr<FailureOrigin const> failure = {};
};

}  // namespace granary
