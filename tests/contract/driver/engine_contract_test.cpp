// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The random applications of the policy contract on the real engine: real threads, real copies of stamped data, and
// every read checked against what the last write before it in the order of submission left.
#include "support/faulty_storage.hpp"
#include "support/policy_case.hpp"
#include "support/random_machine.hpp"

#include <granary/core/backends/host_copies.hpp>
#include <granary/core/backends/host_workers.hpp>
#include <granary/core/engine/engine.hpp>
#include <granary/core/model/inner_graph.hpp>
#include <granary/outofcore/disk_node.hpp>
#include <granary/policies/registry.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace granary::test {
namespace {

using Bytewise = std::vector<std::byte>;

// Bytes that tell which task wrote them, and that all of them are there.
Bytewise stamped(std::uint64_t stamp, Bytes bytes) {
  Random random(stamp);
  Bytewise value(bytes);
  for (auto& byte : value) byte = static_cast<std::byte>(random.next());
  return value;
}

struct ExpectedAccess {
  AccessMode mode;
  std::uint64_t stamp;  // read before; 0: nothing to be read
  Bytes bytes;
};

struct StampTask {
  std::vector<ExpectedAccess> accesses;
  std::uint64_t stamp = 0;  // written
  bool fails = false;
  std::atomic<std::uint64_t>* wrong = nullptr;
  std::atomic<std::uint64_t>* ran = nullptr;
};

struct Injected : std::runtime_error {
  Injected() : std::runtime_error("injected") {}
};

void run_stamp_task(KernelCall const& call) {
  auto const& task = *static_cast<StampTask const*>(call.parameters);
  for (std::size_t i = 0; i < call.data.size(); ++i) {
    auto const& access = task.accesses[i];
    if (!reads(access.mode)) continue;
    auto const expected = stamped(access.stamp, access.bytes);
    if (std::memcmp(call.data[i], expected.data(), expected.size()) != 0) ++*task.wrong;
  }
  if (task.fails) throw Injected();
  for (std::size_t i = 0; i < call.data.size(); ++i) {
    if (!writes(task.accesses[i].mode)) continue;
    auto const value = stamped(task.stamp, task.accesses[i].bytes);
    std::memcpy(call.data[i], value.data(), value.size());
  }
  ++*task.ran;
}

// The same as an inner graph: a check for each access that reads, a write for each that writes, and a last task.
struct InnerStamp {
  StampTask const* task;
  ExpectedAccess access;
};

void check_stamp(KernelCall const& call) {
  auto const& [task, access] = *static_cast<InnerStamp const*>(call.parameters);
  auto const expected = stamped(access.stamp, access.bytes);
  if (std::memcmp(call.data[0], expected.data(), expected.size()) != 0) ++*task->wrong;
}
void write_stamp(KernelCall const& call) {
  auto const& [task, access] = *static_cast<InnerStamp const*>(call.parameters);
  auto const value = stamped(task->stamp, access.bytes);
  std::memcpy(call.data[0], value.data(), value.size());
}
void end_stamp(KernelCall const& call) {
  auto const& task = *static_cast<InnerStamp const*>(call.parameters)->task;
  if (task.fails) throw Injected();
  ++*task.ran;
}

void expand_stamp_task(void const* parameters, InnerGraph& graph) {
  auto const& task = *static_cast<StampTask const*>(parameters);
  auto const add = [&](Kernel kernel) {
    return graph.add_codelet({.name = "inner", .kernels = {kernel, nullptr}, .launches_kokkos_kernels = false});
  };
  auto const check = add(check_stamp), write = add(write_stamp), end = add(end_stamp);
  std::vector<Access> all;
  auto const submit_where = [&](AccessMode mode, CodeletId codelet) {
    for (std::size_t i = 0; i < task.accesses.size(); ++i) {
      auto const& access = task.accesses[i];
      if ((access.mode | mode) != access.mode) continue;
      all.push_back({graph.part(i, 0), AccessMode::Read});
      graph.submit({codelet, std::array{Access{all.back().data, mode}}, 0, 0}, Parameters(InnerStamp{&task, access}));
    }
  };
  submit_where(AccessMode::Read, check);
  submit_where(AccessMode::Write, write);
  graph.submit({end, all, 0, 0}, Parameters(InnerStamp{&task, {}}));
}

// From one disk to another by way of memory.
class Bounce final : public CopyBackend {
 public:
  Bounce(DiskNode& from, DiskNode& to) : m_from(from), m_to(to) {}
  void copy_async(CopyRequest const& request, CopyCompletion done) override {
    auto const memory = std::make_shared<Bytewise>(request.bytes);
    auto reading = request;
    auto writing = request;
    reading.destination = memory->data();
    writing.source = memory->data();
    m_from.copy_async(reading, [this, writing, memory, done](std::exception_ptr error) {
      if (error) return done(error);
      m_to.copy_async(writing, [memory, done](std::exception_ptr failed) { done(failed); });
    });
  }

 private:
  DiskNode& m_from;
  DiskNode& m_to;
};

class EnginePlayer {
 public:
  /// With `faults`, the storages of origins and homes answer late and out of order, and fail as it says.
  explicit EnginePlayer(PolicyCase const& drawn, std::optional<Faults> const& faults = std::nullopt)
      : m_case(drawn), m_machine(bounded(drawn.machine)), m_may_fail(faults || !drawn.faults.tasks.empty()) {
    for (auto const& node : m_machine.nodes) {
      m_storages.push_back(node.kind == NodeKind::Disk ? std::make_shared<MemoryStorage>() : nullptr);
      m_bound.push_back(m_storages.back());
      if (m_storages.back() && faults) {
        m_faulty.push_back(std::make_shared<FaultyStorage>(*m_storages.back(), *faults));
        m_bound.back() = m_faulty.back();
      }
      m_disks.push_back(node.kind == NodeKind::Disk
                            ? std::make_shared<DiskNode>([] { return std::make_unique<MemoryStorage>(); })
                            : nullptr);
    }
    auto const copies = std::make_shared<HostCopies>();
    EngineBackends backends{std::make_shared<HostWorkers>(m_machine.workers.size(), std::vector<unsigned>{}), {}};
    for (auto const& link : m_machine.links) {
      auto const from = m_disks[link.from.index()], to = m_disks[link.to.index()];
      if (from && to) {
        backends.copies.push_back(std::make_shared<Bounce>(*from, *to));
      } else if (from || to) {
        backends.copies.push_back(from ? from : to);
      } else {
        backends.copies.push_back(copies);
      }
    }
    EngineOptions options;
    options.planner = drawn.planner;
    m_engine = std::make_unique<Engine>(Topology(m_machine), make_policies(drawn.scheduler, drawn.eviction, drawn.seed),
                                        std::make_unique<AveragingEstimator>(), std::move(backends), options);
    if (m_faulty.empty()) return;
    m_releaser = std::jthread([this](std::stop_token const& stop) {
      while (!stop.stop_requested()) {
        for (auto const& storage : m_faulty) storage->release();
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    });
  }

  void play() {
    for (auto codelet : m_case.graph.codelets) {
      for (auto& kernel : codelet.kernels) kernel = kernel != nullptr ? run_stamp_task : nullptr;
      codelet.launches_kokkos_kernels = false;
      if (m_case.expands) codelet.expand = expand_stamp_task;
      m_codelets.push_back(m_engine->add_codelet(codelet));
    }
    for (auto const& operation : m_case.graph.operations) {
      if (m_failed) break;
      std::visit([&](auto const& what) { perform(what); }, operation);
    }
    if (!m_failed) perform(WaitForAll{});
    if (m_failed) {
      EXPECT_NO_THROW(m_engine->wait()) << "a failure is reported once";
    }
    EXPECT_EQ(m_wrong.load(), 0U) << "reads that found something else than the last write before them";
    for (auto const& worker : m_engine->statistics().workers) m_inner_tasks += worker.inner_tasks;
    if (m_failed) return;
    EXPECT_EQ(m_ran.load(), m_submitted) << "every task runs once";
    check_homes();
  }

  [[nodiscard]] bool failed() const { return m_failed; }
  [[nodiscard]] std::uint64_t inner_tasks() const { return m_inner_tasks; }

 private:
  struct Datum {
    DataDescription description;
    DataId id;
    std::uint64_t stamp = 0;  // of the last write submitted
    bool written = false;
    std::unique_ptr<Bytewise> origin, home;  // where they are in memory
  };

  // The engine takes memory for real: an unbounded node is a disk, or with workers one whose capacity is never reached.
  static Machine bounded(Machine machine) {
    for (std::uint32_t n = 0; n < machine.nodes.size(); ++n) {
      auto& node = machine.nodes[n];
      if (node.capacity < unbounded) continue;
      if (has_workers(machine, NodeId(n))) {
        node.capacity = 64_MiB;
      } else {
        node.kind = NodeKind::Disk;
      }
    }
    return machine;
  }

  void perform(RegisterData const& registered) {
    auto& datum = m_data.emplace_back();
    auto const number = m_data.size() - 1;
    auto const& d = datum.description = registered.description;
    datum.stamp = 1'000'000 + number;
    HostBinding binding;
    std::vector<std::pair<NodeId, std::pair<StorageSlot, StorageSlot>>> slots;
    StorageSlot origin, home;
    if (d.origin.valid()) {
      auto const first = stamped(datum.stamp, d.bytes);
      if (auto const& storage = m_storages[d.origin.index()]) {
        origin = {m_bound[d.origin.index()], number * 2};
        write_now(*storage, number * 2, first);
      } else {
        datum.origin = std::make_unique<Bytewise>(first);
        binding.origin = datum.origin->data();
      }
    }
    if (d.home.valid()) {
      if (auto const& storage = m_bound[d.home.index()]) {
        home = {storage, number * 2 + (d.origin_is_home ? 0 : 1)};
      } else {
        if (!d.origin_is_home) datum.home = std::make_unique<Bytewise>(d.bytes);
        binding.home = d.origin_is_home ? binding.origin : datum.home->data();
      }
    }
    datum.id = m_engine->add_data(d, binding, [&](DataId id) {
      if (origin && home && d.origin == d.home) return m_disks[d.origin.index()]->bind(id, origin, home);
      if (origin) m_disks[d.origin.index()]->bind(id, origin, {});
      if (home) m_disks[d.home.index()]->bind(id, {}, home);
    });
  }

  void perform(GiveUpData const& given_up) { m_engine->release_data(m_data[given_up.datum].id); }

  void perform(SubmitGraphTask const& task) {
    StampTask stamp{.accesses = {},
                    .stamp = m_submitted + 1,
                    .fails = m_case.faults.tasks.contains(TaskId(m_submitted)),
                    .wrong = &m_wrong,
                    .ran = &m_ran};
    std::vector<Access> accesses;
    for (auto const& [datum, mode] : task.accesses) {
      accesses.push_back({m_data[datum].id, mode});
      stamp.accesses.push_back({mode, m_data[datum].stamp, m_data[datum].description.bytes});
    }
    m_engine->submit({m_codelets[task.codelet], accesses, task.priority, task.flops}, Parameters(std::move(stamp)));
    ++m_submitted;
    for (auto const& [datum, mode] : task.accesses) {
      if (!writes(mode)) continue;
      m_data[datum].stamp = m_submitted;
      m_data[datum].written = true;
    }
  }

  void perform(LetHappen const& some) {
    for (std::uint32_t i = 0; i < some.steps; ++i) std::this_thread::yield();
  }

  // With faults the play ends at the first wait that reports one: later submissions would be refused.
  void perform(WaitForAll const&) {
    if (!m_may_fail) return m_engine->wait();
    try {
      m_engine->wait();
      return;
    } catch (Injected const&) {
    } catch (IoError const&) {
    } catch (MemoryLimitError const&) {
      // A value whose way home failed keeps its place, and a task may find no room beside it.
      EXPECT_TRUE(
          std::ranges::any_of(m_engine->failures(), [](Failure const& failure) { return !failure.task.valid(); }));
    }
    m_failed = true;
    EXPECT_FALSE(m_engine->failures().empty());
  }

  void check_homes() {
    for (std::size_t number = 0; number < m_data.size(); ++number) {
      auto const& datum = m_data[number];
      auto const& d = datum.description;
      if (!d.home.valid() || !datum.written) continue;
      auto found = Bytewise(d.bytes);
      if (auto const& storage = m_storages[d.home.index()]) {
        read_now(*storage, number * 2 + (d.origin_is_home ? 0 : 1), found);
      } else {
        found = d.origin_is_home ? *datum.origin : *datum.home;
      }
      EXPECT_TRUE(found == stamped(datum.stamp, d.bytes))
          << "the home of datum " << number << " does not hold its last value";
    }
  }

  template <class Start>
  static void do_now(Start&& start) {
    std::mutex mutex;
    std::condition_variable changed;
    bool ended = false;
    start([&](std::exception_ptr error) {
      EXPECT_FALSE(error);
      std::lock_guard const lock(mutex);
      ended = true;
      changed.notify_one();
    });
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return ended; });
  }
  static void write_now(Storage& storage, std::uint64_t slot, Bytewise const& value) {
    do_now([&](IoCompletion done) { storage.write_async(slot, value.data(), value.size(), std::move(done)); });
  }
  static void read_now(Storage& storage, std::uint64_t slot, Bytewise& value) {
    do_now([&](IoCompletion done) { storage.read_async(slot, value.data(), value.size(), std::move(done)); });
  }

  PolicyCase const& m_case;
  Machine m_machine;
  std::vector<std::shared_ptr<MemoryStorage>> m_storages;  // by node: origins and homes
  std::vector<std::shared_ptr<Storage>> m_bound;           // by node: the same, or what makes them faulty
  std::vector<std::shared_ptr<FaultyStorage>> m_faulty;
  std::vector<std::shared_ptr<DiskNode>> m_disks;  // by node
  std::vector<CodeletId> m_codelets;
  std::deque<Datum> m_data;
  std::uint64_t m_submitted = 0;
  std::uint64_t m_inner_tasks = 0;
  std::atomic<std::uint64_t> m_wrong = 0;
  std::atomic<std::uint64_t> m_ran = 0;
  bool m_may_fail;
  bool m_failed = false;
  std::jthread m_releaser;  // outlives the engine, which waits for its copies
  std::unique_ptr<Engine> m_engine;
};

void play_cases(std::uint64_t first, std::uint64_t count, bool with_faults) {
  std::uint64_t inner_tasks = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    auto const drawn = draw_case(seed, with_faults);
    SCOPED_TRACE(drawn.describe());
    EnginePlayer player(drawn);
    ASSERT_NO_THROW(player.play());
    inner_tasks += player.inner_tasks();
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(inner_tasks, 0U) << "tasks of every third case may run as inner graphs";
}

TEST(DriverContract, EveryReadSeesTheLastWriteAndHomesHoldTheLastValues) { play_cases(1, 1000, false); }

TEST(DriverContract, FailingTasksLeaveTheRestAlone) { play_cases(10'001, 500, true); }

TEST(DriverContract, StoragesMayAnswerLateAndOutOfOrder) {
  for (std::uint64_t seed = 20'001; seed <= 20'150 && !HasFailure(); ++seed) {
    auto const drawn = draw_case(seed, false);
    SCOPED_TRACE(drawn.describe());
    ASSERT_NO_THROW(EnginePlayer(drawn, Faults{.hold = 1U << 30, .seed = seed}).play());
  }
}

TEST(DriverContract, FailingAndShortStorageOperationsAreReportedAndCorruptNothing) {
  int reported = 0;
  for (std::uint64_t seed = 30'001; seed <= 30'200 && !HasFailure(); ++seed) {
    auto const drawn = draw_case(seed, false);
    SCOPED_TRACE(drawn.describe());
    Random random(seed);
    Faults faults{.half_done = random.chance(0.5), .hold = 1U << 30, .seed = seed};
    if (random.chance(0.5)) {
      faults.fail_read = 1 + random.below(8);
    } else {
      faults.fail_write = 1 + random.below(5);
    }
    EnginePlayer player(drawn, faults);
    ASSERT_NO_THROW(player.play());
    reported += player.failed() ? 1 : 0;
  }
  EXPECT_GT(reported, 20);
}

}  // namespace
}  // namespace granary::test
