// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/blas_threads.hpp>
#include <granary/detail/runtime/setup/environment.hpp>
#include <granary/detail/runtime/setup/warnings.hpp>
#include <granary/granary.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace granary {

using namespace detail;

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// How often `text` occurs in `all`.
std::size_t count(std::string const& all, std::string const& text) {
  std::size_t found = 0;
  for (auto at = all.find(text); at != std::string::npos; at = all.find(text, at + 1)) ++found;
  return found;
}

RuntimeOptions two_workers() {
  return {.scheduler = "darts", .workers = 2, .cores_per_worker = 1, .devices = "none", .host_memory = 1_GiB};
}
Environment fitting() { return {.cores = 2, .room = 2, .memory = 4_GiB, .openmp_threads = 0, .blas_is_held = true}; }

TEST(Warnings, NothingIsDoubtedWhereAllFits) {
  EXPECT_THAT(find_warnings(two_workers(), fitting()), IsEmpty());
  EXPECT_THAT(find_warnings(two_workers(), EngineStatistics{}, 1), IsEmpty());
  EXPECT_THAT(find_warnings(two_workers(), EngineStatistics{}, 0), IsEmpty());
}

TEST(Warnings, MoreWorkersThanCores) {
  auto around = fitting();
  around.cores = around.room = 1;
  EXPECT_THAT(find_warnings(two_workers(), around), ElementsAre(HasSubstr("2 workers share the 1 cores")));
}

TEST(Warnings, MoreWorkersThanAQuotaKeepsBusy) {
  auto around = fitting();
  around.cpu_quota = 1.5;
  around.in_quota = 2;
  EXPECT_THAT(find_warnings(two_workers(), around), IsEmpty());
  around.cpu_quota = 0.5;
  around.in_quota = 1;
  EXPECT_THAT(find_warnings(two_workers(), around),
              ElementsAre(HasSubstr("2 workers share the processor time of 0.5 cores")));
}

TEST(Warnings, MoreWorkersOfSeveralCoresThanFit) {
  auto options = two_workers();
  options.cores_per_worker = 2;
  auto around = fitting();
  around.room = 1;
  EXPECT_THAT(find_warnings(options, around), ElementsAre(HasSubstr("2 workers of 2 cores share the 2 cores")));
}

TEST(Warnings, OpenMpThreadsWithABlasThatCannotBeHeld) {
  auto around = fitting();
  around.openmp_threads = 4;
  EXPECT_THAT(find_warnings(two_workers(), around), IsEmpty()) << "this BLAS is held to one thread";
  around.blas_is_held = false;
  EXPECT_THAT(find_warnings(two_workers(), around),
              ElementsAre(HasSubstr("2 workers call BLAS with OMP_NUM_THREADS=4")));
  auto one = two_workers();
  one.workers = 1;
  EXPECT_THAT(find_warnings(one, around), IsEmpty());
}

TEST(Warnings, ALimitAboveTheMachinesMemory) {
  auto options = two_workers();
  options.host_memory = 5_GiB;
  EXPECT_THAT(find_warnings(options, fitting()),
              ElementsAre(HasSubstr("the memory limit of 5.0 GiB is more than the 4.0 GiB that this process may use")));
}

TEST(Warnings, PrioritiesThatNobodyHeeds) {
  auto options = two_workers();
  options.scheduler = "eager";
  EngineStatistics run;
  run.priorities_ignored = true;
  EXPECT_THAT(find_warnings(options, run, 1),
              ElementsAre(AllOf(HasSubstr("the scheduler 'eager' ignores the priorities"),
                                HasSubstr("darts, dmdas, heftp, heteroprio,"), Not(HasSubstr("dmda,")))));
}

TEST(Warnings, TasksThatRanOneAtATime) {
  auto options = two_workers();
  options.host_memory = 2_MiB;
  EngineStatistics run;
  run.planner.booking = {.booked = 0, .peak = 3_MiB, .sleeps = 9, .alone = 5};
  EXPECT_THAT(find_warnings(options, run, 1),
              ElementsAre(HasSubstr("one at a time, 5 times, because data that no task can free have booked the memory "
                                    "limit of 2.0 MiB, up to 3.0 MiB")));
}

TEST(Warnings, ABlasThatWasGivenThreads) {
  EXPECT_THAT(find_warnings(two_workers(), EngineStatistics{}, 4),
              ElementsAre(HasSubstr("BLAS was given 4 threads per call")));
  auto one = two_workers();
  one.workers = 1;
  EXPECT_THAT(find_warnings(one, EngineStatistics{}, 4), IsEmpty());
}

TEST(Warnings, DevicesThatNoTaskFits) {
  auto options = two_workers();
  options.devices = "host:2";
  options.device_memory = 1_MiB + 100;
  EngineStatistics run;
  run.device_need = 2_MiB;
  EXPECT_THAT(find_warnings(options, run, 1),
              ElementsAre(HasSubstr("has 1048576 bytes for data under its limit of 1048676 bytes, and the largest task "
                                    "needs 2097152 bytes there")));
}

TEST(Warnings, EachIsSaidOnce) {
  ::testing::internal::CaptureStdout();
  EXPECT_TRUE(warn_once("a doubt of this test"));
  EXPECT_FALSE(warn_once("a doubt of this test"));
  EXPECT_TRUE(warn_once("another doubt of this test"));
  std::fflush(stdout);
  auto const said = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(count(said, "granary: a doubt of this test"), 1U) << said;
  EXPECT_EQ(count(said, "granary: another doubt of this test"), 1U) << said;
}

struct Increment {
  static constexpr bool launches_kokkos_kernels = false;
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    x(0) += 1;
  }
};

// The log of a run with a device for data of 64 KiB, whose tasks change data of these sizes.
std::string log_with_device(std::vector<Bytes> const& sizes) {
  ::testing::internal::CaptureStdout();
  {
    Runtime runtime({.workers = 1,
                     .devices = "host:1",
                     .device_memory = 64_KiB,
                     .host_memory = 1_MiB,
                     .scratch = ::testing::TempDir(),
                     .models = models_off});
    for (Bytes const bytes : sizes) {
      Kokkos::View<double*, Kokkos::HostSpace> x_view("x", bytes / sizeof(double));
      runtime.submit("increment", Increment{}, read_write(runtime.data(x_view)));
      runtime.wait();
    }
  }
  std::fflush(stdout);
  return ::testing::internal::GetCapturedStdout();
}

TEST(Warnings, ARunSaysOnceThatNoTaskFitsADevice) {
  EXPECT_THAT(log_with_device({1_KiB, 100_KiB}), Not(HasSubstr("fits in device memory"))) << "the first did";
  auto const said = log_with_device({100_KiB, 100_KiB});
  EXPECT_EQ(count(said, "no task fits in device memory, so cores run all tasks: each device has 65536 bytes"), 1U)
      << said;
  EXPECT_EQ(count(said, "the largest task needs 102400 bytes there"), 1U) << said;
}

// The log of a run.
std::string log_of(std::string const& scheduler, std::int64_t priority) {
  ::testing::internal::CaptureStdout();
  {
    Runtime runtime({.scheduler = scheduler, .workers = 1, .host_memory = 1_MiB, .models = models_off});
    Kokkos::View<double*, Kokkos::HostSpace> x_view("x", 1);
    auto const x = runtime.data(x_view);
    for (int i = 0; i < 3; ++i) {
      runtime.submit({.name = "increment", .priority = priority}, Increment{}, read_write(x));
      runtime.wait();
    }
  }
  std::fflush(stdout);
  return ::testing::internal::GetCapturedStdout();
}

TEST(Warnings, ARunSaysOnceThatPrioritiesAreIgnored) {
  EXPECT_THAT(log_of("eager", 0), Not(HasSubstr("priorities")));
  EXPECT_THAT(log_of("darts", 1), Not(HasSubstr("priorities")));
  EXPECT_THAT(log_of("dmdas", 1), Not(HasSubstr("priorities")));
  EXPECT_EQ(count(log_of("eager", 1), "the scheduler 'eager' ignores the priorities"), 1U);
  EXPECT_EQ(count(log_of("heft", 1), "the scheduler 'heft' ignores the priorities"), 1U);
  EXPECT_THAT(log_of("eager", 1), Not(HasSubstr("priorities"))) << "it was said before";
}

TEST(Warnings, ARunSaysOnceThatBlasWasGivenThreads) {
  Runtime runtime({.workers = 2, .host_memory = 1_MiB, .models = models_off});
  set_blas_threads(3);
  if (blas_threads() != 3) GTEST_SKIP() << "this BLAS has no threads to give";
  ::testing::internal::CaptureStdout();
  runtime.wait();
  runtime.wait();
  std::fflush(stdout);
  EXPECT_EQ(count(::testing::internal::GetCapturedStdout(), "BLAS was given 3 threads per call"), 1U);
  set_blas_threads(1);
}

TEST(Warnings, OmpNumThreadsIsThatOfTheOutermostLevel) {
  ::setenv("OMP_NUM_THREADS", "4,2", 1);
  EXPECT_EQ(openmp_threads(), 4U);
  ::setenv("OMP_NUM_THREADS", "many", 1);
  EXPECT_EQ(openmp_threads(), 0U);
  ::unsetenv("OMP_NUM_THREADS");
  EXPECT_EQ(openmp_threads(), 0U);
}

}  // namespace
}  // namespace granary
