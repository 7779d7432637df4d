// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/runtime/session/checked_body.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace granary::detail {

// Finds data whose values depend on the order of two tasks that commute on them. After the second task, both bodies run
// again in the opposite order on copies of their inputs, and the results are compared. A pair is compared only if
// another run could execute it in the opposite order:
// - both use only Views in the application's memory, which they only read or commute on;
// - data on which they commute consist of integers or of real or complex floating-point numbers;
// - the second task was submitted before the first one ended, and no body submitted either of them;
// - neither the second task nor one submitted between the two must wait for the first.
// A pair is also skipped if the data of a task exceed 64 MiB, if more than 10,000 tasks lie between, if a body is
// restartable, or if running the bodies again in the same order does not reproduce the results bit for bit: such bodies
// depend on something else.
class CommutingOrders {
 public:
  // A body that runs, with copies of its data.
  struct Update;

  // In the order of submission. The body gets its number.
  void submitted(CheckedBody& body);
  // Null if the body tells nothing about orders.
  [[nodiscard]] std::shared_ptr<Update> begin(std::shared_ptr<CheckedBody const> body, KernelCall const& call);
  // Throws CheckFailed for data that depend on the order of this task and of the one before.
  void end(std::shared_ptr<Update> const& update, KernelCall const& call);
  // Tasks submitted so far are compared no more.
  void forget();

  // True while this thread runs a body again, which submits nothing.
  [[nodiscard]] static bool again();

 private:
  [[nodiscard]] bool may_change_places(CheckedBody const& a, CheckedBody const& b) const;
  [[nodiscard]] bool is_last_on_shared(std::shared_ptr<Update> const& before, CheckedBody const& now) const;
  static void compare(Update const& before, Update const& now, KernelCall const& call);

  // An access of a task, without keeping the datum.
  struct Use {
    CheckedDatum const* datum;
    AccessMode mode;
    ByteSet set;  // empty: in granary's memory
  };
  using Uses = std::vector<Use>;
  [[nodiscard]] static Uses uses_of(CheckedBody const& body);
  [[nodiscard]] static bool conflict(Uses const& a, Uses const& b);

  mutable std::mutex m_mutex;
  std::uint64_t m_first = 0;                                                // number of the first of those
  std::deque<Uses> m_all;                                                   // by task that was submitted since `forget`
  std::unordered_map<CheckedDatum const*, std::shared_ptr<Update>> m_last;  // by datum on which it has commuted
};

}  // namespace granary::detail
