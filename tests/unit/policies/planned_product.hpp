// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/policies/registry.hpp>
#include <support/fake_system_view.hpp>

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

namespace granary::test {

using namespace detail;

inline constexpr GroupId first_group{0};
inline constexpr GroupId second_group{1};

/// C(i,j) += A(i,k) B(k,j) on tiles of 100 bytes, one chain of updates after the other; the first of each is ready.
struct PlannedProduct {
  static constexpr std::size_t order = 4;
  PlannedProduct(std::uint32_t groups, Bytes capacity, char const* specification = "planned", double bandwidth = 1e12)
      : view(machine(groups, capacity, bandwidth)), run(view, make_scheduler(specification)) {
    for (std::size_t i = 0; i < order * order; ++i) {
      a.push_back(view.add_data());
      b.push_back(view.add_data());
      c.push_back(view.add_data());
    }
    for (std::size_t i = 0; i < order; ++i) {
      for (std::size_t j = 0; j < order; ++j) {
        for (std::size_t k = 0; k < order; ++k) {
          tasks.push_back(
              view.add_task({read(a[i * order + k]), read(b[k * order + j]), read_write(c[i * order + j])}));
          run.scheduler->submitted(tasks.back());
        }
      }
    }
    for (std::size_t t = 0; t < tasks.size(); t += order) run.scheduler->ready(tasks[t]);
  }
  static Machine machine(std::uint32_t groups, Bytes capacity, double bandwidth = 1e12) {
    auto made = devices(groups);
    for (std::uint32_t g = 1; g <= groups; ++g) made.nodes[g].capacity = capacity;
    for (auto& link : made.links) link.bandwidth = bandwidth;
    return made;
  }
  /// Runs the group's next task to its end; the next update of the same tile becomes ready.
  TaskId step(GroupId group) {
    TaskId const task = run.next_and_commit(group);
    if (!task.valid()) return task;
    run.scheduler->finished(task);
    view.finish(task);
    if ((task.index() + 1) % order == 0) return task;
    if (TaskId const next = tasks[task.index() + 1]; !withdrawn.contains(next)) run.scheduler->ready(next);
    return task;
  }
  /// Two tasks end, and no others were submitted between: there is a plan from the next step on.
  void settle() {
    step(first_group);
    step(first_group);
  }
  [[nodiscard]] std::size_t tile_of(TaskId task) const { return task.index() / order; }

  FakeSystemView view;
  FakeRun run;
  std::vector<DataId> a, b, c;
  std::vector<TaskId> tasks;
  std::set<TaskId> withdrawn;  ///< these never become ready
};

}  // namespace granary::test
