// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/engine/engine.hpp>
#include <granary/detail/core/model/inner_graph.hpp>

#include "support/engine_fixture.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <numeric>
#include <thread>

namespace granary::test {

using namespace detail;

namespace {

using enum AccessMode;

constexpr std::size_t parts = 8;
using Values = std::array<std::uint64_t, parts>;

// The operation on each part; the kernel applies it to the whole at once.
std::uint64_t twice_and_one(std::uint64_t x) { return 2 * x + 1; }

struct Work {
  std::uint64_t steps = 1;
  bool emits = true;
  std::uint64_t fails_at = ~std::uint64_t{0};  // inner task
  std::atomic<int>* whole = nullptr;           // runs of the kernel
  std::atomic<int>* inner = nullptr;           // runs of inner tasks
  std::function<void()> during = nullptr;      // called by each inner task
};

struct Injected : std::runtime_error {
  Injected() : std::runtime_error("injected") {}
};

struct Step {
  Work const* work;
  bool fails;
};

void run_whole(KernelCall const& call) {
  auto const& work = *static_cast<Work const*>(call.parameters);
  auto* values = reinterpret_cast<std::uint64_t*>(call.data[0]);
  for (std::uint64_t s = 0; s < work.steps; ++s) {
    for (std::size_t p = 0; p < parts; ++p) values[p] = twice_and_one(values[p]);
  }
  if (work.whole != nullptr) ++*work.whole;
}

void run_step(KernelCall const& call) {
  auto const& step = *static_cast<Step const*>(call.parameters);
  if (step.work->during) step.work->during();
  if (step.fails) throw Injected();
  value(call) = twice_and_one(value(call));
  if (step.work->inner != nullptr) ++*step.work->inner;
}

void expand(void const* parameters, InnerGraph& graph) {
  auto const& work = *static_cast<Work const*>(parameters);
  if (!work.emits) return;
  Codelet codelet{.name = "step", .launches_kokkos_kernels = false};
  codelet.kernels[0] = run_step;
  auto const id = graph.add_codelet(codelet);
  for (std::uint64_t s = 0; s < work.steps; ++s) {
    for (std::size_t p = 0; p < parts; ++p) {
      std::array const accesses{Access{graph.part(0, p * sizeof(std::uint64_t)), ReadWrite}};
      graph.submit({id, accesses, 0, 0}, Parameters(Step{&work, s * parts + p == work.fails_at}));
    }
  }
}

struct InnerFixture : EngineFixture {
  explicit InnerFixture(std::uint32_t workers, Bytes capacity = 1_MiB) : EngineFixture(workers, capacity) {
    Codelet made{.name = "work", .launches_kokkos_kernels = false, .expand = expand};
    made.kernels[0] = run_whole;
    work = engine->add_codelet(made);
  }
  DataId bind(Values& values) {
    auto* address = reinterpret_cast<std::byte*>(values.data());
    return engine->add_data({.name = "values",
                             .bytes = sizeof(Values),
                             .origin = host,
                             .home = host,
                             .origin_is_home = true,
                             .in_place = true},
                            {address, address, {}}, nullptr);
  }
  std::uint64_t inner_tasks() const {
    std::uint64_t sum = 0;
    for (auto const& worker : engine->statistics().workers) sum += worker.inner_tasks;
    return sum;
  }
  CodeletId work;
};

Values first_values() {
  Values values;
  std::iota(values.begin(), values.end(), 1U);
  return values;
}
Values after(Values values, std::uint64_t steps) {
  for (std::uint64_t s = 0; s < steps; ++s) {
    for (auto& v : values) v = twice_and_one(v);
  }
  return values;
}

TEST(EngineInner, ALoneTaskRunsAsAGraphOfSeveralWorkers) {
  InnerFixture fixture(3);
  auto values = first_values();
  std::atomic<int> whole = 0, inner = 0;
  std::atomic<int> inside = 0;
  // Each inner task waits until another worker runs one too: this ends only with several workers.
  Work work{.steps = 5, .whole = &whole, .inner = &inner, .during = [&] {
              ++inside;
              while (inside.load() < 2) std::this_thread::yield();
            }};
  fixture.submit(fixture.work, {{fixture.bind(values), ReadWrite}}, work);
  fixture.engine->wait();
  EXPECT_EQ(values, after(first_values(), 5));
  EXPECT_EQ(whole.load(), 0);
  EXPECT_EQ(inner.load(), 40);
  EXPECT_EQ(fixture.inner_tasks(), 40U);
  EXPECT_EQ(fixture.engine->statistics().planner.tasks_run, 1U) << "the planner knows nothing of inner tasks";
}

TEST(EngineInner, TasksOnOneWorkerRunAsTheyAre) {
  InnerFixture fixture(1);
  auto values = first_values();
  std::atomic<int> whole = 0;
  fixture.submit(fixture.work, {{fixture.bind(values), ReadWrite}}, Work{.steps = 5, .whole = &whole});
  fixture.engine->wait();
  EXPECT_EQ(values, after(first_values(), 5));
  EXPECT_EQ(whole.load(), 1);
}

TEST(EngineInner, TasksWhoseExpansionEmitsNothingRunAsTheyAre) {
  InnerFixture fixture(2);
  auto values = first_values();
  std::atomic<int> whole = 0;
  fixture.submit(fixture.work, {{fixture.bind(values), ReadWrite}}, Work{.steps = 5, .emits = false, .whole = &whole});
  fixture.engine->wait();
  EXPECT_EQ(values, after(first_values(), 5));
  EXPECT_EQ(whole.load(), 1);
  EXPECT_EQ(fixture.inner_tasks(), 0U);
}

TEST(EngineInner, ChainsOfSharedTasksGiveTheResultOfTheirKernels) {
  for (std::uint32_t const workers : {2U, 4U}) {
    InnerFixture fixture(workers);
    std::array<Values, 6> all{};
    all.fill(first_values());
    std::vector<DataId> data;
    for (auto& values : all) data.push_back(fixture.bind(values));
    for (int round = 0; round < 50; ++round) {
      for (std::size_t chain = 0; chain < 1 + static_cast<std::size_t>(round) % all.size(); ++chain) {
        fixture.submit(fixture.work, {{data[chain], ReadWrite}}, Work{.steps = 1 + chain % 3});
      }
      if (round % 10 == 9) fixture.engine->wait();
    }
    fixture.engine->wait();
    for (std::size_t chain = 0; chain < all.size(); ++chain) {
      std::uint64_t rounds = 0;
      for (std::size_t round = 0; round < 50; ++round) rounds += chain < 1 + round % all.size() ? 1 : 0;
      EXPECT_EQ(all[chain], after(first_values(), rounds * (1 + chain % 3)));
    }
    EXPECT_GT(fixture.inner_tasks(), 0U);
  }
}

TEST(EngineInner, AFailedInnerTaskFailsItsParentAndWhatDependsOnIt) {
  InnerFixture fixture(3);
  auto values = first_values(), others = first_values();
  auto const data = fixture.bind(values), other = fixture.bind(others);
  std::atomic<int> inner = 0;
  auto const failed =
      fixture.submit(fixture.work, {{data, ReadWrite}}, Work{.steps = 9, .fails_at = 20, .inner = &inner});
  fixture.submit(fixture.work, {{data, ReadWrite}}, Work{});
  fixture.submit(fixture.work, {{other, ReadWrite}}, Work{.steps = 2});
  EXPECT_THROW(fixture.engine->wait(), Injected);
  ASSERT_GE(fixture.engine->failures().size(), 1U);
  EXPECT_EQ(fixture.engine->failures().front().task, failed);
  EXPECT_LT(inner.load(), 72) << "the rest of the graph was cancelled";
  EXPECT_EQ(others, after(first_values(), 2));
  EXPECT_NO_THROW(fixture.engine->wait());
}

TEST(EngineInner, AnInnerTaskWithoutAKernelFailsItsParent) {
  InnerFixture fixture(2);
  Codelet made{.name = "bodiless", .launches_kokkos_kernels = false, .expand = [](void const*, InnerGraph& graph) {
                 graph.submit({graph.add_codelet({.name = "nothing"}), {}, 0, 0});
               }};
  made.kernels[0] = run_whole;
  auto values = first_values();
  fixture.submit(fixture.engine->add_codelet(made), {{fixture.bind(values), ReadWrite}}, Work{});
  EXPECT_THROW(fixture.engine->wait(), InvalidArgument);
}

TEST(EngineInner, CancellationLetsTheGraphUnderWayEnd) {
  InnerFixture fixture(2);
  auto values = first_values();
  auto const data = fixture.bind(values);
  std::atomic<bool> runs = false, cancelled = false;
  Work const held{.steps = 4, .during = [&] {
                    runs = true;
                    while (!cancelled) std::this_thread::yield();
                  }};
  fixture.submit(fixture.work, {{data, ReadWrite}}, held);
  for (int i = 0; i < 10; ++i) fixture.submit(fixture.work, {{data, ReadWrite}}, Work{});
  while (!runs) std::this_thread::yield();
  fixture.engine->cancel(std::make_exception_ptr(Injected()));
  cancelled = true;
  EXPECT_THROW(fixture.engine->wait(), Injected);
  EXPECT_EQ(values, after(first_values(), 4)) << "the graph that ran ended, and nothing else began";
}

TEST(EngineInner, GraphsRunUnderAMemoryLimit) {
  InnerFixture fixture(2, 8 * 3);  // room for three values
  Codelet add{.name = "add", .launches_kokkos_kernels = false, .expand = [](void const*, InnerGraph& graph) {
                Codelet inner{.name = "add", .launches_kokkos_kernels = false};
                inner.kernels[0] = [](KernelCall const& call) { value(call, 1) += value(call, 0); };
                std::array const accesses{Access{graph.part(0, 0), Read}, Access{graph.part(1, 0), ReadWrite}};
                graph.submit({graph.add_codelet(inner), accesses, 0, 0});
              }};
  add.kernels[0] = [](KernelCall const& call) { value(call, 1) += value(call, 0); };
  auto const sum = fixture.engine->add_codelet(add);
  auto const set = fixture.codelet(
      "set", [](KernelCall const& call) { value(call) = *static_cast<std::uint64_t const*>(call.parameters); });
  std::uint64_t total = 0;
  auto const result = fixture.in_place(total);
  std::vector<DataId> data;
  for (std::uint64_t i = 0; i < 20; ++i) {
    data.push_back(fixture.engine->add_data({.name = "t", .bytes = 8, .origin = {}, .home = {}}));
    fixture.submit(set, {{data.back(), Write}}, i);
  }
  for (auto const x : data) fixture.submit(sum, {{x, Read}, {result, ReadWrite}});
  fixture.engine->wait();
  EXPECT_EQ(total, 190U);
  EXPECT_EQ(fixture.inner_tasks(), 20U);
  EXPECT_LE(fixture.engine->statistics().planner.nodes[0].peak, 24U);
}

TEST(EngineInner, AnEngineMayBeDestroyedWhileAGraphRuns) {
  auto values = first_values();
  for (int round = 0; round < 20; ++round) {
    InnerFixture fixture(3);
    auto const data = fixture.bind(values);
    for (int i = 0; i < 3; ++i) fixture.submit(fixture.work, {{data, ReadWrite}}, Work{.steps = 20});
  }
}

}  // namespace
}  // namespace granary::test
