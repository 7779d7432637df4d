// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/granary.hpp>

#include "support/message_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <optional>
#include <stdexcept>

namespace granary::runtime_test {
namespace {

using testing::HasSubstr;

struct Axpy {
  double a;
  template <class Exec, class X, class Y>
  void operator()(Exec const& exec, X x, Y y) const {
    static_assert(std::is_const_v<typename X::value_type>, "what is read only is const");
    auto const s = a;
    Kokkos::parallel_for(
        "axpy", Kokkos::RangePolicy<Exec>(exec, 0, x.extent(0)), KOKKOS_LAMBDA(int i) { y(i) += s * x(i); });
  }
};

// Without Kokkos kernels: bodies of this kind run concurrently with every version of Kokkos.
struct Fill {
  static constexpr bool launches_kokkos_kernels = false;
  double first;
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    for (std::size_t i = 0; i < x.extent(0); ++i) x(i) = first + static_cast<double>(i);
  }
};

struct Sum {
  static constexpr bool launches_kokkos_kernels = false;
  template <class Exec, class X, class Y>
  void operator()(Exec const&, X x, Y y) const {
    for (std::size_t i = 0; i < x.extent(0); ++i) y(0) += x(i);
  }
};

struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct Refuse {
  template <class Exec, class X>
  void operator()(Exec const&, X) const {
    throw Refused("no");
  }
};

using Vector = Kokkos::View<double*, Kokkos::HostSpace>;

TEST(Runtime, RunsAnApplicationsTasksOnItsOwnViews) {
  Vector x("x", 100), y("y", 100);
  Kokkos::deep_copy(x, 1.0);
  Runtime runtime({.workers = 2, .host_memory = 1_MiB});
  auto const dx = runtime.data(x), dy = runtime.data(y);
  for (int i = 0; i < 50; ++i) runtime.submit("axpy", Axpy{2.0}, read(dx), read_write(dy));
  runtime.wait();
  for (std::size_t i = 0; i < 100; ++i) ASSERT_EQ(y(i), 100.0);
  EXPECT_EQ(runtime.figures().host_memory_peak, 0U) << "Views in place do not count";
}

struct Scale {
  static constexpr bool launches_kokkos_kernels = false;
  template <class Exec, class A>
  void operator()(Exec const&, A a) const {
    for (std::size_t i = 0; i < a.extent(0); ++i) {
      for (std::size_t j = 0; j < a.extent(1); ++j) a(i, j) *= 2;
    }
  }
};

TEST(Runtime, StridedViewsKeepTheirStrides) {
  Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> a("a", 8, 8);
  Kokkos::deep_copy(a, 1.0);
  auto const block = Kokkos::subview(a, std::pair(2, 5), std::pair(1, 4));
  Runtime runtime({.workers = 2, .host_memory = 1_MiB});
  auto const data = runtime.data(block);
  runtime.submit("scale", Scale{}, read_write(data));
  runtime.wait();
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) ASSERT_EQ(a(i, j), i >= 2 && i < 5 && j >= 1 && j < 4 ? 2.0 : 1.0) << i << ", " << j;
  }
}

TEST(Runtime, TemporariesBeyondTheLimitGoToScratch) {
  constexpr std::size_t n = 4096;  // 32 KiB each
  Vector total("total", 1);
  {
    Runtime runtime({.workers = 2, .host_memory = 128_KiB, .scratch = testing::TempDir()});
    auto const sum = runtime.data(total);
    std::vector<decltype(runtime.temporary<double>(n))> parts;
    for (int i = 0; i < 16; ++i) {
      parts.push_back(runtime.temporary<double>(n));
      runtime.submit("fill", Fill{static_cast<double>(i)}, write(parts.back()));
    }
    for (auto const& part : parts) runtime.submit("sum", Sum{}, read(part), read_write(sum));
    runtime.wait();
    EXPECT_LE(runtime.figures().host_memory_peak, 128_KiB);
    EXPECT_GT(runtime.figures().bytes_written, 0U);
  }
  auto const one = static_cast<double>(n) * (n - 1) / 2;
  EXPECT_EQ(total(0), 16 * one + n * 120.0);
}

TEST(Runtime, WaitRethrowsWhatATaskThrew) {
  Vector x("spoiled", 10);
  Runtime runtime({.workers = 2, .host_memory = 1_MiB});
  auto const data = runtime.data(x);
  runtime.submit("refuse", Refuse{}, read_write(data));
  EXPECT_THROW(runtime.wait(), Refused);
  ASSERT_EQ(runtime.failures().size(), 1U);
  EXPECT_THAT(runtime.failures()[0].what, HasSubstr("refuse"));
  EXPECT_NO_THROW(runtime.wait());
}

TEST(Runtime, ADestructorReportsNothing) {
  Vector x("x", 10);
  EXPECT_NO_THROW({
    Runtime runtime({.workers = 1, .host_memory = 1_MiB});
    auto const data = runtime.data(x);
    runtime.submit("refuse", Refuse{}, read_write(data));
  });
}

TEST(Runtime, HandlesMayOutliveIt) {
  Vector x("x", 10);
  std::optional<Data<Vector>> handle;
  {
    Runtime runtime({.workers = 1, .host_memory = 1_MiB});
    handle = runtime.data(x);
    runtime.submit("fill", Fill{1.0}, write(*handle));
  }
  EXPECT_EQ(x(9), 10.0);
}

TEST(Runtime, ATaskThatCanNeverFitIsRefusedWithTheNumbers) {
  Runtime runtime({.workers = 1, .host_memory = 64_KiB, .scratch = testing::TempDir()});
  auto const big = runtime.temporary<double>(100'000);
  try {
    runtime.submit("fill", Fill{0.0}, write(big));
    FAIL() << "it was accepted";
  } catch (MemoryLimitError const& error) {
    EXPECT_THAT(error.what(), HasSubstr("fill"));
  }
}

TEST(Runtime, RefusesWhatItCannotBe) {
  EXPECT_THROW(Runtime({.scheduler = "no-such"}), InvalidArgument);
  EXPECT_THROW(Runtime({.eviction = "no-such"}), InvalidArgument);
  EXPECT_THROW(Runtime({.scratch = "/no/such/directory"}), InvalidArgument);
  EXPECT_THROW(Runtime({.depth = 0}), InvalidArgument);
  Runtime runtime({.workers = 1, .host_memory = 1_MiB});
  EXPECT_THROW(static_cast<void>(runtime.data(Vector{})), InvalidArgument);
}

class Environment : public testing::Test {
 protected:
  void set(char const* name, char const* value) {
    ::setenv(name, value, 1);
    m_names.emplace_back(name);
  }
  void TearDown() override {
    for (auto const& name : m_names) ::unsetenv(name.c_str());
  }
  std::vector<std::string> m_names;
};

TEST_F(Environment, FillsInWhatTheProgramLeavesOpen) {
  set("GRANARY_SCHEDULER", "eager");
  set("GRANARY_WORKERS", "3");
  set("GRANARY_MEMORY", "2MiB");
  EXPECT_EQ(configure({}).max_live_tasks, 100'000U);
  set("GRANARY_MAX_LIVE_TASKS", "500");
  auto const open = configure({});
  EXPECT_EQ(open.scheduler, "eager");
  EXPECT_EQ(open.eviction, "lru");
  EXPECT_EQ(open.workers, 3U);
  EXPECT_EQ(open.host_memory, 2_MiB);
  EXPECT_EQ(open.max_live_tasks, 500U);
  EXPECT_EQ(configure({.max_live_tasks = 7}).max_live_tasks, 7U);
  EXPECT_EQ(open.booking, "ours");
  set("GRANARY_BOOKING", "none");
  EXPECT_EQ(configure({}).booking, "none");
  EXPECT_EQ(configure({.booking = "paper"}).booking, "paper");
  EXPECT_THROW(static_cast<void>(configure({.booking = "theirs"})), InvalidArgument);
  auto const stated = configure({.scheduler = "darts", .workers = 1, .host_memory = 1_MiB});
  EXPECT_EQ(stated.scheduler, "darts");
  EXPECT_EQ(stated.eviction, "luf");
  EXPECT_EQ(stated.workers, 1U);
  EXPECT_EQ(stated.host_memory, 1_MiB);
}

TEST_F(Environment, MalformedValuesNameTheVariable) {
  for (auto const* bad : {"0", "many", "-1", "2 "}) {
    set("GRANARY_WORKERS", bad);
    EXPECT_THROW(static_cast<void>(configure({})), InvalidArgument) << bad;
  }
  ::unsetenv("GRANARY_WORKERS");
  for (auto const* bad : {"0", "many", "-1", "1e5"}) {
    set("GRANARY_MAX_LIVE_TASKS", bad);
    EXPECT_THROW(static_cast<void>(configure({})), InvalidArgument) << bad;
  }
  ::unsetenv("GRANARY_MAX_LIVE_TASKS");
  set("GRANARY_BOOKING", "theirs");
  EXPECT_EQ(test::message_of([] { static_cast<void>(configure({})); }),
            "GRANARY_BOOKING: unknown booking 'theirs'; there are none, ours and paper, with :bold, :factor or :safe "
            "behind them");
  ::unsetenv("GRANARY_BOOKING");
  set("GRANARY_MEMORY", "lots");
  try {
    static_cast<void>(configure({}));
    FAIL() << "it was accepted";
  } catch (InvalidArgument const& error) {
    EXPECT_THAT(error.what(), HasSubstr("GRANARY_MEMORY"));
  }
  set("GRANARY_MEMORY", "0");
  EXPECT_EQ(test::message_of([] { static_cast<void>(configure({})); }), "GRANARY_MEMORY is 0; it must be above zero");
  ::unsetenv("GRANARY_MEMORY");
  set("GRANARY_CORES_PER_WORKER", "0");
  EXPECT_EQ(test::message_of([] { static_cast<void>(configure({})); }),
            "GRANARY_CORES_PER_WORKER is 0; it must be above zero");
}

TEST_F(Environment, RefusedNamesAndSwitchesNameTheVariable) {
  auto const refusal = [this](char const* name, char const* value) -> std::string {
    set(name, value);
    try {
      static_cast<void>(configure({}));
    } catch (InvalidArgument const& error) {
      ::unsetenv(name);
      return error.what();
    }
    return "it was accepted";
  };
  EXPECT_THAT(refusal("GRANARY_SCHEDULER", "abc"), ::testing::StartsWith("GRANARY_SCHEDULER: unknown scheduler 'abc'"));
  EXPECT_THAT(refusal("GRANARY_EVICTION", "abc"), ::testing::StartsWith("GRANARY_EVICTION: unknown eviction policy"));
  for (auto const* name : {"GRANARY_SCRATCH", "TMPDIR"}) {
    EXPECT_THAT(refusal(name, "/nonexist"),
                ::testing::StartsWith(std::string(name) + ": cannot use scratch directory '/nonexist'"));
  }
  for (auto const* name : {"GRANARY_BIND", "GRANARY_MEASURE_LINKS"})
    EXPECT_EQ(refusal(name, "no"), std::string(name) + " is 'no'; it must be 0 or 1");
  set("GRANARY_BIND", "0");
  EXPECT_FALSE(configure({}).bind_workers);
  set("GRANARY_BIND", "1");
  EXPECT_TRUE(configure({}).bind_workers);
}

}  // namespace
}  // namespace granary::runtime_test
