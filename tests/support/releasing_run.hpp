// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/policies/registry.hpp>

#include <support/fake_system_view.hpp>

#include <string>
#include <utility>
#include <vector>

namespace granary::test {

using namespace detail;

/// A scheduler that heeds which task made another one ready, and where that ran.
class ReleasingRun {
 public:
  ReleasingRun(Machine machine, std::string const& scheduler)
      : view(std::move(machine)), run(view, make_scheduler(scheduler)) {}

  TaskId add(std::int64_t priority = 0, std::uint64_t groups = ~std::uint64_t{0}) {
    return view.add_task({}, priority, Duration{100}, groups);
  }
  /// A task that no other task made ready.
  TaskId submit(std::int64_t priority = 0, std::uint64_t groups = ~std::uint64_t{0}) {
    TaskId const task = add(priority, groups);
    run.scheduler->submitted(task);
    run.scheduler->ready(task);
    return task;
  }
  /// A task of the group ends, and makes tasks of these priorities ready.
  std::vector<TaskId> release(GroupId group, std::vector<std::int64_t> const& priorities,
                              std::uint64_t groups = ~std::uint64_t{0}) {
    TaskId const releaser = add();
    view.commit(releaser, group);
    run.finish(releaser);
    std::vector<TaskId> released;
    for (auto const priority : priorities) {
      released.push_back(add(priority, groups));
      run.scheduler->ready(released.back());
    }
    return released;
  }

  FakeSystemView view;
  FakeRun run;
};

}  // namespace granary::test
