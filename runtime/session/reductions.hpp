// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/engine/engine.hpp>
#include <granary/detail/runtime/session/session.hpp>

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace granary::detail {

/// Data that tasks reduce, from the first contribution to the next other access: their partial copies, which are then
/// combined. Contributions, combinations and the accesses that cause these are submitted under one lock, so that none
/// comes in between; no thread sleeps with it (Engine::submit_at_once).
class Reductions {
 public:
  /// True if copies have to be combined. Needs no lock.
  [[nodiscard]] bool any() const { return m_count.load() > 0; }

  /// Recursive. Throttles the submission when the outermost one ends.
  class Lock {
   public:
    Lock(Reductions& reductions, Engine& engine);
    ~Lock();
    Lock(Lock const&) = delete;
    Lock& operator=(Lock const&) = delete;

   private:
    Reductions& m_reductions;
    Engine& m_engine;
  };

  // Under the lock.
  /// Calls `submission`, which submits one task that contributes. If it throws, nothing was contributed.
  TaskHandle contribute(std::function<TaskHandle()> const& submission);
  /// The copy to which the next contribution goes, for `submission`.
  DataId next_copy(Session& session, std::unique_ptr<ReductionKind> kind);
  /// Combines the copies of data that a task accesses, and of data that share bytes with these.
  void combine_for(Session& session, std::span<Access const> accesses);
  /// The same for these data, or for all if there are none.
  void combine(Session& session, std::span<DataId const> data);

 private:
  struct Open {
    std::unique_ptr<ReductionKind> kind;
    std::vector<std::shared_ptr<DataHold const>> copies;
    std::size_t most_copies;
    std::size_t contributions = 0;
  };
  [[nodiscard]] std::vector<Open>::iterator find(DataId data);
  void combine_beside(Session& session, std::span<DataId const> data);
  void combine_one(Session& session, std::vector<Open>::iterator open);
  void take_back();

  std::recursive_mutex m_mutex;
  int m_depth = 0;
  std::vector<Open> m_open;
  std::vector<DataId> m_contributed;  // by the present submission
  std::atomic<std::size_t> m_count = 0;
};

}  // namespace granary::detail
