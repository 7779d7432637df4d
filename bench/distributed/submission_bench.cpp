// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cost of the submission of a task that all processes submit: in the process that runs it, and in others. Cholesky of
// tiles that are dealt cyclically; nothing is computed or sent.
#include <granary/detail/core/planner/planner.hpp>
#include <granary/detail/distributed/distributed_submitter.hpp>
#include <granary/detail/policies/registry.hpp>

#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <vector>

namespace {

using namespace granary;
using namespace granary::detail;

class NoTransport final : public Transport {
 public:
  void send(ProcessId, Message) override {}
  void expect(ProcessId, std::uint32_t, CopyCommand const&) override {}
  void cancel(ProcessId, std::uint32_t) override {}
  void ship(ProcessId, std::uint32_t, ShipCommand const&, std::int64_t) override {}
};

Topology host_and_peers() {
  Machine machine;
  auto const host = machine.add_node({.name = "host"});
  auto const peers = machine.add_node({.name = "other processes", .kind = NodeKind::Peers});
  machine.add_link_pair(host, peers, 1e9, Duration{0}, 8);
  machine.add_worker({.name = "core", .node = host});
  return Topology(machine);
}

// The planner alone: commands are performed only as far as they concern other processes.
class PlannerSubmitter final : public Submitter {
 public:
  PlannerSubmitter(Planner& planner, OutsideCommands& outside) : m_planner(planner), m_outside(outside) {}
  CodeletId add_codelet(Codelet codelet) override { return m_planner.handle(AddCodelet{std::move(codelet)}); }
  DataId add_data(DataDescription description) override { return m_planner.handle(AddData{std::move(description)}); }
  void release_data(DataId data) override { m_planner.handle(ReleaseData{data}); }
  TaskId submit(TaskSubmission const& submission, Parameters) override {
    TaskId const id = m_planner.handle(submission);
    if (m_planner.view().task(id).external()) {
      ++m_stubs;
      m_outside.submitted(id);
    } else {
      ++m_tasks;
    }
    if (m_planner.commands().empty()) return id;
    m_planner.take_commands(m_taken);
    for (auto const& command : m_taken) {
      if (auto const* const begun = std::get_if<BeginCommand>(&command)) m_outside.begin(*begun);
    }
    return id;
  }
  [[nodiscard]] std::int64_t tasks() const { return m_tasks; }
  [[nodiscard]] std::int64_t stubs() const { return m_stubs; }

 private:
  Planner& m_planner;
  OutsideCommands& m_outside;
  std::vector<Command> m_taken;
  std::int64_t m_tasks = 0;
  std::int64_t m_stubs = 0;
};

// Returns the number of tasks.
std::int64_t submit_cholesky(Submitter& submitter, CodeletId codelet, std::vector<DataId> const& data,
                             std::int64_t tiles) {
  auto const tile = [&](std::int64_t i, std::int64_t j) { return data[static_cast<std::size_t>(i * (i + 1) / 2 + j)]; };
  std::int64_t tasks = 0;
  auto const submit = [&](auto const&... accesses) {
    std::array<Access, sizeof...(accesses)> const list{accesses...};
    submitter.submit({.codelet = codelet, .accesses = list, .priority = tiles, .flops = 1e8}, {});
    ++tasks;
  };
  for (std::int64_t k = 0; k < tiles; ++k) {
    submit(Access{tile(k, k), AccessMode::ReadWrite});
    for (auto i = k + 1; i < tiles; ++i) submit(Access{tile(k, k)}, Access{tile(i, k), AccessMode::ReadWrite});
    for (auto i = k + 1; i < tiles; ++i) {
      for (auto j = k + 1; j <= i; ++j)
        submit(Access{tile(i, k)}, Access{tile(j, k)}, Access{tile(i, j), AccessMode::ReadWrite});
    }
  }
  return tasks;
}

/// One process of a grid of `range(1)` x `range(1)`; with 1, all tasks are its own. With 0, the process owns nothing:
/// all tasks are foreign.
void cholesky(benchmark::State& state) {
  auto const tiles = state.range(0);
  auto const side = static_cast<std::uint32_t>(state.range(1));
  std::int64_t tasks = 0;
  std::int64_t own = 0;
  std::int64_t stubs = 0;
  for (auto _ : state) {
    state.PauseTiming();
    {
      AveragingEstimator estimator;
      Planner planner(host_and_peers(), make_policies("prio", "lru"), estimator);
      NoTransport transport;
      Exchange exchange(ProcessId(0), transport, [](Event const&) {});
      PlannerSubmitter local(planner, exchange);
      Distribution const grid(side > 0 ? side : 1, side > 0 ? side : 1);
      DistributedSubmitter submitter(
          ProcessId(0),
          [&](DataDescription const& description, std::uint64_t) {
            return side > 0 ? grid.owner(description.position) : ProcessId(1);
          },
          local, NodeId(1), exchange);
      Codelet codelet{.name = "kernel"};
      codelet.kernels[0] = [](KernelCall const&) {};
      auto const id = submitter.add_codelet(codelet);
      std::vector<DataId> data;
      for (std::int32_t i = 0; i < tiles; ++i) {
        for (std::int32_t j = 0; j <= i; ++j) {
          data.push_back(submitter.add_data({.name = "tile",
                                             .bytes = 2_MiB,
                                             .origin = NodeId(0),
                                             .home = NodeId(0),
                                             .origin_is_home = true,
                                             .in_place = true,
                                             .position = {i, j}}));
        }
      }
      state.ResumeTiming();
      tasks += submit_cholesky(submitter, id, data, tiles);
      state.PauseTiming();
      own += local.tasks();
      stubs += local.stubs();
    }
    state.ResumeTiming();
  }
  auto const per = [&](std::int64_t count) {
    return benchmark::Counter(static_cast<double>(count), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  };
  state.counters["s/task"] = per(tasks);
  if (own > 0) state.counters["s/own"] = per(own);
  state.counters["own"] = static_cast<double>(own) / static_cast<double>(tasks);
  state.counters["stubs/own"] = own > 0 ? static_cast<double>(stubs) / static_cast<double>(own) : 0;
}
BENCHMARK(cholesky)->Args({128, 0})->Args({48, 1})->Args({96, 2})->Args({128, 4})->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
