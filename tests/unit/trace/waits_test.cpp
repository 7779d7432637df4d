// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/trace/process_traces.hpp>
#include <granary/detail/trace/waits.hpp>

#include <gmock/gmock.h>

#include <tuple>

namespace granary::waits_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

detail::Instant at(std::int64_t ns) { return detail::Instant(Duration(ns)); }

// A disk, a host without workers, two devices with one worker each.
Trace small_trace() {
  Trace trace;
  auto& machine = trace.machine;
  auto const disk = machine.add_node({.name = "disk", .kind = detail::NodeKind::Disk});
  auto const host = machine.add_node({.name = "host"});
  auto const a = machine.add_node({.name = "a", .kind = detail::NodeKind::Device});
  auto const b = machine.add_node({.name = "b", .kind = detail::NodeKind::Device});
  machine.add_link_pair(disk, host, 1e9);  // links 0 and 1
  machine.add_link_pair(host, a, 1e9);     // 2 and 3
  machine.add_link_pair(host, b, 1e9);     // 4 and 5
  machine.add_worker({.name = "a", .node = a, .kind = detail::WorkerKind::Device});
  machine.add_worker({.name = "b", .node = b, .kind = detail::WorkerKind::Device});
  trace.end = at(100);
  return trace;
}

void add_task(Trace& trace, std::uint32_t worker, std::int64_t begin, std::int64_t end) {
  detail::TraceTask task;
  task.worker = detail::WorkerId(worker);
  task.begin = at(begin);
  task.end = at(end);
  trace.tasks.push_back(task);
}

void add_transfer(Trace& trace, std::uint32_t link, std::int64_t begin, std::int64_t end,
                  detail::TraceTransfer::Why why) {
  trace.transfers.push_back({.data = 0,
                             .link = detail::LinkId(link),
                             .bytes = 8,
                             .begin = at(begin),
                             .end = at(end),
                             .why = why,
                             .failed = false});
}

std::vector<std::tuple<std::uint32_t, std::int64_t, std::int64_t>> found(Trace const& trace) {
  std::vector<std::tuple<std::uint32_t, std::int64_t, std::int64_t>> result;
  for (auto const& wait : waits_of(trace)) {
    result.emplace_back(wait.worker.value(), wait.begin.time_since_epoch().count(),
                        wait.end.time_since_epoch().count());
  }
  return result;
}

TEST(Waits, ABlockedWorkerDoesNotWaitForDataNorIsItIdle) {
  auto trace = small_trace();
  add_task(trace, 0, 30, 40);
  trace.tasks.back().blocked = Duration(20);
  add_transfer(trace, 2, 0, 25, detail::TraceTransfer::Why::Fetch);  // to the worker's device
  auto const waits = waits_of(trace);
  ASSERT_EQ(waits.size(), 2U);
  EXPECT_EQ(waits[0].why, TraceWait::Why::Data);
  EXPECT_EQ(std::pair(waits[0].begin, waits[0].end), std::pair(at(0), at(10)));
  EXPECT_EQ(waits[1].why, TraceWait::Why::Blocked);
  EXPECT_EQ(std::pair(waits[1].begin, waits[1].end), std::pair(at(10), at(30)));
}

TEST(Waits, NothingUnderWayIsIdle) {
  auto trace = small_trace();
  add_task(trace, 0, 10, 20);
  EXPECT_THAT(found(trace), IsEmpty());
}

TEST(Waits, AFetchToTheNodeOfAWorkerThatRunsNothing) {
  auto trace = small_trace();
  add_task(trace, 0, 20, 40);
  add_transfer(trace, 2, 10, 30, detail::TraceTransfer::Why::Fetch);  // its second half is hidden by the task
  add_transfer(trace, 2, 35, 60, detail::TraceTransfer::Why::Fetch);
  add_transfer(trace, 2, 50, 70, detail::TraceTransfer::Why::Fetch);
  EXPECT_THAT(found(trace), ElementsAre(std::tuple(0U, 10, 20), std::tuple(0U, 40, 70)));
}

TEST(Waits, AFetchToANodeOnTheWayIsForAllBehindIt) {
  auto trace = small_trace();
  add_task(trace, 0, 0, 12);
  add_transfer(trace, 0, 5, 15, detail::TraceTransfer::Why::Fetch);
  EXPECT_THAT(found(trace), ElementsAre(std::tuple(0U, 12, 15), std::tuple(1U, 5, 15)));
}

TEST(Waits, WriteBacksCountOnlyWhenTheyMakeRoom) {
  auto trace = small_trace();
  add_transfer(trace, 3, 10, 20, detail::TraceTransfer::Why::WriteBack);
  add_transfer(trace, 3, 50, 60, detail::TraceTransfer::Why::WriteBack);
  EXPECT_THAT(found(trace), IsEmpty());
  detail::TraceEviction eviction{.data = 0,
                                 .node = NodeId(2),
                                 .bytes = 8,
                                 .when = at(45),
                                 .reason = detail::EvictionReason::Policy,
                                 .written_back = true};
  trace.evictions.push_back(eviction);
  EXPECT_THAT(found(trace), ElementsAre(std::tuple(0U, 45, 60)));
  trace.evictions.front().written_back = false;
  EXPECT_THAT(found(trace), IsEmpty());
}

TEST(Waits, TasksThatOverlapAreOneBusyTime) {
  auto trace = small_trace();
  add_task(trace, 1, 0, 50);
  add_task(trace, 1, 10, 20);
  add_transfer(trace, 4, 0, 100, detail::TraceTransfer::Why::Fetch);
  EXPECT_THAT(found(trace), ElementsAre(std::tuple(1U, 50, 100)));
}

TEST(Waits, AValueFromAnotherProcessIsAwaitedByAllWorkersOfItsProcess) {
  auto one = small_trace();
  one.machine.add_node({.name = "other processes", .kind = detail::NodeKind::Peers});
  one.machine.add_link({.from = NodeId(4), .to = NodeId(1)});
  auto other = one;
  add_task(one, 0, 0, 20);
  add_transfer(one, 6, 10, 50, detail::TraceTransfer::Why::Fetch);  // from other processes to the host
  add_transfer(one, 0, 0, 12, detail::TraceTransfer::Why::Fetch);   // from the disk to the host
  add_transfer(one, 2, 30, 60, detail::TraceTransfer::Why::Fetch);  // from the host to the first worker's device
  auto const waits = waits_of(trace_of_processes({one, other}));
  std::vector<std::tuple<std::uint32_t, std::int64_t, std::int64_t, TraceWait::Why>> all;
  for (auto const& wait : waits) {
    all.emplace_back(wait.worker.value(), wait.begin.time_since_epoch().count(), wait.end.time_since_epoch().count(),
                     wait.why);
  }
  using Why = TraceWait::Why;
  EXPECT_THAT(all, ElementsAre(std::tuple(0U, 20, 50, Why::Peers), std::tuple(0U, 50, 60, Why::Data),
                               std::tuple(1U, 0, 10, Why::Data), std::tuple(1U, 10, 50, Why::Peers)));
}

TEST(Waits, ATransferOfOneProcessIsNotAwaitedByAnother) {
  auto one = small_trace();
  add_transfer(one, 0, 5, 15, detail::TraceTransfer::Why::Fetch);  // to the host without workers
  EXPECT_THAT(found(trace_of_processes({small_trace(), one})),
              ElementsAre(std::tuple(2U, 5, 15), std::tuple(3U, 5, 15)));
}

}  // namespace
}  // namespace granary::waits_test
