// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "unit/workloads/every_workload.hpp"

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/model/graph_recorder.hpp>
#include <granary/detail/linalg/priorities/cholesky.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/simulator/platform_truth.hpp>
#include <granary/detail/simulator/simulator.hpp>
#include <granary/detail/workloads/priorities.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>

namespace granary {

using namespace detail;

namespace {

using namespace std::chrono_literals;

GraphRecorder record_of(workloads::Workload const& workload) {
  GraphRecorder record;
  workload.submit(record, {NodeId(0)});
  return record;
}

std::map<std::string, std::size_t> tasks_by_codelet(GraphRecorder const& record) {
  std::map<std::string, std::size_t> count;
  for (auto const& task : record.tasks()) ++count[record.codelets()[task.codelet.index()].name];
  return count;
}

// Data start on the host, where two CPU workers use them in place, with two small devices.
Machine small_machine(Bytes capacity) {
  Machine machine;
  auto const host = machine.add_node({.name = "host", .kind = NodeKind::Host});
  for (int d = 0; d < 2; ++d) {
    auto const device =
        machine.add_node({.name = "gpu" + std::to_string(d), .kind = NodeKind::Device, .capacity = capacity});
    machine.add_link_pair(host, device, 1e9, 1us);
    machine.add_worker({.name = "gpu" + std::to_string(d), .node = device, .kind = WorkerKind::Device});
  }
  for (int c = 0; c < 2; ++c) machine.add_worker({.name = "cpu" + std::to_string(c), .node = host});
  return machine;
}

TEST(Workloads, EveryOneRunsUnderEveryScheduler) {
  for (auto const& workload : test::every_workload()) {
    auto const tasks = record_of(*workload).tasks().size();
    for (auto const& scheduler : scheduler_names()) {
      SCOPED_TRACE(workload->name() + " under " + scheduler);
      AveragingEstimator estimator;
      ConstantSpeeds const truth;
      Simulator simulator(Topology(small_machine(1_MiB)), make_policies(scheduler, "lru"), estimator, truth);
      workload->submit(simulator, {NodeId(0), true});
      auto const report = simulator.run();
      EXPECT_EQ(report.statistics.tasks_run, tasks);
      for (auto const& failure : report.failures) ADD_FAILURE() << failure.what;
    }
  }
}

// Operations and bytes are those of the tiles, also at the edges.
TEST(Workloads, AnyOrderIsCutIntoTiles) {
  for (std::uint64_t const n : {65U, 79U, 80U}) {
    workloads::Tiling const tiling{.tiles = 5, .tile = 16, .n = n};
    workloads::TiledCholesky const cholesky(tiling);
    workloads::TiledLu const lu(tiling);
    workloads::TiledGemm const gemm(tiling);
    for (workloads::Workload const* workload :
         {static_cast<workloads::Workload const*>(&cholesky), static_cast<workloads::Workload const*>(&lu),
          static_cast<workloads::Workload const*>(&gemm)}) {
      auto const record = record_of(*workload);
      double flops = 0;
      for (auto const& task : record.tasks()) flops += task.flops;
      Bytes bytes = 0;
      for (auto const& data : record.data()) bytes += data.bytes;
      EXPECT_NEAR(workload->flops(), flops, 1e-9 * flops) << workload->name() << " of order " << n;
      EXPECT_EQ(workload->working_set(), bytes) << workload->name() << " of order " << n;
    }
    EXPECT_EQ(lu.working_set(), n * n * sizeof(double));
  }
  EXPECT_THROW(workloads::TiledCholesky({.tiles = 5, .tile = 16, .n = 64}), InvalidArgument) << "four tiles";
  EXPECT_THROW(workloads::TiledCholesky({.tiles = 5, .tile = 16, .n = 81}), InvalidArgument) << "six tiles";
}

// A write-back that waits for its link may lose its source to an eviction while another replica, that is being evicted
// as well, counts on it.
TEST(Workloads, WriteBacksOutliveTheirSources) {
  workloads::RandomLayers const workload({.layers = 8, .width = 8, .bytes = 2_MiB, .flops = 2.7e8, .seed = 1});
  auto platform = Platform::find("v100x2");
  platform.select(2, 0);
  platform.limit(workload.working_set() / 4);
  PlatformTruth const truth(platform);
  PlatformEstimator estimator(platform);
  SimulatorOptions options;
  options.planner.depth = 1;
  Simulator simulator(Topology(platform.machine), make_policies("eager", "lru"), estimator, truth, options);
  workload.submit(simulator, {platform.home_node(), platform.home_in_place()});
  auto const report = simulator.run();
  EXPECT_EQ(report.statistics.tasks_run, 64U);
  for (auto const& failure : report.failures) ADD_FAILURE() << failure.what;
}

TEST(Workloads, TellTheirFlopsAndTheirWorkingSet) {
  for (auto const& workload : test::every_workload()) {
    SCOPED_TRACE(workload->name());
    auto const record = record_of(*workload);
    double flops = 0;
    for (auto const& task : record.tasks()) flops += task.flops;
    Bytes bytes = 0;
    std::set<std::string> names;
    for (auto const& data : record.data()) {
      bytes += data.home.valid() ? data.bytes : 0;
      EXPECT_TRUE(names.insert(data.name).second) << data.name;
    }
    EXPECT_NEAR(workload->flops(), flops, 1e-9 * flops);
    EXPECT_EQ(workload->working_set(), bytes);
  }
}

TEST(Workloads, EmitTheSameTasksEachTime) {
  for (auto const& workload : test::every_workload()) {
    EXPECT_EQ(workloads::TaskGraphFile::record(*workload).to_json(),
              workloads::TaskGraphFile::record(*workload).to_json());
  }
}

// A complex scalar has twice the bytes, and a multiplication and an addition of them take 8 real operations.
TEST(Workloads, ComplexScalarsTakeTwiceTheBytesAndFourTimesTheFlops) {
  auto const check = [](auto const& make) {
    auto const real = make(Precision::Double);
    auto const complex = make(Precision::ComplexDouble);
    SCOPED_TRACE(real.name());
    EXPECT_DOUBLE_EQ(complex.flops(), 4 * real.flops());
    EXPECT_EQ(complex.working_set(), 2 * real.working_set());
    EXPECT_EQ(make(Precision::ComplexSingle).working_set(), real.working_set());
    auto const of_real = record_of(real);
    auto const of_complex = record_of(complex);
    ASSERT_EQ(of_complex.tasks().size(), of_real.tasks().size());
    double sum = 0;
    for (std::size_t t = 0; t < of_real.tasks().size(); ++t) {
      EXPECT_DOUBLE_EQ(of_complex.tasks()[t].flops, 4 * of_real.tasks()[t].flops) << t;
      sum += of_complex.tasks()[t].flops;
    }
    EXPECT_NEAR(complex.flops(), sum, 1e-9 * sum);
    for (auto const& codelet : of_complex.codelets()) EXPECT_EQ(codelet.variant, "z");
    auto const of_single = record_of(make(Precision::ComplexSingle));
    for (auto const& codelet : of_single.codelets()) EXPECT_EQ(codelet.variant, "c");
  };
  auto const tiling = [](Precision precision) {
    return workloads::Tiling{.tiles = 4, .tile = 16, .precision = precision};
  };
  check([&](Precision precision) { return workloads::TiledCholesky(tiling(precision)); });
  check([&](Precision precision) { return workloads::TiledLu(tiling(precision)); });
  check([&](Precision precision) { return workloads::TiledGemm(tiling(precision)); });
  EXPECT_EQ(tasks_by_codelet(record_of(workloads::TiledCholesky(tiling(Precision::ComplexDouble)))).at("herk"), 6U);
  EXPECT_DOUBLE_EQ(workloads::TiledPivotedLu(tiling(Precision::ComplexSingle)).flops(),
                   4 * workloads::TiledPivotedLu(tiling(Precision::Single)).flops());
  EXPECT_EQ(record_of(workloads::TiledPivotedLu(tiling(Precision::ComplexSingle))).codelets().front().variant, "c");
}

TEST(AssemblyTreeWorkload, HasComplexFronts) {
  for (auto const shape : {workloads::AssemblyTree::Shape::Qr, workloads::AssemblyTree::Shape::QrTiles,
                           workloads::AssemblyTree::Shape::Ldlt}) {
    auto const tree = [&](Precision precision) {
      return workloads::AssemblyTree(
          {.shape = shape, .levels = 3, .root_blocks = 6, .block = 16, .precision = precision});
    };
    auto const real = tree(Precision::Double);
    auto const complex = tree(Precision::ComplexDouble);
    EXPECT_EQ(complex.working_set(), 2 * real.working_set());
    auto const record = record_of(complex);
    auto const of_real = record_of(real);
    for (std::size_t t = 0; t < record.tasks().size(); ++t) {
      auto const& task = record.tasks()[t];
      auto const& name = record.codelets()[task.codelet.index()].name;
      bool const adds = name == "qr_init" || name.ends_with("assemble");
      EXPECT_DOUBLE_EQ(task.flops, (adds ? 2 : 4) * of_real.tasks()[t].flops) << name;
    }
    EXPECT_EQ(record.codelets().front().variant, "z");
  }
}

TEST(TiledLu, HasItsTasksInBothOrders) {
  std::map<std::string, std::size_t> const expected{{"getrf", 5}, {"trsm_ll", 10}, {"trsm_ru", 10}, {"gemm", 30}};
  for (bool const left : {false, true}) {
    auto const record = record_of(workloads::TiledLu({5, 8, Precision::Single}, left));
    EXPECT_EQ(tasks_by_codelet(record), expected);
    EXPECT_EQ(record.codelets().front().variant, "s");
  }
  double const n = 5 * 8;
  EXPECT_NEAR(workloads::TiledLu({5, 8, Precision::Single}).flops(), 2 * n * n * n / 3, 1e-6);
}

TEST(TiledLu, BothOrdersHaveTheSameDependencies) {
  // The same bottom levels, task by task of a tile's history, as long as times are those of the operations.
  auto const levels = [](bool left) {
    auto const record = record_of(workloads::TiledLu({6, 4}, left));
    auto all = workloads::bottom_levels(
        record, [](CodeletId, double flops) { return Duration(static_cast<std::int64_t>(flops)); });
    std::ranges::sort(all);
    return all;
  };
  EXPECT_EQ(levels(false), levels(true));
}

TEST(Priorities, BottomLevelsAreThoseOfTheClosedForm) {
  std::uint64_t const n = 7;
  CholeskyTimes const times{.potrf = 9, .trsm = 19, .syrk = 20, .gemm = 36};
  std::map<std::string, std::int64_t> const by_name{{"potrf", 9}, {"trsm", 19}, {"syrk", 20}, {"gemm", 36}};
  auto const record = record_of(workloads::TiledCholesky({n, 4}));
  auto const levels = workloads::bottom_levels(
      record, [&](CodeletId codelet, double) { return Duration(by_name.at(record.codelets()[codelet.index()].name)); });
  CholeskyPriorities const expected(n, times);
  std::size_t task = 0;
  for (std::uint64_t k = 0; k < n; ++k) {
    EXPECT_EQ(levels[task++], expected.potrf(k));
    for (auto i = k + 1; i < n; ++i) EXPECT_EQ(levels[task++], expected.trsm(i, k));
    for (auto j = k + 1; j < n; ++j) {
      EXPECT_EQ(levels[task++], expected.syrk(j, k));
      for (auto i = j + 1; i < n; ++i) EXPECT_EQ(levels[task++], expected.gemm(i, j, k));
    }
  }
  EXPECT_EQ(levels, workloads::library_cholesky_priorities(n));
}

TEST(Priorities, AreGivenToTheTasksInOrder) {
  GraphRecorder record;
  std::vector<std::int64_t> const priorities{7, 5, 3, 2, 1, 9, 8, 4};
  workloads::PrioritySubmitter submitter(record, priorities);
  workloads::TiledGemm({2, 4}).submit(submitter, {NodeId(0)});
  for (std::size_t t = 0; t < priorities.size(); ++t) EXPECT_EQ(record.tasks()[t].priority, priorities[t]);
}

TEST(StencilWorkload, ReadsItsNeighbours) {
  auto const record = record_of(
      workloads::Stencil({.blocks = {3, 3, 1}, .iterations = 2, .block_bytes = 100, .halo_bytes = 10, .flops = 1}));
  ASSERT_EQ(record.tasks().size(), 18U);
  // A corner has two neighbours, the middle four; of each a face is read and one is written.
  EXPECT_EQ(record.tasks()[0].accesses, 5U);
  EXPECT_EQ(record.tasks()[4].accesses, 9U);
  // In an iteration no task waits for another one of it.
  auto const levels = workloads::bottom_levels(record, [](CodeletId, double) { return Duration(1); });
  for (std::size_t t = 0; t < 18; ++t) EXPECT_EQ(levels[t], t < 9 ? 2 : 1);
}

TEST(SlicedStencilWorkload, CopiesBordersForTheNeighbours) {
  workloads::SlicedStencil const stencil({.size = {6, 4, 10}, .slices = 4, .iterations = 2});
  auto const record = record_of(stencil);
  std::map<std::string, std::size_t> const expected{
      {"stencil_update", 8}, {"stencil_save_top", 8}, {"stencil_save_bottom", 8}};
  EXPECT_EQ(tasks_by_codelet(record), expected);
  // Three layers and two ghost layers, but one layer in the last slice; each of 8 x 6 bytes.
  EXPECT_EQ(record.data()[0].bytes, 5U * 48);
  EXPECT_EQ(record.data()[18].bytes, 3U * 48);
  EXPECT_EQ(record.data()[1].bytes, 48U);
  EXPECT_EQ(stencil.working_set(), 2U * 48 * (10 + 8));
  EXPECT_EQ(stencil.flops(), 2 * (10 * 240 + 4 * 4 * 48));
  // All updates wait for the copies before them, which wait for the updates before them.
  auto const levels = workloads::bottom_levels(record, [](CodeletId, double) { return Duration(1); });
  for (std::size_t t = 0; t < levels.size(); ++t) EXPECT_EQ(levels[t], t < 8 ? 4 : t < 12 ? 3 : t < 20 ? 2 : 1);
}

TEST(SlicedStencilWorkload, RefusesSlicesWithoutALayer) {
  EXPECT_NO_THROW(workloads::SlicedStencil({.size = {1, 1, 1}, .slices = 1, .iterations = 1}));
  EXPECT_THROW(workloads::SlicedStencil({.size = {4, 4, 4}, .slices = 5}), InvalidArgument);
  EXPECT_THROW(workloads::SlicedStencil({.size = {4, 4, 10}, .slices = 7}), InvalidArgument);  // five of two layers
  EXPECT_THROW(workloads::SlicedStencil({.size = {0, 4, 4}, .slices = 1}), InvalidArgument);
  EXPECT_THROW(workloads::SlicedStencil({.size = {4, 65537, 4}, .slices = 1}), InvalidArgument);
  EXPECT_THROW(workloads::SlicedStencil({.size = {4, 4, 4}, .slices = 0}), InvalidArgument);
  EXPECT_THROW(workloads::SlicedStencil({.size = {4, 4, 4}, .slices = 1, .iterations = 0}), InvalidArgument);
}

TEST(AssemblyTreeWorkload, HasTheKindsOfTheSolvers) {
  auto const kinds = [](workloads::AssemblyTree::Shape shape, std::size_t expected) {
    auto const record =
        record_of(workloads::AssemblyTree({.shape = shape, .levels = 3, .root_blocks = 6, .block = 16}));
    int on_device = 0;
    for (auto const& codelet : record.codelets()) {
      EXPECT_TRUE(codelet.runs_on(WorkerKind::Cpu));
      on_device += codelet.runs_on(WorkerKind::Device) ? 1 : 0;
    }
    EXPECT_EQ(record.codelets().size(), expected);
    EXPECT_EQ(tasks_by_codelet(record).size(), expected);
    return on_device;
  };
  EXPECT_EQ(kinds(workloads::AssemblyTree::Shape::Qr, 4), 3);
  EXPECT_EQ(kinds(workloads::AssemblyTree::Shape::QrTiles, 5), 3);
  EXPECT_EQ(kinds(workloads::AssemblyTree::Shape::Ldlt, 4), 1);
}

TEST(AssemblyTreeWorkload, QrByTilesHasTheTasksAndOperationsOfADenseFactorization) {
  workloads::AssemblyTree const tree(
      {.shape = workloads::AssemblyTree::Shape::QrTiles, .levels = 1, .root_blocks = 5, .block = 16});
  auto const tasks = tasks_by_codelet(record_of(tree));
  EXPECT_EQ(tasks.at("qr_tile_assemble"), 25U);
  EXPECT_EQ(tasks.at("qr_geqrt"), 5U);
  EXPECT_EQ(tasks.at("qr_gemqrt"), 10U);
  EXPECT_EQ(tasks.at("qr_tpqrt"), 10U);
  EXPECT_EQ(tasks.at("qr_tpmqrt"), 30U);
  EXPECT_DOUBLE_EQ(tree.flops(), 4.0 / 3 * 80 * 80 * 80 + 80 * 80);  // and one for each entry of the matrix
}

TEST(AssemblyTreeWorkload, GrowsTowardTheRoot) {
  workloads::AssemblyTree const tree({.levels = 5, .root_blocks = 20, .block = 16, .seed = 3});
  auto const& fronts = tree.fronts();
  EXPECT_EQ(fronts.back().blocks, 20U);
  EXPECT_EQ(fronts.back().pivots, 20U);
  EXPECT_GT(fronts.size(), 8U);
  for (std::size_t f = 0; f < fronts.size(); ++f) {
    EXPECT_LE(fronts[f].pivots, fronts[f].blocks);
    for (auto const child : fronts[f].children) {
      EXPECT_LT(child, f);
      EXPECT_LE(fronts[child].blocks, fronts[f].blocks);
    }
  }
  workloads::AssemblyTree const other({.levels = 5, .root_blocks = 20, .block = 16, .seed = 4});
  EXPECT_NE(tree.flops(), other.flops());
}

TEST(AssemblyTreeWorkload, LeavesNoTemporaryDataBehind) {
  AveragingEstimator estimator;
  ConstantSpeeds const truth;
  Simulator simulator(Topology(small_machine(1_MiB)), make_policies("eager", "lru"), estimator, truth);
  workloads::AssemblyTree({.levels = 4, .root_blocks = 8, .block = 32}).submit(simulator, {NodeId(0), true});
  workloads::AssemblyTree(
      {.shape = workloads::AssemblyTree::Shape::QrTiles, .levels = 4, .root_blocks = 8, .block = 32})
      .submit(simulator, {NodeId(0), true});
  auto const report = simulator.run();
  EXPECT_EQ(report.statistics.nodes[0].used, 0U);
}

TEST(RandomDag, HasSizesOutputsAndReadsOfAllKinds) {
  workloads::RandomDag const workload({.tasks = 500, .inputs = 100, .recent = 10, .bytes = 4096, .seed = 3});
  auto const record = record_of(workload);
  ASSERT_EQ(record.tasks().size(), 500U);
  std::size_t octaves[4] = {};
  std::size_t temporary = 0;
  for (auto const& data : record.data()) {
    ASSERT_GE(data.bytes, 1024U);
    ASSERT_LT(data.bytes, 16384U);
    ++octaves[std::bit_width(data.bytes) - 11];
    temporary += data.home.valid() ? 0U : 1U;
  }
  for (auto const octave : octaves) EXPECT_GT(octave, record.data().size() / 6);
  EXPECT_GT(temporary, 50U);
  std::size_t updates = 0;
  std::size_t two_outputs = 0;
  std::size_t distant = 0;
  for (auto const& task : record.tasks()) {
    std::size_t written = 0;
    std::size_t newest = 0;
    std::set<std::size_t> accessed;
    for (auto const& access : record.accesses_of(task)) {
      EXPECT_TRUE(accessed.insert(access.data.index()).second) << "a task accesses a datum twice";
      newest = std::max(newest, access.data.index());
      updates += access.mode == AccessMode::ReadWrite ? 1U : 0U;
      written += access.mode == AccessMode::Write ? 1U : 0U;
    }
    two_outputs += written == 2 ? 1U : 0U;
    distant += *accessed.begin() + 100 < newest ? 1U : 0U;
  }
  EXPECT_GT(updates, 100U);
  EXPECT_GT(two_outputs, 30U);
  EXPECT_GT(distant, 100U);
}

TEST(RandomDag, DiffersWithTheSeed) {
  auto const json = [](std::uint64_t seed) {
    return workloads::TaskGraphFile::record(workloads::RandomDag({.seed = seed})).to_json();
  };
  EXPECT_NE(json(1), json(2));
}

TEST(Workloads, RefuseNumbersThatCannotBe) {
  EXPECT_THROW(workloads::TiledCholesky({0, 8, Precision::Single}), InvalidArgument);
  EXPECT_THROW(workloads::TiledLu({8, 0, Precision::Single}), InvalidArgument);
  EXPECT_THROW(workloads::TiledGemm({5000, 8, Precision::Single}), InvalidArgument);
  EXPECT_THROW(workloads::Stencil({.blocks = {0, 1, 1}}), InvalidArgument);
  EXPECT_THROW(workloads::Stencil({.iterations = 0}), InvalidArgument);
  EXPECT_THROW(workloads::RandomLayers({.layers = 0}), InvalidArgument);
  EXPECT_THROW(workloads::RandomLayers({.cpu_only = 1.5}), InvalidArgument);
  EXPECT_THROW(workloads::RandomDag({.tasks = 0}), InvalidArgument);
  EXPECT_THROW(workloads::RandomDag({.inputs = 0}), InvalidArgument);
  EXPECT_THROW(workloads::RandomDag({.bytes = 3}), InvalidArgument);
  EXPECT_THROW(workloads::RandomDag({.bytes = Bytes{1} << 60}), InvalidArgument);
  EXPECT_THROW(workloads::RandomDag({.updates = -0.5}), InvalidArgument);
  EXPECT_THROW(workloads::AssemblyTree({.levels = 0}), InvalidArgument);
  EXPECT_THROW(workloads::AssemblyTree({.root_blocks = 0}), InvalidArgument);
}

}  // namespace
}  // namespace granary
