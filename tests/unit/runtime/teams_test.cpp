// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Workers of several cores. Only the refusals are tested with a Kokkos that has none.
#include <granary/detail/core/backends/discover.hpp>
#include <granary/detail/core/engine/engine.hpp>
#include <granary/detail/runtime/setup/configure.hpp>
#include <granary/granary.hpp>

#include "support/message_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <set>
#include <thread>
#include <vector>

namespace granary::teams_test {

using namespace detail;

namespace {

using test::message_of;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using Vector = Kokkos::View<double*, Kokkos::HostSpace>;

RuntimeOptions options_of(unsigned workers, unsigned cores_per_worker) {
  return {.scheduler = "eager",
          .workers = workers,
          .cores_per_worker = cores_per_worker,
          .devices = "none",
          .host_memory = 1_MiB,
          .models = models_off};
}

// What the threads of a body saw.
struct Seen {
  std::vector<std::thread::id> threads;
  std::vector<cpu_set_t> masks;
};

struct Look {
  static constexpr bool host_only = true;
  Seen* seen;
  std::atomic<int>* inside = nullptr;  // null: it meets no other task
  template <class Exec, class X>
  void operator()(Exec const& exec, X x) const {
    if (inside != nullptr) {
      ++*inside;
      while (*inside < 2) std::this_thread::yield();
    }
    seen->threads.resize(x.extent(0));
    seen->masks.resize(x.extent(0));
    Kokkos::parallel_for("look", Kokkos::RangePolicy<Exec>(exec, 0, x.extent(0)), [x, into = seen](std::size_t i) {
      into->threads[i] = std::this_thread::get_id();
      ::sched_getaffinity(0, sizeof(cpu_set_t), &into->masks[i]);
      x(i) = static_cast<double>(i);
    });
  }
  [[nodiscard]] static std::set<std::thread::id> threads(Seen const& seen) {
    return {seen.threads.begin(), seen.threads.end()};
  }
};

class Teams : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_team_space) GTEST_SKIP() << "this Kokkos has no instances of several cores";
    if (discover_host().cores.size() < 2) GTEST_SKIP() << "this process may use one core only";
  }
};

TEST_F(Teams, ABodyHasAThreadOnEachCoreOfItsWorker) {
  Runtime runtime(options_of(1, 2));
  Vector x("x", 1000);
  Seen seen;
  for (int round = 0; round < 20; ++round) {
    runtime.submit("look", Look{&seen}, write(runtime.data(x)));
    runtime.wait();
    EXPECT_THAT(Look::threads(seen), SizeIs(2));
  }
  EXPECT_EQ(x(999), 999);
  auto const cores = discover_host().cores;
  for (auto const& mask : seen.masks) {
    EXPECT_EQ(CPU_COUNT(&mask), 2);
    EXPECT_TRUE(CPU_ISSET(cores[0], &mask) && CPU_ISSET(cores[1], &mask));
  }
}

TEST_F(Teams, TwoWorkersHaveThreadsOfTheirOwn) {
  Runtime runtime(options_of(2, 2));
  Vector x("x", 1000), y("y", 1000);
  std::array<Seen, 2> seen;
  std::atomic<int> inside = 0;
  runtime.submit("look", Look{&seen[0], &inside}, write(runtime.data(x)));
  runtime.submit("look", Look{&seen[1], &inside}, write(runtime.data(y)));
  runtime.wait();
  auto all = Look::threads(seen[0]);
  EXPECT_THAT(all, SizeIs(2));
  all.merge(Look::threads(seen[1]));
  EXPECT_THAT(all, SizeIs(4));
  EXPECT_EQ(x(999) + y(1), 1000);
}

// Team scratch, a reduction and a scan, which have memory of the instance.
struct Compute {
  template <class Exec, class X, class Y>
  void operator()(Exec const& exec, X x, Y y) const {
    int const n = static_cast<int>(x.extent(0)), rows = static_cast<int>(y.extent(0)), each = n / rows;
    Kokkos::parallel_scan(
        "number", Kokkos::RangePolicy<Exec>(exec, 0, n), KOKKOS_LAMBDA(int i, double& sum, bool last) {
          sum += 1;
          if (last) x(i) = sum;  // i + 1
        });
    using Team = typename Kokkos::TeamPolicy<Exec>::member_type;
    using Scratch = Kokkos::View<double*, typename Exec::scratch_memory_space, Kokkos::MemoryUnmanaged>;
    auto const bytes = static_cast<int>(Scratch::shmem_size(static_cast<std::size_t>(each)));
    auto const policy = Kokkos::TeamPolicy<Exec>(exec, rows, Kokkos::AUTO).set_scratch_size(0, Kokkos::PerTeam(bytes));
    Kokkos::parallel_for(
        "sum", policy, KOKKOS_LAMBDA(Team const& team) {
          Scratch const copy(team.team_scratch(0), static_cast<std::size_t>(each));
          int const row = team.league_rank();
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, each), [&](int i) { copy(i) = x(row * each + i); });
          team.team_barrier();
          double sum = 0;
          Kokkos::parallel_reduce(
              Kokkos::TeamThreadRange(team, each), [&](int i, double& s) { s += copy(i); }, sum);
          Kokkos::single(Kokkos::PerTeam(team), [&] { y(row) = sum; });
        });
  }
};

TEST_F(Teams, ScansReductionsAndScratchOfTwoWorkersAreRight) {
  Runtime runtime(options_of(2, 2));
  constexpr int tasks = 8, n = 4000, rows = 40;
  std::vector<Vector> x, y;
  for (int t = 0; t < tasks; ++t) {
    x.emplace_back("x", n);
    y.emplace_back("y", rows);
  }
  for (int round = 0; round < 20; ++round) {
    for (int t = 0; t < tasks; ++t) {
      auto const i = static_cast<std::size_t>(t);
      runtime.submit("compute", Compute{}, write(runtime.data(x[i])), write(runtime.data(y[i])));
    }
    runtime.wait();
    for (auto const& sums : y) {
      double total = 0;
      for (int r = 0; r < rows; ++r) total += sums(r);
      ASSERT_EQ(total, n * (n + 1.0) / 2);
      ASSERT_EQ(sums(0), 5050);
    }
  }
}

struct NamesItsSpace {
  static constexpr bool host_only = true;
  Seen* seen;
  void operator()(HostExecutionSpace const& exec, Vector x) const { Look{seen}(exec, x); }
};

TEST_F(Teams, ABodyThatNamesAnotherSpaceRunsOnOneCore) {
  Runtime runtime(options_of(1, 2));
  Vector x("x", 100);
  Seen seen;
  runtime.submit("names", NamesItsSpace{&seen}, write(runtime.data(x)));
  runtime.wait();
  constexpr bool same = std::is_same_v<HostExecutionSpace, TeamExecutionSpace>;
  EXPECT_THAT(Look::threads(seen), SizeIs(same ? 2 : 1));
}

TEST_F(Teams, WorkersByDefaultAndByTheEnvironment) {
  ::setenv("GRANARY_CORES_PER_WORKER", "2", 1);
  auto const options = configure({.host_memory = 1_MiB});
  ::unsetenv("GRANARY_CORES_PER_WORKER");
  EXPECT_EQ(options.cores_per_worker, 2U);
  EXPECT_GE(*options.workers, 1U);
  EXPECT_LE(*options.workers, discover_host().cores.size() / 2);
  Runtime runtime(options_of(1, 2));
  EXPECT_EQ(runtime.session().engine().topology().machine().workers.front().name, "cores 0-1");
}

TEST_F(Teams, MoreCoresThanThereAreAreRefused) {
  auto const cores = discover_host().cores.size();
  if (cores >= 512) GTEST_SKIP() << "this machine has them";
  EXPECT_THAT(message_of<InvalidArgument>([&] { Runtime(options_of(1, static_cast<unsigned>(cores) + 1)); }),
              HasSubstr("cores does not fit the " + std::to_string(cores) + " that this process may use"));
}

TEST(TeamsRefused, WithoutOpenMp) {
  if (has_team_space) GTEST_SKIP() << "this Kokkos has instances of several cores";
  EXPECT_THAT(message_of<InvalidArgument>([] { Runtime(options_of(1, 2)); }),
              HasSubstr("workers of 2 cores each need Kokkos 4.0 or newer with OpenMP, and this is Kokkos "));
  EXPECT_EQ(configure(options_of(1, 1)).cores_per_worker, 1U);
}

TEST(TeamsRefused, BadNumbers) {
  EXPECT_THAT(message_of<InvalidArgument>([] { Runtime(options_of(1, 513)); }),
              HasSubstr("513 cores per worker are more than 512"));
  ::setenv("GRANARY_CORES_PER_WORKER", "two", 1);
  EXPECT_THAT(message_of<InvalidArgument>([] { static_cast<void>(configure({})); }),
              HasSubstr("GRANARY_CORES_PER_WORKER is 'two'; a number is needed"));
  ::unsetenv("GRANARY_CORES_PER_WORKER");
}

}  // namespace
}  // namespace granary::teams_test
