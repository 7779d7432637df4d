// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Views that share bytes: the same bytes are one datum; others are used in the order of submission.
#include <granary/detail/core/base/random.hpp>
#include <granary/granary.hpp>

#include "support/message_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace granary::shared_views_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using Vector = Kokkos::View<double*, Kokkos::HostSpace>;
using Matrix = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
using Flat = Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

// Slow enough to detect a task that does not wait for it.
struct Add {
  static constexpr bool launches_kokkos_kernels = false;
  static constexpr bool host_only = false;
  double what;
  int microseconds = 0;
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    auto const at = [&](std::size_t i, std::size_t j) -> double& {
      if constexpr (X::rank == 1) {
        return x(i);
      } else {
        return x(i, j);
      }
    };
    for (std::size_t j = 0; j < x.extent(1); ++j) {
      for (std::size_t i = 0; i < x.extent(0); ++i) {
        double const before = at(i, j);
        if (i == 0 && j == 0) std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
        at(i, j) = before + what;
      }
    }
  }
};

// x = 2 x + what: the order matters.
struct Chain {
  static constexpr bool launches_kokkos_kernels = false;
  static constexpr bool host_only = false;
  double what;
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    for (std::size_t j = 0; j < x.extent(1); ++j) {
      for (std::size_t i = 0; i < x.extent(0); ++i) {
        if constexpr (X::rank == 1) {
          x(i) = 0.5 * x(i) + what;
        } else {
          x(i, j) = 0.5 * x(i, j) + what;
        }
      }
    }
  }
};

struct Look {
  static constexpr bool launches_kokkos_kernels = false;
  template <class Exec, class... X>
  void operator()(Exec const&, X...) const {}
};

RuntimeOptions options_with(std::string const& devices) {
  RuntimeOptions options{.workers = 2, .devices = devices, .host_memory = 1_MiB};
  if (devices != "none") options.device_memory = 64_KiB;
  return options;
}

TEST(SharedViews, AViewThatIsRegisteredTwiceIsOneDatum) {
  Vector x("x", 64);
  Runtime runtime({.workers = 2, .host_memory = 1_MiB});
  auto const first = runtime.data(x);
  auto const second = runtime.data(x);
  EXPECT_EQ(first.id(), second.id());
  for (int i = 0; i < 100; ++i) {
    runtime.submit("add", Add{1.0, 20}, read_write(first));
    runtime.submit("add", Add{1.0, 20}, read_write(second));
  }
  runtime.wait();
  EXPECT_EQ(x(0), 200.0) << "no update is lost";
}

TEST(SharedViews, HandlesMayGoAndComeBackWhileTasksAreUnderWay) {
  Vector x("x", 64);
  Runtime runtime({.workers = 2, .host_memory = 1_MiB});
  for (int i = 0; i < 500; ++i) runtime.submit("add", Add{1.0, i % 10}, read_write(runtime.data(x)));
  runtime.wait();
  EXPECT_EQ(x(0), 500.0);
}

TEST(SharedViews, RankAndTypeDoNotMatter) {
  Vector x("x", 64);
  Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> square(
      x.data(), 8, 8);
  Kokkos::View<float***, Kokkos::LayoutRight, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> cube(
      reinterpret_cast<float*>(x.data()), 4, 4, 8);
  Runtime runtime({.workers = 2, .host_memory = 1_MiB});
  auto const dx = runtime.data(x), again = runtime.data(x, "under another name");
  auto const ds = runtime.data(square);
  auto const dc = runtime.data(cube);
  EXPECT_EQ(dx.id(), ds.id());
  EXPECT_EQ(dx.id(), dc.id());
  EXPECT_EQ(dx.id(), again.id());
  for (int i = 0; i < 50; ++i) {
    runtime.submit("add", Add{1.0, 20}, read_write(dx));
    runtime.submit("add", Add{1.0, 20}, read_write(ds));
  }
  runtime.wait();
  EXPECT_EQ(x(63), 100.0);
}

TEST(SharedViews, APartAndTheWholeAreUsedInTheOrderOfSubmission) {
  for (std::string const devices : {"none", "host:2"}) {
    Vector x("x", 64);
    Runtime runtime(options_with(devices));
    auto const whole = runtime.data(x, "whole");
    auto const part = runtime.data(Kokkos::subview(x, std::pair(32, 64)), "half");
    for (int i = 0; i < 50; ++i) {
      runtime.submit("chain", Chain{1.0 + i}, read_write(whole));
      runtime.submit("add", Add{1.0, 20}, read_write(part));
      runtime.submit("look", Look{}, read(whole));
      runtime.submit("look", Look{}, read(part), read(whole));
    }
    runtime.wait();
    double first = 0.0, last = 0.0;
    for (int i = 0; i < 50; ++i) {
      first = 0.5 * first + 1.0 + i;
      last = 0.5 * last + 1.0 + i + 1.0;
    }
    EXPECT_EQ(x(0), first) << devices;
    EXPECT_EQ(x(63), last) << devices;
  }
}

TEST(SharedViews, ATaskMayNotWriteWhatItUsesUnderAnotherName) {
  Vector x("x", 64);
  Runtime runtime({.workers = 2, .host_memory = 1_MiB});
  auto const whole = runtime.data(x, "whole");
  auto const part = runtime.data(Kokkos::subview(x, std::pair(32, 64)), "half");
  EXPECT_THAT(test::message_of([&] { runtime.submit("both", Look{}, write(whole), read(part)); }),
              HasSubstr("task 'both' writes data 'whole', which shares bytes with data 'half' of the same task"));
  runtime.wait();
}

// A matrix, its rows and columns, and a row of a block of it.
TEST(SharedViews, RowsColumnsAndBlocksOfAMatrix) {
  for (std::string const devices : {"none", "host:2"}) {
    constexpr int n = 8;
    Matrix a("a", n, n);
    Matrix expected("expected", n, n);
    {
      Runtime runtime(options_with(devices));
      auto const whole = runtime.data(a);
      auto const block_view = Kokkos::subview(a, std::pair(2, 6), std::pair(2, 6));
      auto const block = runtime.data(block_view);
      auto const row_of_block = runtime.data(Kokkos::subview(block_view, std::pair(1, 2), Kokkos::ALL));
      double what = 1.0;
      auto const use = [&](auto const& data, int top, int bottom, int left, int right) {
        runtime.submit("chain", Chain{what}, read_write(data));
        for (int i = top; i < bottom; ++i) {
          for (int j = left; j < right; ++j) expected(i, j) = 0.5 * expected(i, j) + what;
        }
        what += 1.0;
      };
      for (int round = 0; round < 10; ++round) {
        for (int i = 0; i < n; ++i)
          use(runtime.data(Kokkos::subview(a, std::pair(i, i + 1), Kokkos::ALL)), i, i + 1, 0, n);
        for (int j = 0; j < n; ++j)
          use(runtime.data(Kokkos::subview(a, Kokkos::ALL, std::pair(j, j + 1))), 0, n, j, j + 1);
        use(block, 2, 6, 2, 6);
        use(row_of_block, 3, 4, 2, 6);
        use(whole, 0, n, 0, n);
        use(row_of_block, 3, 4, 2, 6);
      }
      runtime.wait();
    }
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) ASSERT_EQ(a(i, j), expected(i, j)) << devices << ": " << i << ", " << j;
    }
  }
}

struct Sum {
  static constexpr bool launches_kokkos_kernels = false;
  template <class Exec, class X, class S>
  void operator()(Exec const&, X x, S s) const {
    s() = 0;
    for (std::size_t i = 0; i < x.size(); ++i) s() += x.data()[i];
  }
};

struct Throw {
  static constexpr bool launches_kokkos_kernels = false;
  template <class Exec, class X>
  void operator()(Exec const&, X) const {
    throw std::runtime_error("it broke");
  }
};

TEST(SharedViews, AFailureTakesTheSharedBytesUntilTheyAreWrittenAnew) {
  Vector x("x", 64);
  Runtime runtime({.workers = 2, .host_memory = 1_MiB});
  auto const left = runtime.data(Kokkos::subview(x, std::pair(0, 32)), "left");
  auto const right = runtime.data(Kokkos::subview(x, std::pair(32, 64)), "right");
  {
    auto const whole = runtime.data(x, "whole");
    runtime.submit("add", Add{1.0}, read_write(right));
    runtime.submit("throw", Throw{}, read_write(left));
    runtime.submit("add", Add{1.0}, read_write(whole));
    runtime.submit("add", Add{1.0}, read_write(right));
    EXPECT_THROW(runtime.wait(), std::runtime_error);
    EXPECT_EQ(x(63), 1.0) << "what follows the failure is cancelled";
    EXPECT_THAT(test::message_of([&] { runtime.submit("add", Add{1.0}, read_write(whole)); }),
                AllOf(HasSubstr("writes data 'whole'"), HasSubstr("write 'left' first or destroy its handles")));
    runtime.submit("add", Add{1.0}, read_write(right));
    runtime.submit("fill", Chain{2.0}, write(left));
    runtime.submit("add", Add{1.0}, read_write(whole));
    runtime.wait();
  }
  EXPECT_EQ(x(0), 3.0);
  EXPECT_EQ(x(63), 3.0);
}

TEST(SharedViews, AFailureOfTheWholeReachesWhatComesFromAPart) {
  Vector x("x", 64);
  Runtime runtime({.workers = 2, .host_memory = 1_MiB});
  auto const whole = runtime.data(x, "whole");
  auto const sum = runtime.scalar("sum", 7.0), twice = runtime.scalar("twice", 8.0);
  runtime.submit("throw", Throw{}, read_write(whole));
  runtime.submit("sum", Sum{}, read(runtime.part(whole, std::pair(0, 32))), write(sum));
  runtime.submit("sum", Sum{}, read(sum), write(twice));
  EXPECT_THROW(static_cast<void>(sum.get()), std::runtime_error);
  EXPECT_THROW(static_cast<void>(twice.get()), std::runtime_error);
  EXPECT_EQ(test::message_of<std::runtime_error>([&] { runtime.wait(); }), "it broke") << "it concerns 'whole', too";
  EXPECT_EQ(sum.get(), 7.0) << "the task did not run";
  runtime.wait();
}

TEST(SharedViews, AFailureOfAPartReachesWhatComesFromTheWhole) {
  Vector x("x", 64);
  Runtime runtime({.workers = 2, .host_memory = 1_MiB});
  auto const whole = runtime.data(x, "whole");
  auto const sum = runtime.scalar("sum", 7.0);
  runtime.submit("throw", Throw{}, read_write(runtime.part(whole, std::pair(0, 32))));
  runtime.submit("sum", Sum{}, read(whole), write(sum));
  EXPECT_THROW(static_cast<void>(sum.get()), std::runtime_error);
  EXPECT_THROW(runtime.wait(), std::runtime_error);
  runtime.wait();
}

TEST(SharedViews, WaitingForAPartBringsHomeWhatWasWrittenToTheWhole) {
  Vector const x("x", 100);
  Runtime runtime(options_with("host:1"));
  auto const whole = runtime.data(x, "whole");
  auto const left = runtime.part(whole, std::pair(0, 50));
  for (int round = 1; round <= 5; ++round) {
    runtime.submit("add", Add{1, 2000}, read_write(whole));
    runtime.wait(left);
    EXPECT_EQ(x(0), 3 * round - 2);
    x(0) += 1;
    runtime.submit("add", Add{1}, read_write(left));
    runtime.wait(whole);
    EXPECT_EQ(x(0), 3 * round);
    EXPECT_EQ(x(99), round);
  }
}

TEST(SharedViews, TasksThatCommuteOnAPartComeBeforeReadersOfTheWhole) {
  Vector const x("x", 10);
  Runtime runtime(options_with("host:1"));
  auto const whole = runtime.data(x, "whole");
  auto const left = runtime.part(whole, std::pair(0, 5));
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 5; ++i) runtime.submit("add", Add{1, 50}, commute(left));
    runtime.submit("add", Add{1}, read_write(whole));
  }
  runtime.wait();
  EXPECT_EQ(x(0), 60);
  EXPECT_EQ(x(9), 10);
}

TEST(SharedViews, PartsWaitForAWholeWithoutHandles) {
  Vector x("x", 64);
  Runtime runtime({.workers = 2, .host_memory = 1_MiB});
  for (int i = 0; i < 20; ++i) {
    runtime.submit("add", Add{1.0, 300}, read_write(runtime.data(x)));
    runtime.submit("add", Add{1.0, 300}, read_write(runtime.data(Kokkos::subview(x, std::pair(0, 32)))));
    runtime.submit("add", Add{1.0, 300}, read_write(runtime.data(Kokkos::subview(x, std::pair(16, 64)))));
  }
  runtime.wait();
  EXPECT_EQ(x(0), 40.0);
  EXPECT_EQ(x(16), 60.0);
  EXPECT_EQ(x(63), 40.0);
}

TEST(SharedViews, TilesOfAMatrixAreApart) {
  Matrix a("a", 48, 48);
  Runtime runtime({.workers = 2, .host_memory = 1_MiB});
  using Tile = decltype(Kokkos::subview(a, std::pair(0, 1), std::pair(0, 1)));
  std::vector<Data<Tile>> tiles;
  for (int i = 0; i < 48; i += 8) {
    for (int j = 0; j < 48; j += 8) {
      tiles.push_back(runtime.data(Tile(Kokkos::subview(a, std::pair(i, i + 8), std::pair(j, j + 8)))));
    }
  }
  for (auto const& tile : tiles) runtime.submit("add", Add{1.0}, read_write(tile));
  runtime.wait();
  for (int i = 0; i < 48; ++i) {
    for (int j = 0; j < 48; ++j) ASSERT_EQ(a(i, j), 1.0);
  }
}

struct SubmitOverlapping {
  static constexpr bool launches_kokkos_kernels = false;
  Runtime* runtime;
  Vector* whole;
  template <class Exec, class X>
  void operator()(Exec const&, X) const {
    runtime->submit("add", Add{1.0}, read_write(runtime->data(Kokkos::subview(*whole, std::pair(0, 2)), "part")));
  }
};

TEST(SharedViews, ATaskMaySubmitOneOnAPartOfItsData) {
  Vector x("x", 64);
  Runtime runtime({.workers = 1, .host_memory = 1_MiB});
  runtime.submit("outer", SubmitOverlapping{&runtime, &x}, read_write(runtime.data(x)));
  runtime.wait();
  EXPECT_EQ(x(0), 1.0);
  EXPECT_EQ(x(2), 0.0);
}

TEST(SharedViews, MemoryLivesUntilTheTasksOfEachOfItsHandlesEnded) {
  Runtime runtime({.workers = 1, .host_memory = 1_MiB});
  Vector result("result", 1);
  {
    Vector x("x", 1 << 16);
    Flat const unmanaged(x.data(), x.extent(0));
    auto const first = runtime.data(unmanaged);
    runtime.submit("add", Add{1.0, 20000}, read_write(first));
    for (int i = 0; i < 10; ++i) runtime.submit("add", Add{1.0}, read_write(runtime.data(x)));
    EXPECT_LE(x.use_count(), 3) << "not one more for each time";
  }
  runtime.wait();  // the sanitizers detect use after free
}

// x += 1; the task with that number throws halfway.
struct AddOrThrow {
  static constexpr bool launches_kokkos_kernels = false;
  int number;
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    for (std::size_t i = 0; i < x.extent(0); ++i) {
      if (number == 3 && i == x.extent(0) / 2) throw std::runtime_error("halfway");
      x(i) += 1;
    }
  }
};

TEST(SharedViews, AFailureStaysWithTheBytesUntilItIsReported) {
  for (int const pause : {0, 2}) {
    Vector x("x", 64);
    Runtime runtime({.workers = 1, .host_memory = 1_MiB});
    for (int number = 0; number < 10; ++number) {
      runtime.submit("add", AddOrThrow{number}, read_write(runtime.data(x)));
      std::this_thread::sleep_for(std::chrono::milliseconds(pause));
    }
    EXPECT_THROW(runtime.wait(), std::runtime_error);
    EXPECT_EQ(x(0), 4.0) << "what follows the failure is cancelled";
    EXPECT_EQ(x(63), 3.0);
    runtime.submit("add", AddOrThrow{0}, read_write(runtime.data(x)));
    runtime.wait();
    EXPECT_EQ(x(0), 5.0) << "the bytes as they are now";
  }
}

// In a Kokkos without threads the reference count is not atomic: workers must not change it.
TEST(SharedViews, CopiesOfTheViewAreCountedByTheApplicationAlone) {
  Vector x("x", 8);
  {
    Runtime runtime({.workers = 2, .host_memory = 1_MiB});
    for (int i = 0; i < 20000; ++i) {
      runtime.submit("add", Add{1.0}, read_write(runtime.data(x)));
      Vector const copy = x;
    }
    runtime.wait();
  }
  EXPECT_EQ(x.use_count(), 1);
  EXPECT_EQ(x(0), 20000.0);
}

// Random parts of a matrix, held for a while, on cores and emulated devices: the result is that of sequential
// execution.
void run_random_parts(std::uint64_t seed, RuntimeOptions const& options) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  constexpr int n = 12;
  detail::Random random(seed);
  Matrix a("a", n, n);
  Matrix expected("expected", n, n);
  {
    Runtime runtime(options);
    using Part = decltype(Kokkos::subview(a, std::pair(0, 1), std::pair(0, 1)));
    std::vector<Data<Part>> held;
    for (int t = 0; t < 120; ++t) {
      auto const draw = [&] {
        auto const first = static_cast<int>(random.below(4)) * 3;
        return std::pair(first, std::min(n, first + 3 * (1 + static_cast<int>(random.below(2)))));
      };
      auto const rows = draw(), cols = draw();
      double const what = static_cast<double>(t);
      auto const part = runtime.data(Part(Kokkos::subview(a, rows, cols)));
      runtime.submit("chain", Chain{what}, read_write(part));
      if (random.chance(0.3)) held.push_back(part);
      if (random.chance(0.05)) held.clear();
      if (random.chance(0.05)) runtime.wait();
      for (int i = rows.first; i < rows.second; ++i) {
        for (int j = cols.first; j < cols.second; ++j) expected(i, j) = 0.5 * expected(i, j) + what;
      }
    }
    runtime.wait();
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) ASSERT_EQ(a(i, j), expected(i, j)) << i << ", " << j;
  }
}

TEST(SharedViews, RandomPartsOnCores) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) run_random_parts(seed, {.workers = 3, .host_memory = 1_MiB});
}

TEST(SharedViews, RandomPartsOnDevices) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    run_random_parts(seed, {.workers = 1, .devices = "host:2", .device_memory = 64_KiB, .host_memory = 1_MiB});
  }
}

}  // namespace
}  // namespace granary::shared_views_test
