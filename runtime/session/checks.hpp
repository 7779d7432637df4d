// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/byte_set.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/access.hpp>
#include <granary/detail/core/model/codelet.hpp>
#include <granary/detail/core/model/parameters.hpp>
#include <granary/detail/runtime/session/checked_body.hpp>
#include <granary/detail/runtime/session/commuting_orders.hpp>
#include <granary/detail/runtime/session/page_guard.hpp>
#include <granary/detail/runtime/session/task_code.hpp>
#include <granary/detail/runtime/session/task_info.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace granary::detail {

// Runs the tasks of the façade so that it finds what would give wrong results without a message
// (RuntimeOptions::check). Bodies run one at a time. Thread-safe.
class Checks : public std::enable_shared_from_this<Checks> {
 public:
  // `guarded`: also against accesses of the program between a submission and a wait. `orders`: also for the order of
  // commuting tasks.
  Checks(bool guarded, bool orders)
      : m_guard(guarded ? std::make_unique<PageGuard>() : nullptr),
        m_orders(orders ? std::make_unique<CommutingOrders>() : nullptr) {}

  // Registers a datum in granary's memory. Ids are reused: it replaces an earlier datum of the same id.
  void add(DataId data, std::string name, Bytes bytes);
  // Registers a datum in the application's memory. The engine keeps `kept` until it forgets the datum; this object
  // holds only a weak reference to it.
  void add(DataId data, std::shared_ptr<CheckedDatum> const& kept);

  // Throws CheckFailed if the parameters hold an address of a datum's elements, or if these changed since the last
  // task.
  [[nodiscard]] Parameters checked(TaskInfo const& info, TaskCode const& code, std::span<Access const> accesses,
                                   Parameters parameters);
  // The code for such parameters.
  [[nodiscard]] static TaskCode checked(TaskCode const& code);

  // Work that is no task of the façade may change what it likes, until the application has waited for everything.
  void begin_other_work();
  // The application begins to wait.
  void begin_wait();
  // The application has waited for the data, or for all if there are none, and may change them. Throws CheckFailed if
  // it changed them before.
  void waited(std::span<DataId const> data);
  // The same if the wait has thrown something else.
  void forget(std::span<DataId const> data);

 private:
  struct Known {
    std::weak_ptr<CheckedDatum> in_place;
    std::shared_ptr<CheckedDatum> own;
  };
  struct Task;
  struct Before;
  friend struct CheckedTask;

  [[nodiscard]] std::shared_ptr<CheckedDatum> find(DataId data) const;
  template <class Function>
  void for_each_at(std::uint64_t first, std::uint64_t end, Function&& function) const;
  void refuse_captured(TaskInfo const& info, TaskCode const& code, std::span<Access const> accesses,
                       std::byte const* parameters) const;
  void guard(CheckedBody const& body);
  [[nodiscard]] std::unique_lock<std::mutex> enter_body();
  void forget_overlapping(CheckedDatum const& datum);
  void run(Task& task, KernelCall const& call);
  void run_body(std::shared_ptr<CheckedBody> const& body, KernelCall const& call);
  void begin(CheckedBody const& task, KernelCall const& call, Before& before);
  void end(CheckedBody const& task, KernelCall const& call, Before const& before);
  void ended(Task& task);
  [[nodiscard]] std::vector<std::shared_ptr<CheckedDatum>> all_of(std::span<DataId const> data) const;

  std::unique_ptr<PageGuard> m_guard;         // null: nothing is guarded
  std::unique_ptr<CommutingOrders> m_orders;  // null: they are not compared
  std::mutex m_body;                          // held while a body runs, before the other one
  mutable std::mutex m_mutex;
  std::unordered_map<DataId::rep, Known> m_data;
  std::multimap<std::uint64_t, std::weak_ptr<CheckedDatum>> m_by_address;  // by the first byte
  std::uint64_t m_longest = 0;                                             // span of those
  bool m_other_work = false;
};

}  // namespace granary::detail
