// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "support/aborting_scheduler.hpp"
#include "support/faulty_storage.hpp"
#include "support/journal_judge.hpp"
#include "support/mischief.hpp"
#include "support/play_machine.hpp"
#include "support/policy_case.hpp"
#include "support/stamp_task.hpp"

#include <granary/detail/core/engine/engine.hpp>
#include <granary/detail/policies/registry.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace granary::test {

using namespace detail;

/// The faults in a play.
struct PlayFaults {
  std::optional<Faults> storage = {};  ///< the storages of origins and homes answer late and out of order, and fail
  std::function<void(EmulatedOperation const&)> before = {};  ///< of the emulated devices
};

/// Plays a drawn application on the engine: real threads, real copies of stamped data. Every read is checked against
/// the last write before it in the order of submission. After a reported failure, tasks that only write define all
/// written data again, and the play continues. Then the run's journal is judged.
class EnginePlayer {
 public:
  explicit EnginePlayer(PolicyCase const& drawn, PlayFaults const& faults = {})
      : m_case(drawn), m_machine(drawn.machine, drawn.seed, faults.before) {
    m_may_fail = faults.storage || faults.before || !drawn.faults.tasks.empty() || drawn.misbehaves;
    m_goes_on = !faults.before && !drawn.misbehaves;  // faults of a device may repeat
    for (auto const& node : m_machine.machine().nodes) {
      m_storages.push_back(node.kind == NodeKind::Disk ? std::make_shared<MemoryStorage>() : nullptr);
      m_bound.push_back(m_storages.back());
      if (m_storages.back() && faults.storage) {
        m_faulty.push_back(std::make_shared<FaultyStorage>(*m_storages.back(), *faults.storage));
        m_bound.back() = m_faulty.back();
      }
    }
    EngineOptions options;
    options.planner = drawn.planner;
    options.record_journal = true;
    options.trace.record = drawn.seed % 2 == 0;  // the journal is the same, and is judged without a recorder
    m_engine = std::make_unique<Engine>(Topology(m_machine.machine()), policies(m_misdeeds),
                                        std::make_unique<AveragingEstimator>(), m_machine.backends(), options);
    if (m_faulty.empty()) return;
    m_releaser = std::jthread([this](std::stop_token const& stop) {
      while (!stop.stop_requested()) {
        for (auto const& storage : m_faulty) storage->release();
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    });
  }

  void play() {
    add_codelets();
    for (auto const& operation : m_case.graph.operations) {
      if (m_failed && !m_goes_on) break;
      try {
        std::visit([&](auto const& what) { perform(what); }, operation);
      } catch (Error const&) {  // a submission after the fault of a policy
        if (!m_misdeeds->any() && !m_misdeeds->kept_back) throw;
        break;
      }
    }
    if (!m_failed) perform(WaitForAll{});
    while (m_goes_on && !m_clean) perform(WaitForAll{});  // tasks that define data again may fail, too
    if (m_failed) {
      if (m_case.misbehaves && !names_policy(m_thrown)) expect_later_fault();
      EXPECT_NO_THROW(m_engine->wait()) << "a failure is reported once";
    }
    EXPECT_EQ(m_wrong.load(), 0U) << "reads that found something else than the last write before them";
    for (auto const& worker : m_engine->statistics().workers) m_inner_tasks += worker.inner_tasks;
    if (!m_failed) {
      EXPECT_EQ(m_ran.load(), m_submitted) << "every task runs once";
    }
    check_homes();
    check_trace();
  }

  /// Submits the application and destroys the engine without a wait; no other function may be called afterwards.
  void abandon() {
    add_codelets();
    for (auto const& operation : m_case.graph.operations) {
      if (std::holds_alternative<WaitForAll>(operation)) continue;
      std::visit([&](auto const& what) { perform(what); }, operation);
    }
    m_engine.reset();
    EXPECT_EQ(m_wrong.load(), 0U) << "reads that found something else than the last write before them";
    EXPECT_LE(m_ran.load(), m_submitted) << "no task runs twice";
  }

  [[nodiscard]] bool failed() const { return m_failed; }
  /// Number of tasks submitted to define data again after a failure.
  [[nodiscard]] std::uint64_t redefining_tasks() const { return m_redefining; }
  /// The text of the last exception of wait.
  [[nodiscard]] std::string const& thrown() const { return m_thrown; }
  [[nodiscard]] Misdeeds const& misdeeds() const { return *m_misdeeds; }
  [[nodiscard]] std::uint64_t inner_tasks() const { return m_inner_tasks; }
  [[nodiscard]] Engine& engine() { return *m_engine; }
  /// Number of homes of living data that were found to hold the required value.
  [[nodiscard]] std::uint64_t homes_checked() const { return m_homes_checked; }

 private:
  static bool names_policy(std::string const& thrown) { return thrown.find(" 'mischief' ") != std::string::npos; }

  // A policy may do its first wrong thing when the replicas of a task that failed are dropped, after that was reported.
  void expect_later_fault() {
    try {
      m_engine->wait();
    } catch (Error const& error) {
      m_thrown = error.what();
      EXPECT_TRUE(names_policy(m_thrown)) << m_thrown;
    }
  }

  struct Datum {
    DataDescription description;
    DataId id;
    std::uint64_t stamp = 0;  // of the last write submitted
    bool given_up = false;
    Layout packed, at_home;
    std::shared_ptr<std::byte> origin, home;  // address, for homes in memory
  };

  [[nodiscard]] PolicySet policies(std::shared_ptr<Misdeeds> misdeeds = std::make_shared<Misdeeds>()) const {
    auto policies = make_policies(m_case.scheduler, eviction_of(m_case), m_case.seed);
    if (m_case.aborts) policies = aborting(std::move(policies), m_case.seed);
    return m_case.misbehaves ? mischievous(std::move(policies), m_case.seed, std::move(misdeeds)) : std::move(policies);
  }

  void add_codelets() {
    for (auto codelet : m_case.graph.codelets) {
      for (auto& kernel : codelet.kernels) kernel = kernel != nullptr ? run_stamp_task : nullptr;
      codelet.launches_kokkos_kernels = false;
      if (m_case.expands) codelet.expand = expand_stamp_task;
      m_codelets.push_back(m_engine->add_codelet(codelet));
    }
  }

  void perform(RegisterData const& registered) {
    auto& datum = m_data.emplace_back();
    auto const number = m_data.size() - 1;
    auto const& d = datum.description = registered.description;
    datum.stamp = first_stamp + number;
    datum.packed.bytes = datum.at_home.bytes = d.bytes;
    bool const on_host = on_host_or_nowhere(d.origin) && on_host_or_nowhere(d.home);
    if (m_case.lines && on_host && (d.origin.valid() || d.home.valid())) draw_lines(datum, number);
    HostBinding binding{nullptr, nullptr, nullptr, datum.at_home.lines};
    StorageSlot origin, home;
    if (d.origin.valid()) {
      auto const first = stamped(datum.stamp, d.bytes);
      if (auto const& storage = m_storages[d.origin.index()]) {
        origin = {m_bound[d.origin.index()], number * 2};
        write_now(*storage, number * 2, first);
      } else {
        datum.origin = memory(d.origin, datum);
        datum.at_home.write(datum.origin.get(), first);
        binding.origin = datum.origin.get();
      }
    }
    if (d.home.valid()) {
      if (auto const& storage = m_bound[d.home.index()]) {
        home = {storage, number * 2 + (d.origin_is_home ? 0 : 1)};
      } else {
        datum.home = d.origin_is_home ? datum.origin : memory(d.home, datum);
        binding.home = datum.home.get();
      }
    }
    datum.id = m_engine->add_data(d, binding, [&](DataId id) {
      auto const disk = [&](NodeId node) { return m_machine.disk(node); };
      if (origin && home && d.origin == d.home) return disk(d.origin)->bind(id, origin, home);
      if (origin) disk(d.origin)->bind(id, origin, {});
      if (home) disk(d.home)->bind(id, {}, home);
    });
  }

  [[nodiscard]] bool on_host_or_nowhere(NodeId node) const {
    return !node.valid() || m_machine.machine()[node].kind == NodeKind::Host;
  }
  // Divides the datum into lines with gaps at its origin and home, which may not fill their allocation.
  void draw_lines(Datum& datum, std::size_t number) {
    Random random(m_case.seed * 1000 + number);
    auto const bytes = datum.description.bytes;
    Bytes const count = 2 + random.below(6);
    if (bytes % count != 0 || random.chance(0.2)) return;
    auto& lines = datum.at_home.lines;
    lines = {.line = bytes / count, .count = count, .pitch = 0, .packed = bytes / count};
    if (lines.packed > 1 && random.chance(0.3)) --lines.line;
    lines.pitch = lines.line + random.below(100);
    datum.at_home.pitch = lines.pitch;
    datum.packed.lines = lines;
  }
  std::shared_ptr<std::byte> memory(NodeId node, Datum const& datum) {
    auto const& lines = datum.at_home.lines;
    return m_machine.memory(node, std::max(datum.description.bytes, lines.count * lines.pitch));
  }

  void perform(GiveUpData const& given_up) {
    m_data[given_up.datum].given_up = true;
    m_engine->release_data(m_data[given_up.datum].id);
  }

  void perform(SubmitGraphTask const& task) { submit(m_codelets[task.codelet], task); }

  void submit(CodeletId codelet, SubmitGraphTask const& task) {
    StampTask stamp{.accesses = {},
                    .stamp = m_submitted + 1,
                    .fails = m_case.faults.tasks.contains(TaskId(m_submitted)),
                    .polls = m_case.graph.codelets[task.codelet].restartable,
                    .wrong = &m_wrong,
                    .ran = &m_ran};
    std::vector<Access> accesses;
    for (auto const& [number, mode] : task.accesses) {
      auto const& datum = m_data[number];
      accesses.push_back({datum.id, mode});
      stamp.accesses.push_back({mode, datum.stamp, datum.description.bytes, datum.packed.lines});
    }
    m_engine->submit({codelet, accesses, task.priority, task.flops}, Parameters(std::move(stamp)));
    ++m_submitted;
    for (auto const& [datum, mode] : task.accesses) {
      if (writes(mode)) m_data[datum].stamp = m_submitted;
    }
  }

  // It is not known which tasks ran and which were cancelled: all data that some task writes are written, poisoned or
  // not.
  void define_anew() {
    for (std::uint32_t d = 0; d < m_data.size(); ++d) {
      if (m_data[d].given_up || m_data[d].stamp >= first_stamp) continue;
      submit(m_codelets.front(), {.codelet = 0, .accesses = {{d, AccessMode::Write}}, .priority = 0, .flops = 0});
      ++m_redefining;
    }
  }

  void perform(LetHappen const& some) {
    for (std::uint32_t i = 0; i < some.steps; ++i) std::this_thread::yield();
  }

  void perform(WaitForAll const&) {
    m_clean = true;
    if (!m_may_fail) return m_engine->wait();
    try {
      m_engine->wait();
      return;
    } catch (Injected const& error) {
      m_thrown = error.what();
    } catch (IoError const& error) {
      m_thrown = error.what();
    } catch (DeviceError const& error) {
      m_thrown = error.what();
    } catch (Error const& error) {
      if (!m_case.misbehaves) throw;
      m_thrown = error.what();
    }
    m_failed = true;
    m_clean = false;
    EXPECT_FALSE(m_engine->failures().empty());
    if (m_goes_on) define_anew();
  }

  // The trace and the planner have the same counts.
  void check_trace() {
    auto const trace = m_engine->trace();
    if (m_case.seed % 2 != 0) {
      EXPECT_TRUE(trace.tasks.empty());
      return;
    }
    auto const statistics = m_engine->statistics().planner;
    auto const ran =
        std::ranges::count_if(trace.tasks, [](TraceTask const& task) { return !task.failed && !task.stopped; });
    EXPECT_EQ(static_cast<std::uint64_t>(ran), statistics.tasks_run);
    std::vector<Bytes> bytes(statistics.links.size());
    for (auto const& transfer : trace.transfers) {
      if (!transfer.failed) bytes[transfer.link.index()] += transfer.bytes;
    }
    for (std::size_t l = 0; l < bytes.size(); ++l) EXPECT_EQ(bytes[l], statistics.links[l].bytes);
    std::uint64_t evictions = 0;
    for (auto const& node : statistics.nodes) evictions += node.evictions;
    EXPECT_EQ(trace.evictions.size(), evictions);
  }

  // Every home holds the value that the journal states; without failures that is its last value.
  void check_homes() {
    HomeContents homes;
    ASSERT_NO_THROW(homes = judge(m_engine->journal(), m_engine->topology(), policies(), m_case.planner));
    for (std::size_t number = 0; number < m_data.size(); ++number) {
      auto const& datum = m_data[number];
      if (!datum.description.home.valid()) continue;
      auto expected = datum.stamp;
      if (datum.given_up) {
        if (m_failed) continue;
        if (expected == first_stamp + number && !datum.description.origin_is_home) continue;  // never written
      } else {
        auto const content = homes.at(datum.id);
        if (!content) {
          EXPECT_TRUE(!m_clean || expected == first_stamp + number);
          continue;
        }
        if (m_clean) {
          EXPECT_EQ(*content == 0 ? first_stamp + number : *content, expected);
        }
        expected = *content == 0 ? first_stamp + number : *content;
      }
      EXPECT_TRUE(home_holds(number, stamped(expected, datum.description.bytes)))
          << "the home of datum " << number << " does not hold its value";
      ++m_homes_checked;
    }
  }

  [[nodiscard]] bool home_holds(std::size_t number, Bytewise const& value) const {
    auto const& datum = m_data[number];
    auto const& storage = m_storages[datum.description.home.index()];
    if (!storage) return datum.at_home.holds(datum.home.get(), value);
    auto found = Bytewise(value.size());
    read_now(*storage, number * 2 + (datum.description.origin_is_home ? 0 : 1), found);
    return datum.packed.holds(found.data(), value);
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

  static constexpr std::uint64_t first_stamp = 1'000'000;  // of data that are not written yet

  PolicyCase const& m_case;
  PlayMachine m_machine;
  std::shared_ptr<Misdeeds> m_misdeeds = std::make_shared<Misdeeds>();
  std::vector<std::shared_ptr<MemoryStorage>> m_storages;  // by node: origins and homes
  std::vector<std::shared_ptr<Storage>> m_bound;  // by node: the same storages, or wrappers that make them faulty
  std::vector<std::shared_ptr<FaultyStorage>> m_faulty;
  std::vector<CodeletId> m_codelets;
  std::deque<Datum> m_data;
  std::uint64_t m_submitted = 0;
  std::uint64_t m_inner_tasks = 0;
  std::uint64_t m_homes_checked = 0;
  std::atomic<std::uint64_t> m_wrong = 0;
  std::atomic<std::uint64_t> m_ran = 0;
  bool m_may_fail = false;
  bool m_goes_on = false;  // after a failure
  bool m_failed = false;
  bool m_clean = true;  // no failure since the last wait but one
  std::uint64_t m_redefining = 0;
  std::string m_thrown;
  std::jthread m_releaser;  // outlives the engine, which waits for its copies
  std::unique_ptr<Engine> m_engine;
};

}  // namespace granary::test
