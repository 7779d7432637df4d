// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/model/peers.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/simulator/cluster/cluster_simulator.hpp>
#include <granary/detail/workloads/tiled_cholesky.hpp>

#include "support/message_of.hpp"

#include <gmock/gmock.h>

#include <map>
#include <set>
#include <string>

namespace granary {

using namespace detail;

namespace cluster_simulator_test {
namespace {

using ::testing::ElementsAre;

// A host with two workers, and a disk behind it if the data do not stay in memory.
Machine node(Bytes capacity = unbounded) {
  Machine machine;
  auto const host = machine.add_node({.name = "host", .capacity = capacity});
  for (int w = 0; w < 2; ++w) machine.add_worker({.name = "cpu" + std::to_string(w), .node = host});
  auto const disk = machine.add_node({.name = "disk", .kind = NodeKind::Disk});
  machine.add_link_pair(disk, host, 2e9, Duration{0}, 4);
  return machine;
}
constexpr workloads::DataHome on_disk{NodeId(1), false};
constexpr workloads::DataHome in_memory{NodeId(0), true};

struct SmallCluster {
  ConstantSpeeds truth;
  std::unique_ptr<ClusterSimulator> cluster;

  explicit SmallCluster(ClusterOptions options, Bytes capacity = unbounded, std::string const& scheduler = "prio",
                        std::uint32_t check_every = 0) {
    cluster = std::make_unique<ClusterSimulator>(node(capacity), truth, std::move(options), [&](ProcessId) {
      ClusterProcess process{make_policies(scheduler, default_eviction(scheduler)),
                             std::make_unique<AveragingEstimator>()};
      process.options.check_invariants_every = check_every;
      return process;
    });
  }
};

std::uint64_t tasks_of(std::uint64_t n) { return n + n * (n - 1) + n * (n - 1) * (n - 2) / 6; }

// The bytes of tiles of a Cholesky factorization times the processes that read them and do not own them.
std::uint64_t values_read_elsewhere(std::uint64_t tiles, Distribution const& grid) {
  auto const owner = [&](std::uint64_t i, std::uint64_t j) {
    return grid.owner({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j)});
  };
  std::set<std::pair<std::pair<std::uint64_t, std::uint64_t>, ProcessId>> read;
  auto const reads = [&](std::uint64_t i, std::uint64_t j, ProcessId process) {
    if (owner(i, j) != process) read.insert({{i, j}, process});
  };
  for (std::uint64_t k = 0; k < tiles; ++k) {
    for (std::uint64_t i = k + 1; i < tiles; ++i) {
      reads(k, k, owner(i, k));
      reads(i, k, owner(i, i));
      for (std::uint64_t j = k + 1; j < i; ++j) {
        reads(i, k, owner(i, j));
        reads(j, k, owner(i, j));
      }
    }
  }
  return read.size();
}

TEST(ClusterSimulator, SendsEachValueOnceToEachReader) {
  for (std::uint32_t const processes : {1U, 2U, 3U, 4U, 6U}) {
    SmallCluster run({.processes = processes}, unbounded, "prio", 1);
    workloads::TiledCholesky const cholesky({.tiles = 9, .tile = 64});
    cholesky.submit(*run.cluster, in_memory);
    auto const report = run.cluster->run();
    EXPECT_TRUE(report.failures.empty());
    EXPECT_EQ(report.tasks_run(), tasks_of(9));
    auto const expected = values_read_elsewhere(9, Distribution::for_processes(processes));
    EXPECT_EQ(report.sent().transfers, expected);
    EXPECT_EQ(report.sent().bytes, expected * 64 * 64 * 8);
    EXPECT_EQ(report.of(TransferKind::Received).bytes, report.sent().bytes);
  }
}

TEST(ClusterSimulator, KeepsLimitsWithDataOnDisks) {
  SmallCluster run({.processes = 4}, Bytes{6} * 64 * 64 * 8, "darts", 1);
  workloads::TiledCholesky const cholesky({.tiles = 10, .tile = 64});
  cholesky.submit(*run.cluster, on_disk);
  auto const report = run.cluster->run();
  EXPECT_TRUE(report.failures.empty());
  for (auto const& process : report.processes) EXPECT_LE(process.statistics.nodes[0].peak, Bytes{6} * 64 * 64 * 8);
  EXPECT_GT(report.sent().transfers, values_read_elsewhere(10, Distribution(2, 2)))
      << "values that were evicted are asked for again";
}

// Memory, Figure 4.
TEST(ClusterSimulator, BooksNoMoreThanTheThresholdAndOneTask) {
  Bytes const tile = Bytes{64} * 64 * 8;
  auto const peak = [&](BookingOptions const& booking) {
    SmallCluster run({.processes = 4, .booking = booking}, unbounded, "prio", 16);
    workloads::TiledCholesky const cholesky({.tiles = 16, .tile = 64});
    cholesky.submit(*run.cluster, in_memory);
    auto const report = run.cluster->run();
    EXPECT_TRUE(report.failures.empty());
    EXPECT_EQ(report.tasks_run(), tasks_of(16));
    Bytes most = 0;
    for (auto const& process : report.processes) {
      most = std::max(most, process.statistics.booking.peak);
      EXPECT_EQ(process.statistics.booking.sleeps > 0, booking.policy != BookingOptions::Policy::None);
      EXPECT_EQ(process.submission_slept > Duration{0}, booking.policy != BookingOptions::Policy::None);
    }
    return most;
  };
  EXPECT_GT(peak({.policy = BookingOptions::Policy::None}), 20 * tile);
  for (auto const policy : {BookingOptions::Policy::Ours, BookingOptions::Policy::Paper}) {
    for (Bytes const tiles : {1U, 4U, 8U}) {
      Bytes const most = peak({.policy = policy, .sleep = tiles * tile});
      EXPECT_TRUE(policy == BookingOptions::Policy::Paper || most <= (tiles + 2) * tile) << most;
      EXPECT_GT(most, tiles * tile);
    }
  }
}

// Tasks on data with owners that the test chooses: `owners` by number of registration.
struct OwnedCluster {
  ConstantSpeeds truth;
  std::vector<std::uint32_t> owners;
  std::unique_ptr<ClusterSimulator> cluster;
  CodeletId work;

  explicit OwnedCluster(std::vector<std::uint32_t> of, std::uint64_t max_live_tasks = 0, FaultPlan faults_of_0 = {})
      : owners(std::move(of)) {
    ClusterOptions options{.processes = 3, .booking = {.max_live_tasks = max_live_tasks}};
    options.owner = [this](DataDescription const&, std::uint64_t number) { return ProcessId(owners[number]); };
    cluster = std::make_unique<ClusterSimulator>(node(), truth, std::move(options), [&](ProcessId process) {
      ClusterProcess made{make_policies("eager", "lru"), std::make_unique<AveragingEstimator>()};
      made.options.check_invariants_every = 1;
      if (process == ProcessId(0)) made.options.faults = faults_of_0;
      return made;
    });
    work = cluster->add_codelet({.name = "work", .kernels = {[](KernelCall const&) {}}});
  }
  DataId stored(std::string name, Bytes bytes = 64) {
    return cluster->add_data({.name = std::move(name),
                              .bytes = bytes,
                              .origin = on_disk.node,
                              .home = on_disk.node,
                              .origin_is_home = true});
  }
  TaskId submit(std::vector<Access> const& accesses) {
    return cluster->submit({.codelet = work, .accesses = accesses, .flops = 1e6});
  }
  std::vector<std::string> failures() {
    std::vector<std::string> all;
    for (auto const& [process, failure] : cluster->run().failures) {
      all.push_back("process " + std::to_string(process.value()) + ": " + failure.what + ": " +
                    test::message_of<std::exception>([&] { std::rethrow_exception(failure.error); }));
    }
    EXPECT_TRUE(cluster->at_rest());
    return all;
  }
};

Access reading(DataId data) { return {data, AccessMode::Read}; }
Access changing(DataId data) { return {data, AccessMode::ReadWrite}; }

// When a process is that far, the key of what its task reads is that of another datum of another owner.
TEST(ClusterSimulator, AKeyMayNameAnotherDatumWhenAProcessIsThatFar) {
  OwnedCluster run({0, 1, 2}, 1);
  DataId const read = run.stored("read", 100);
  DataId const own = run.stored("own");
  run.submit({changing(own)});
  run.submit({reading(read), changing(own)});
  run.cluster->release_data(read);
  EXPECT_EQ(run.stored("later", 200), read);
  EXPECT_TRUE(run.failures().empty());
  EXPECT_EQ(run.cluster->process(ProcessId(0)).planner().statistics().outgoing_values.bytes, 100U);
}

TEST(ClusterSimulator, TellsOfAFailureOnceWhoeverDependsOnIt) {
  OwnedCluster run({0, 1, 2}, 0, {.copies = {}, .tasks = {TaskId(0)}});
  DataId const a = run.stored("a");
  DataId const b = run.stored("b");
  DataId const c = run.stored("c");
  run.submit({changing(a)});
  run.submit({reading(a), changing(b)});
  run.submit({reading(b), changing(c)});
  EXPECT_THAT(run.failures(), ElementsAre("process 0: task 'work' 0: injected failure of task 0"));
  // The value of `a` is lost; those of `b` and `c` are the old ones. The loss has been reported, and still is the
  // reason for the tasks of others that do not run.
  run.submit({reading(a), changing(c)});
  run.submit({reading(c)});
  EXPECT_THAT(
      run.failures(),
      ElementsAre(
          "process 2: task 'incoming value' 3: process 0: task 'outgoing value' reads data 'a', which an earlier "
          "failure left without a value"));
  run.submit({{a, AccessMode::Write}});
  run.submit({reading(a), changing(b), reading(c)});
  EXPECT_TRUE(run.failures().empty()) << "it is written again";
}

TEST(ClusterSimulator, ARefusedTaskLeavesTheOthersAsTheyAre) {
  for (std::uint64_t const window : {0U, 1U}) {
    OwnedCluster run({0, 0, 1}, window, {.copies = {}, .tasks = {TaskId(0)}});
    DataId const lost = run.stored("lost");
    DataId const a = run.stored("a");
    DataId const b = run.stored("b");
    run.submit({changing(lost)});
    EXPECT_EQ(run.failures().size(), 1U);
    run.submit({reading(a), changing(b)});
    std::string refusal;
    auto const refused = [&](auto&& call) {
      auto const text = test::message_of(call);
      if (!text.empty()) refusal = text;
    };
    refused([&] { run.submit({reading(lost), changing(a)}); });
    refused([&] { run.submit({reading(a), changing(b)}); });
    refused([&] { run.submit({changing(a)}); });
    refused([&] { run.submit({reading(a), changing(b)}); });
    std::vector<std::string> failures;
    refused([&] { failures = run.failures(); });
    failures = run.failures();
    EXPECT_EQ(refusal, "task 'work' reads data 'lost', which an earlier failure left without a value");
    EXPECT_TRUE(failures.empty());
    EXPECT_EQ(run.cluster->process(ProcessId(1)).planner().statistics().outgoing_values.transfers, 0U);
  }
}

// The reader lets go of the value while the same value is sent to it again.
TEST(ClusterSimulator, AValueMayBeReadAgainAfterItsLastUse) {
  SmallCluster run({.processes = 2, .delay = std::chrono::milliseconds(1)}, unbounded, "prio", 1);
  auto& cluster = *run.cluster;
  Codelet codelet{.name = "work"};
  codelet.kernels[0] = [](KernelCall const&) {};
  auto const work = cluster.add_codelet(codelet);
  auto const add = [&](std::int32_t column) {
    return cluster.add_data({.name = "x",
                             .bytes = 64,
                             .origin = in_memory.node,
                             .home = in_memory.node,
                             .origin_is_home = true,
                             .in_place = true,
                             .position = {0, column}});
  };
  DataId const read = add(0);
  DataId const written = add(1);
  for (int i = 0; i < 3; ++i) {
    Access const accesses[] = {{read, AccessMode::Read}, {written, AccessMode::ReadWrite}};
    cluster.submit({.codelet = work, .accesses = accesses, .flops = 1e6});
    cluster.last_use(read);
  }
  auto const report = cluster.run();
  EXPECT_TRUE(report.failures.empty());
  EXPECT_EQ(report.tasks_run(), 3U);
  EXPECT_EQ(report.sent().transfers, 3U);
  EXPECT_TRUE(cluster.at_rest());
}

TEST(ClusterSimulator, RefusesWhatCannotBe) {
  OwnedCluster run({0, 1, 7});
  DataId const a = run.stored("a");
  DataId const b = run.stored("b");
  EXPECT_EQ(test::message_of([&] {
              run.submit({changing(a), changing(b)});
            }),
            "a task writes data of processes 0 and 1; all that a task writes must have one owner");
  EXPECT_EQ(test::message_of([&] { run.stored("c"); }), "data 'c' belong to process 7 of 3");
  EXPECT_EQ(test::message_of([&] { run.cluster->release_data(DataId(5)); }), "data 5 is released but not registered");
  run.cluster->release_data(a);
  EXPECT_EQ(test::message_of([&] { run.cluster->release_data(a); }), "data 0 is released but not registered");
  EXPECT_EQ(test::message_of([&] { run.submit({reading(a)}); }), "a task accesses data 0, which is not registered");
  EXPECT_TRUE(run.failures().empty());
  EXPECT_EQ(test::message_of([] { SmallCluster({.processes = 0}); }), "a cluster needs at least one process");
}

TEST(ClusterSimulator, ProcessesSendFromTheHostThatHasWorkers) {
  Machine machine;
  machine.add_node({.name = "device", .kind = NodeKind::Device});
  EXPECT_EQ(test::message_of([&] { return with_peers(machine, {}, 1); }),
            "a process of a cluster needs host memory, and its machine has none");
  machine.add_node({.name = "idle"});
  EXPECT_EQ(with_peers(machine, {}, 1).links.back().from, NodeId(1));
  NodeId const busy = machine.add_node({.name = "busy"});
  machine.add_worker({.name = "w", .node = busy});
  auto const whole = with_peers(machine, {}, 3);
  EXPECT_EQ(whole.links.back().from, busy);
  EXPECT_EQ(whole.links[whole.links.size() - 2].width, 3U);
  EXPECT_EQ(test::message_of([&] { return with_peers(whole, {}, 1); }),
            "memory node 'other processes' stands for the other processes already");
}

}  // namespace
}  // namespace cluster_simulator_test
}  // namespace granary
