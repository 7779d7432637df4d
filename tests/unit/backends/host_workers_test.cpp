// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/host_workers.hpp>

#include <granary/detail/core/backends/discover.hpp>
#include <granary/detail/core/backends/kokkos_compat.hpp>

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <thread>

namespace granary::host_workers_test {

using namespace detail;

namespace {

// Runs `kernel` on both workers concurrently, `rounds` times.
void run_on_two(HostWorkers& workers, Kernel kernel, bool launches, void const* parameters, int rounds) {
  std::vector<std::thread> threads;
  for (std::uint32_t w = 0; w < 2; ++w) {
    threads.emplace_back([&, w] {
      auto const* instance = workers.enter(WorkerId(w));
      for (int i = 0; i < rounds; ++i)
        workers.run(kernel, launches,
                    {.data = {}, .parameters = parameters, .instance = instance, .worker = WorkerId(w)});
      workers.leave(WorkerId(w));
    });
  }
  for (auto& thread : threads) thread.join();
}

struct Inside {
  mutable std::atomic<int> now = 0;
  mutable std::atomic<int> most = 0;
  mutable std::atomic<int> wrong = 0;
};

void count_inside(KernelCall const& call) {
  auto const& inside = *static_cast<Inside const*>(call.parameters);
  int const here = ++inside.now;
  if (here > inside.most) inside.most = here;
  std::this_thread::yield();
  --inside.now;
}

TEST(HostWorkers, BodiesThatLaunchKokkosKernelsRunOneAtATimeWhereTheyMust) {
  HostWorkers workers(2);
  Inside inside;
  run_on_two(workers, count_inside, true, &inside, 500);
  EXPECT_LE(inside.most, concurrent_host_kernels ? 2 : 1);
}

// In a separate process, because the warning is logged once.
TEST(HostWorkersDeathTest, TheWarningNamesTheMemberToSet) {
  if (concurrent_host_kernels) GTEST_SKIP() << "this Kokkos needs no warning";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto const run = [] {
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    {
      HostWorkers workers(2);
      Inside inside;
      run_on_two(workers, count_inside, true, &inside, 1);
    }
    std::fflush(nullptr);
    std::_Exit(0);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(0),
              "run one at a time: use Kokkos 4.0 or newer, or declare "
              "'static constexpr bool launches_kokkos_kernels = false;'");
}

TEST(HostWorkers, ReductionsOfTwoWorkersDoNotDisturbEachOther) {
  HostWorkers workers(2);
  Inside inside;
  auto const sum = [](KernelCall const& call) {
    auto const& exec = *static_cast<HostExecutionSpace const*>(call.instance);
    long result = 0;
    Kokkos::parallel_reduce(
        "sum", Kokkos::RangePolicy<HostExecutionSpace>(exec, 0, 1000), KOKKOS_LAMBDA(int i, long& s) { s += i; },
        result);
    if (result != 499500) ++static_cast<Inside const*>(call.parameters)->wrong;
  };
  run_on_two(workers, sum, true, &inside, 300);
  EXPECT_EQ(inside.wrong, 0);
}

// Kokkos before 4.0 runs one host kernel at a time: the time that a worker waits for another one is not part of its
// kernel.
TEST(HostWorkers, TellHowLongAKernelWasBlocked) {
  HostWorkers workers(2);
  auto const nothing = [](KernelCall const&) {};
  auto const run = [&](bool launches) {
    std::atomic<bool> started = false;
    Duration blocked{0};
    std::optional<HostKernelLock> other;
    other.emplace();
    std::thread thread([&] {
      workers.enter(WorkerId(0));
      started = true;
      blocked = workers.run(nothing, launches, {.data = {}, .worker = WorkerId(0)});
      workers.leave(WorkerId(0));
    });
    while (!started) std::this_thread::yield();
    if (launches) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      other.reset();
    }
    thread.join();
    return blocked;
  };
  EXPECT_EQ(run(false), Duration{0});
  if constexpr (concurrent_host_kernels) {
    EXPECT_EQ(run(true), Duration{0});
  } else {
    // The thread may reach the lock late; after some repetitions it is in time.
    Duration blocked{0};
    for (int attempt = 0; attempt < 1000 && blocked == Duration{0}; ++attempt) blocked = run(true);
    EXPECT_GT(blocked, Duration{0});
  }
}

TEST(HostWorkers, ExemptBodiesDoNotWaitForEachOther) {
  HostWorkers workers(2);
  Inside inside;
  // Each waits until the other is inside too: with a lock around them this would never end.
  auto const meet = [](KernelCall const& call) {
    auto const& both = *static_cast<Inside const*>(call.parameters);
    ++both.now;
    while (both.now < 2) std::this_thread::yield();
  };
  run_on_two(workers, meet, false, &inside, 1);
  EXPECT_EQ(inside.now, 2);
}

TEST(HostWorkers, StayWithinTheProcessCores) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(before), &before), 0);
  auto const cores = discover_host().cores;
  HostWorkers workers(1, divide_cores(cores, {}, 1));
  cpu_set_t bound;
  std::thread([&] {
    workers.enter(WorkerId(0));
    ::sched_getaffinity(0, sizeof(bound), &bound);
    workers.leave(WorkerId(0));
  }).join();
  EXPECT_EQ(CPU_COUNT(&bound), 1);
  EXPECT_TRUE(CPU_ISSET(cores[0], &bound));
  EXPECT_TRUE(CPU_ISSET(cores[0], &before));
  cpu_set_t after;
  ::sched_getaffinity(0, sizeof(after), &after);
  EXPECT_TRUE(CPU_EQUAL(&before, &after)) << "the caller's own thread was bound";
}

TEST(HostWorkers, AreNotBoundWhenThereAreMoreThanCores) {
  auto const cores = discover_host().cores;
  HostWorkers workers(cores.size() + 1, divide_cores(cores, {}, 1));
  cpu_set_t before, inside;
  ::sched_getaffinity(0, sizeof(before), &before);
  std::thread([&] {
    workers.enter(WorkerId(0));
    ::sched_getaffinity(0, sizeof(inside), &inside);
    workers.leave(WorkerId(0));
  }).join();
  EXPECT_TRUE(CPU_EQUAL(&before, &inside));
}

}  // namespace
}  // namespace granary::host_workers_test
