// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/bounds/bounds.hpp>
#include <granary/detail/bounds/longest_path.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/core/model/task.hpp>
#include <granary/detail/core/model/task_graph.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/simulator/simulator.hpp>
#include <granary/detail/workloads/tiled_cholesky.hpp>

#include "support/message_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace granary {

using namespace detail;

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

void no_kernel(KernelCall const&) {}

Machine cpus_and_gpus(std::uint32_t cpus, std::uint32_t gpus) {
  Machine machine;
  machine.add_node({.name = "host"});
  for (std::uint32_t c = 0; c < cpus; ++c) machine.add_worker({.name = "cpu", .node = NodeId(0)});
  for (std::uint32_t g = 0; g < gpus; ++g) {
    auto const node = machine.add_node({.name = "gpu", .kind = NodeKind::Device});
    machine.add_link_pair(NodeId(0), node, 1e10, Duration(100), 4);
    machine.add_worker({.name = "gpu", .node = node, .kind = WorkerKind::Device});
  }
  return machine;
}

// Nanoseconds by codelet's name, on CPU cores and on devices; negative: cannot run.
using Times = std::map<std::string, std::array<int, 2>>;

KernelTime times_of(Times times) {
  return [times = std::move(times)](Codelet const& codelet, double, Worker const& worker) -> std::optional<Duration> {
    auto const time = times.at(codelet.name)[static_cast<std::size_t>(worker.kind)];
    return time < 0 ? std::nullopt : std::optional(Duration(time));
  };
}

// A recorder with shorthands: data are created when first named.
struct Graph {
  GraphRecorder recorder;
  std::map<std::string, CodeletId> codelets;
  std::map<int, DataId> data;

  void task(std::string const& name, std::vector<std::pair<int, AccessMode>> const& accesses, double flops = 1) {
    if (!codelets.contains(name)) {
      codelets[name] = recorder.add_codelet({.name = name, .kernels = {no_kernel, no_kernel}});
    }
    std::vector<Access> list;
    for (auto const& [datum, mode] : accesses) {
      if (!data.contains(datum)) data[datum] = recorder.add_data({.name = "d", .bytes = 8});
      list.push_back({data[datum], mode});
    }
    recorder.submit({.codelet = codelets[name], .accesses = list, .flops = flops});
  }
  void independent(std::string const& name, int count) {
    for (int t = 0; t < count; ++t) task(name, {});
  }
  void chain(std::string const& name, int count) {
    for (int t = 0; t < count; ++t) task(name, {{0, AccessMode::ReadWrite}});
  }
};

void submit_cholesky(Submitter& to, std::uint32_t tiles) {
  std::array<CodeletId, 4> codelets;
  std::array const names{"potrf", "trsm", "syrk", "gemm"};
  for (std::size_t c = 0; c < 4; ++c) {
    codelets[c] = to.add_codelet({.name = names[c], .kernels = {no_kernel, no_kernel}});
  }
  std::vector<DataId> data;
  for (std::uint32_t t = 0; t < tiles * tiles; ++t) {
    data.push_back(to.add_data({.name = "tile",
                                .bytes = 1000,
                                .origin = NodeId(0),
                                .home = NodeId(0),
                                .origin_is_home = true,
                                .in_place = true}));
  }
  auto const submit = [&](std::size_t codelet, std::vector<Access> const& accesses) {
    std::array const flops{1.0 / 3, 1.0, 1.0, 2.0};
    to.submit({.codelet = codelets[codelet], .accesses = accesses, .flops = 1e6 * flops[codelet]}, Parameters{});
  };
  auto const tile = [&](std::uint32_t i, std::uint32_t j) { return data[i * tiles + j]; };
  for (std::uint32_t k = 0; k < tiles; ++k) {
    submit(0, {{tile(k, k), AccessMode::ReadWrite}});
    for (auto i = k + 1; i < tiles; ++i) submit(1, {{tile(k, k)}, {tile(i, k), AccessMode::ReadWrite}});
    for (auto i = k + 1; i < tiles; ++i) {
      submit(2, {{tile(i, k)}, {tile(i, i), AccessMode::ReadWrite}});
      for (auto j = k + 1; j < i; ++j) submit(3, {{tile(i, k)}, {tile(j, k)}, {tile(i, j), AccessMode::ReadWrite}});
    }
  }
}

// The ratios of the Static paper, Table I.
Times const cholesky_times{
    {"potrf", {2300, 1000}}, {"trsm", {11000, 1000}}, {"syrk", {26000, 1000}}, {"gemm", {29000, 1000}}};

TEST(Bounds, OfIndependentTasksOfOneTypeIsTheWorkOverTheSpeeds) {
  Graph graph;
  graph.independent("a", 10);
  // 10 tasks at 1/300 + 1/100 tasks per nanosecond.
  auto const bounds = time_bounds(graph.recorder, cpus_and_gpus(1, 1), times_of({{"a", {300, 100}}}));
  EXPECT_NEAR(static_cast<double>(bounds.area.count()), 750, 1);
  EXPECT_EQ(bounds.critical_path, Duration(100));
  EXPECT_EQ(bounds.mixed, bounds.area);
  EXPECT_DOUBLE_EQ(bounds.flops, 10);
  EXPECT_NEAR(bounds.upper_bound_flops(), 10 / 750e-9, 1e5);
}

TEST(Bounds, AreaGivesEachKindOfWorkersWhatItIsBestAt) {
  Graph graph;
  graph.independent("a", 6);
  graph.independent("b", 6);
  // The CPU core takes four of b (half as fast there; a is four times slower): 4 * 200 = 6 * 100 + 2 * 100.
  auto const area = area_bound(graph.recorder, cpus_and_gpus(1, 1), times_of({{"a", {400, 100}}, {"b", {200, 100}}}));
  EXPECT_NEAR(static_cast<double>(area.count()), 800, 1);
  // On two of each, half of it.
  auto const half = area_bound(graph.recorder, cpus_and_gpus(2, 2), times_of({{"a", {400, 100}}, {"b", {200, 100}}}));
  EXPECT_NEAR(static_cast<double>(half.count()), 400, 1);
}

TEST(Bounds, AreaKeepsTasksFromWorkersThatCannotRunThem) {
  Graph graph;
  graph.independent("a", 6);
  graph.independent("b", 2);
  auto const area = area_bound(graph.recorder, cpus_and_gpus(1, 1), times_of({{"a", {100, -1}}, {"b", {1, 100}}}));
  EXPECT_NEAR(static_cast<double>(area.count()), 600, 2);
}

TEST(Bounds, MixedWeighsThePathAgainstTheArea) {
  Graph graph;
  graph.chain("a", 4);
  graph.independent("b", 4);
  // With x of a and y of b on the CPU core, in units of 5700: it is loaded with 2 x + 10 y, the device with 8 - x - y,
  // the chain takes 4 + x. All three meet at y = 4/19, x = 36/19: 112/19. Area alone: 16/3; path alone: 4.
  auto const bounds =
      time_bounds(graph.recorder, cpus_and_gpus(1, 1), times_of({{"a", {11400, 5700}}, {"b", {57000, 5700}}}));
  EXPECT_NEAR(static_cast<double>(bounds.area.count()), 30400, 1);
  EXPECT_EQ(bounds.critical_path, Duration(22800));
  EXPECT_NEAR(static_cast<double>(bounds.mixed.count()), 33600, 1);
  EXPECT_EQ(bounds.paths, 1U);
}

TEST(Bounds, MixedTakesInEveryPathThatMatters) {
  Graph graph;
  // Two chains, one slightly longer: with the first alone, the second would be put on the CPU core.
  for (int t = 0; t < 5; ++t) graph.task("a", {{0, AccessMode::ReadWrite}});
  for (int t = 0; t < 4; ++t) graph.task("a", {{1, AccessMode::ReadWrite}});
  auto const machine = cpus_and_gpus(1, 1);
  auto const times = times_of({{"a", {200, 100}}});
  auto const one = time_bounds(graph.recorder, machine, times, {.most_paths = 1}).mixed;
  auto const all = time_bounds(graph.recorder, machine, times);
  // Area: 9 / (1/200 + 1/100) = 600 with 3 of 9 on the CPU core, of which one of the longer chain is free to be.
  EXPECT_GE(all.mixed, one);
  EXPECT_NEAR(static_cast<double>(all.mixed.count()), 600, 1);
  EXPECT_EQ(all.critical_path, Duration(500));
  EXPECT_GE(all.paths, 2U);
}

// The node of the Static paper; its 8 tiles need 79 paths.
TEST(Bounds, ThoseOfFewPathsSayHowFarThatOfAllPathsMayBe) {
  GraphRecorder graph;
  workloads::TiledCholesky({.tiles = 8}).submit(graph, {NodeId(0)});
  auto const times =
      times_of({{"potrf", {18850, 8196}}, {"trsm", {45647, 4150}}, {"syrk", {43890, 1688}}, {"gemm", {87780, 3027}}});
  auto const bounds = [&](std::uint32_t paths) {
    return time_bounds(graph, cpus_and_gpus(9, 3), times, {.most_paths = paths});
  };
  auto const all = bounds(1000);
  EXPECT_LT(all.paths, 1000U);
  EXPECT_LE(all.excess, 1e-4);
  Duration before{0};
  for (std::uint32_t const paths : {1U, 4U, 16U, 32U}) {
    auto const some = bounds(paths);
    EXPECT_EQ(some.paths, paths);
    EXPECT_GE(some.mixed, before);
    EXPECT_GT(some.excess, 1e-4) << paths;
    EXPECT_GE(1.0001 * (1 + some.excess) * seconds(some.mixed), seconds(all.mixed)) << paths;
    before = some.mixed;
  }
  EXPECT_GT(all.mixed, before);
}

TEST(Bounds, CriticalPathFollowsTheAccesses) {
  auto const length = [](Graph const& graph) {
    return critical_path(graph.recorder, cpus_and_gpus(1, 1), times_of({{"a", {10, 20}}})).count();
  };
  Graph readers;  // side by side, between two writers
  readers.task("a", {{0, AccessMode::Write}});
  for (int t = 0; t < 5; ++t) readers.task("a", {{0, AccessMode::Read}});
  readers.task("a", {{0, AccessMode::Write}});
  EXPECT_EQ(length(readers), 30);
  Graph twice;  // one datum twice in a list: no task waits for itself
  twice.task("a", {{0, AccessMode::Write}, {0, AccessMode::Read}});
  twice.task("a", {{0, AccessMode::Read}, {0, AccessMode::Write}});
  twice.task("a", {{1, AccessMode::ReadWrite}});
  EXPECT_EQ(length(twice), 20);
  Graph cholesky;
  submit_cholesky(cholesky.recorder, 10);
  // Ten POTRF and, between them, TRSM and SYRK.
  EXPECT_EQ(critical_path(cholesky.recorder, cpus_and_gpus(9, 3), times_of(cholesky_times)).count(), 28000);
}

TEST(Bounds, LongestPathIsThatOfTheTaskGraph) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    GraphRecorder recorder;
    TaskGraph graph;
    auto const codelet = recorder.add_codelet({.name = "a", .kernels = {no_kernel, no_kernel}});
    for (int d = 0; d < 8; ++d) recorder.add_data({.name = "d", .bytes = 1});
    std::vector<double> times;
    for (int t = 0; t < 60; ++t) {
      std::vector<Access> accesses;
      for (auto a = 1 + random.below(3); a > 0; --a) {
        auto const mode = static_cast<AccessMode>(1 + random.below(3));
        accesses.push_back({DataId(static_cast<std::uint32_t>(random.below(8))),
                            seed % 2 == 1 && random.chance(0.5) ? AccessMode::Commute : mode});
      }
      recorder.submit({.codelet = codelet, .accesses = accesses, .flops = 1});
      graph.add(AccessList(accesses));
      times.push_back(static_cast<double>(1 + random.below(100)));  // 0: a path could skip a task
    }
    std::vector<std::uint32_t> class_of(times.size());
    std::iota(class_of.begin(), class_of.end(), 0U);
    std::vector<double> starts(times.size());
    double expected = 0;
    for (std::size_t t = 0; t < times.size(); ++t) {
      expected = std::max(expected, starts[t] + times[t]);
      graph.for_each_successor(graph[TaskId(t)], [&](TaskId next) {
        starts[next.index()] = std::max(starts[next.index()], starts[t] + times[t]);
      });
    }
    auto const path = longest_path(recorder, class_of, times);
    EXPECT_DOUBLE_EQ(path.length, expected) << seed;
    double sum = 0;
    for (auto const task : path.tasks) sum += times[task];
    EXPECT_DOUBLE_EQ(sum, expected) << seed;
    for (std::size_t i = 1; i < path.tasks.size(); ++i) {
      bool follows = false;
      graph.for_each_successor(graph[TaskId(path.tasks[i - 1])],
                               [&](TaskId next) { follows = follows || next.index() == path.tasks[i]; });
      EXPECT_TRUE(follows) << seed;
    }
  }
}

TEST(Bounds, NoSchedulerBeatsThem) {
  ConstantSpeeds::Options speeds;
  std::map<std::string, double> const flops{{"potrf", 1e6 / 3}, {"trsm", 1e6}, {"syrk", 1e6}, {"gemm", 2e6}};
  for (auto const& [name, times] : cholesky_times) {
    speeds.codelets[name] = {times[0] * 1e-9 / flops.at(name), times[1] * 1e-9 / flops.at(name)};
  }
  ConstantSpeeds const truth(speeds);
  auto const kernel_time = [&](Codelet const& codelet, double operations, Worker const& worker) {
    Task task;
    task.flops = operations;
    return std::optional(truth.kernel_time(task, codelet, worker));
  };
  auto const machine = cpus_and_gpus(4, 2);
  for (std::uint32_t const tiles : {1U, 2U, 5U, 10U}) {
    GraphRecorder recorder;
    submit_cholesky(recorder, tiles);
    auto const bounds = time_bounds(recorder, machine, kernel_time);
    EXPECT_GE(bounds.mixed, std::max(bounds.area, bounds.critical_path));
    for (std::string const scheduler : {"eager", "prio", "dmdas", "lws", "darts", "heft", "heteroprio"}) {
      AveragingEstimator estimator;
      Simulator simulator(Topology(machine), make_policies(scheduler, "lru"), estimator, truth);
      submit_cholesky(simulator, tiles);
      auto const makespan = simulator.run().end.time_since_epoch();
      EXPECT_LE(bounds.mixed, makespan) << scheduler << ", " << tiles << " tiles";
    }
  }
}

TEST(Bounds, MixedIsStrongerForCholeskyOfMiddleSizes) {
  Graph graph;
  submit_cholesky(graph.recorder, 10);
  auto const bounds = time_bounds(graph.recorder, cpus_and_gpus(9, 3), times_of(cholesky_times));
  EXPECT_GT(bounds.mixed, std::max(bounds.area, bounds.critical_path));
}

TEST(Bounds, GrowWithTheWorkAndShrinkWithTheMachine) {
  auto const times = times_of(cholesky_times);
  TimeBounds former;
  for (std::uint32_t tiles = 1; tiles < 10; ++tiles) {
    Graph graph;
    submit_cholesky(graph.recorder, tiles);
    auto const bounds = time_bounds(graph.recorder, cpus_and_gpus(3, 2), times);
    EXPECT_GT(bounds.area, former.area);
    EXPECT_GT(bounds.critical_path, former.critical_path);
    EXPECT_GT(bounds.mixed, former.mixed);
    former = bounds;
    auto const more = time_bounds(graph.recorder, cpus_and_gpus(4, 3), times);
    EXPECT_LT(more.area, bounds.area);
    EXPECT_LE(more.mixed, bounds.mixed);
    EXPECT_EQ(more.critical_path, bounds.critical_path);
  }
}

TEST(Bounds, StayValidAndCloseWithFewerTypes) {
  Graph graph;
  for (int t = 0; t < 300; ++t) graph.task("a", {{t % 7, AccessMode::ReadWrite}}, 1000 + 37 * t);
  auto const time = [](Codelet const&, double flops, Worker const& worker) {
    return std::optional(Duration(static_cast<int>(worker.kind == WorkerKind::Cpu ? 3 * flops : flops)));
  };
  auto const machine = cpus_and_gpus(2, 1);
  auto const exact = time_bounds(graph.recorder, machine, time, {.most_types = 300});
  auto const coarse = time_bounds(graph.recorder, machine, time, {.most_types = 100});
  EXPECT_EQ(coarse.critical_path, exact.critical_path);
  EXPECT_LE(coarse.area, exact.area);
  EXPECT_GT(static_cast<double>(coarse.area.count()), 0.93 * static_cast<double>(exact.area.count()));
  EXPECT_LE(coarse.mixed, exact.mixed);
  EXPECT_EQ(area_bound(graph.recorder, machine, time, {.most_types = 100}), coarse.area);
  EXPECT_GT(time_bounds(graph.recorder, machine, time, {.most_types = 1}).area, exact.area / 4);
}

TEST(Bounds, OfNothingIsNothing) {
  Graph graph;
  auto const empty = time_bounds(graph.recorder, cpus_and_gpus(1, 1), times_of({}));
  EXPECT_EQ(empty.mixed, Duration(0));
  EXPECT_EQ(empty.upper_bound_flops(), 0);
  graph.chain("a", 3);
  auto const instant = time_bounds(graph.recorder, cpus_and_gpus(1, 1), times_of({{"a", {0, 0}}}));
  EXPECT_EQ(instant.area, Duration(0));
  EXPECT_EQ(instant.mixed, Duration(0));
  EXPECT_EQ(instant.upper_bound_flops(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(area_bound(graph.recorder, cpus_and_gpus(1, 1), times_of({{"a", {7, 0}}})), Duration(0));
}

std::string refusal(GraphRecorder const& graph, Machine const& machine, KernelTime const& time,
                    BoundOptions options = {}) {
  return test::message_of([&] { return time_bounds(graph, machine, time, options); });
}

TEST(Bounds, RefuseBadInputByName) {
  Graph graph;
  graph.chain("update", 2);
  auto const machine = cpus_and_gpus(1, 1);
  EXPECT_THAT(refusal(graph.recorder, machine, times_of({{"update", {-1, -1}}})), HasSubstr("'update'"));
  EXPECT_THAT(refusal(graph.recorder, cpus_and_gpus(1, 0), times_of({{"update", {-1, 5}}})),
              HasSubstr("no worker of the machine can run codelet 'update'"));
  EXPECT_THAT(refusal(graph.recorder, {}, times_of({{"update", {1, 1}}})), HasSubstr("no worker"));
  EXPECT_THAT(refusal(graph.recorder, machine, [](auto const&, double, auto const&) { return Duration(-7); }),
              HasSubstr("negative time, -7 ns, on worker 'cpu'"));
  auto const good = times_of({{"update", {1, 1}}});
  EXPECT_THAT(refusal(graph.recorder, machine, good, {.most_paths = 0}), HasSubstr("at least 1 path"));
  EXPECT_THAT(refusal(graph.recorder, machine, good, {.tolerance = -1}), HasSubstr("-1"));
  for (double const flops : {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Graph bad;
    bad.task("update", {}, flops);
    EXPECT_THAT(refusal(bad.recorder, machine, good), HasSubstr("operations"));
  }
}

}  // namespace
}  // namespace granary
