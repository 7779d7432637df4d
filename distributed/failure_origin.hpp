// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/error_kinds.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/planner/failure.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace granary::detail {

/// The process and task where a failure began.
struct GRANARY_EXPORT FailureOrigin {
  ProcessId process;
  std::uint64_t position = 0;  ///< of the task in the common order of submission
  std::string what = {};       ///< "task 'potrf' 17: the matrix is not positive definite"
  /// Nothing failed there now: the value was asked for after the report of the failure that took it.
  bool known = false;
  ErrorText error = {};  ///< the exception, if its type is known in other processes
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

/// The origin of a failure that this process reports, if it is in another process; otherwise null.
[[nodiscard]] GRANARY_EXPORT std::shared_ptr<FailureOrigin const> remote_origin(Failure const& failure);
/// The origin of the failure, in this process (`self`) or another one.
[[nodiscard]] GRANARY_EXPORT std::shared_ptr<FailureOrigin const> origin_of(Failure const& failure, ProcessId self);
/// Throws the exception with which the failure began, if its type is known (add_error_kind) there and in this process;
/// otherwise RemoteFailure. So it is the same in all processes that know the type.
[[noreturn]] GRANARY_EXPORT void rethrow_origin(std::shared_ptr<FailureOrigin const> const& origin);

}  // namespace granary::detail
