// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/engine/backend.hpp>
#include <granary/detail/core/engine/mailbox.hpp>
#include <granary/detail/core/model/machine.hpp>
#include <granary/detail/core/planner/command.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

namespace granary::detail {

/// The copies of an engine: started without the planner's lock, and reported when they end.
class CopyCommands {
 public:
  struct Job {
    CopyBackend* backend;
    TransferId transfer;
    CopyRequest request;
  };

  /// `report` takes the outcome of a copy, null on success, on any thread. Throws InvalidArgument when a link has no
  /// backend, unless it begins or ends at the node of other processes.
  CopyCommands(Machine const& machine, std::vector<std::shared_ptr<CopyBackend>> by_link,
               std::function<void(TransferId, std::exception_ptr)> report);

  // Under the planner's lock.

  [[nodiscard]] Job prepare(CopyCommand const& copy, CopyRequest const& request);
  /// One that other processes perform.
  void count_as_begun() { ++m_active; }
  void count_as_ended() { --m_active; }
  /// The number that the planner knows to be active.
  [[nodiscard]] std::size_t active() const { return m_active; }
  void forget(DataId data);

  // Without the lock.

  /// A copy that cannot start is reported as failed.
  void start(Job const& job);
  /// Waits until no backend uses this object or its owner any more; no copy may be active.
  void wait() const;

 private:
  void ended(TransferId transfer, std::exception_ptr error);

  std::vector<std::shared_ptr<CopyBackend>> m_by_link;
  std::function<void(TransferId, std::exception_ptr)> m_report;
  std::size_t m_active = 0;
  std::atomic<std::uint32_t> m_under_way = 0;  // whose completion may still use this object
};

}  // namespace granary::detail
