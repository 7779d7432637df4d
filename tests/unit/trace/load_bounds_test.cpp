// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/trace/html_report.hpp>
#include <granary/detail/trace/load_bounds.hpp>

#include <gmock/gmock.h>

namespace granary {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

// Three memories, each with a worker; the last one is not a device's.
Trace three_workers() {
  Trace trace;
  for (auto const kind : {detail::NodeKind::Device, detail::NodeKind::Device, detail::NodeKind::Host}) {
    auto const node = trace.machine.add_node({.name = "m" + std::to_string(trace.machine.nodes.size()), .kind = kind});
    trace.machine.add_worker({.name = "w", .node = node});
  }
  return trace;
}

void add_task(Trace& trace, std::uint64_t id, std::uint32_t worker, double flops) {
  detail::TraceTask task;
  task.task = TaskId(id);
  task.worker = detail::WorkerId(worker);
  task.flops = flops;
  trace.tasks.push_back(task);
}

TEST(LoadBounds, GivesEachDeviceItsShareOfTheOperations) {
  auto trace = three_workers();
  add_task(trace, 0, 0, 3);
  add_task(trace, 1, 1, 1);
  add_task(trace, 2, 2, 4);
  add_task(trace, 3, 1, 100);  // more than the operations of the bound
  EXPECT_DOUBLE_EQ(add_shares_of_loads(trace, 3, 8000), 4000);
  EXPECT_THAT(trace.totals,
              ElementsAre(Pair("least bytes loaded into m0", 3000.0), Pair("least bytes loaded into m1", 1000.0)));
}

TEST(LoadBounds, LeavesOutDevicesWithoutOperations) {
  auto trace = three_workers();
  add_task(trace, 0, 1, 5);
  EXPECT_DOUBLE_EQ(add_shares_of_loads(trace, 1, 700), 700);
  EXPECT_THAT(trace.totals, ElementsAre(Pair("least bytes loaded into m1", 700.0)));
}

TEST(LoadBounds, SaysNothingWhereNothingIsKnown) {
  auto trace = three_workers();
  EXPECT_EQ(add_shares_of_loads(trace, 1, 700), 0) << "nothing ran";
  add_task(trace, 0, 0, 0);
  EXPECT_EQ(add_shares_of_loads(trace, 1, 700), 0) << "operations are unknown";
  add_task(trace, 0, 0, 5);
  EXPECT_EQ(add_shares_of_loads(trace, 1, 0), 0) << "there is no bound";
  EXPECT_THAT(trace.totals, IsEmpty());
}

}  // namespace
}  // namespace granary
