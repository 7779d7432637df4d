// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/planner/command.hpp>
#include <granary/detail/distributed/message.hpp>

#include <cstdint>

namespace granary::detail {

/// How one process reaches the others. Messages between two processes arrive in the order in which they were sent. What
/// arrives, and what has been sent, reaches the `Exchange` later, outside of these calls.
class GRANARY_EXPORT Transport {
 public:
  virtual ~Transport() = default;

  virtual void send(ProcessId to, Message message) = 0;
  /// The bytes that `from` sends with this tag go to the copy's destination: `Exchange::received`.
  virtual void expect(ProcessId from, std::uint32_t tag, CopyCommand const& copy) = 0;
  /// The expected value does not come.
  virtual void cancel(ProcessId from, std::uint32_t tag) = 0;
  /// Sends the bytes at the command's place, highest priority first. `Exchange::sent` follows.
  virtual void ship(ProcessId to, std::uint32_t tag, ShipCommand const& command, std::int64_t priority) = 0;
};

}  // namespace granary::detail
