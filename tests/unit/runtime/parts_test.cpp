// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Views that are cut into parts.
#include <granary/granary.hpp>

#include "support/message_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace granary::parts_test {

using namespace detail;

namespace {

using testing::AllOf;
using testing::HasSubstr;

using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;
using Vector = Kokkos::View<double*, Kokkos::HostSpace>;
using Cube = Kokkos::View<float***, Kokkos::LayoutRight, Kokkos::HostSpace>;

struct AddTo {
  static constexpr bool launches_kokkos_kernels = false;
  static constexpr bool host_only = false;
  double what;
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    for (std::size_t i = 0; i < x.extent(0); ++i) {
      if constexpr (X::rank == 1) {
        x(i) += what;
      } else {
        for (std::size_t j = 0; j < x.extent(1); ++j) x(i, j) += what;
      }
    }
  }
};

// out(i) = the mean of in around i; `in` has one element more on each side.
struct Smooth {
  static constexpr bool launches_kokkos_kernels = false;
  static constexpr bool host_only = false;
  template <class Exec, class In, class Out>
  void operator()(Exec const&, In in, Out out) const {
    for (std::size_t i = 0; i < out.extent(0); ++i) out(i) = (in(i) + in(i + 1) + in(i + 2)) / 3;
  }
};

RuntimeOptions options_with(std::string const& devices) {
  RuntimeOptions options{.workers = 2, .devices = devices, .host_memory = 1_MiB};
  if (devices != "none") options.device_memory = 64_KiB;
  return options;
}

TEST(Parts, TilesOfAMatrixAndTheMatrixAreUsedTogether) {
  for (std::string const devices : {"none", "host:2"}) {
    Matrix a("a", 10, 7);
    {
      Runtime runtime(options_with(devices));
      auto const whole = runtime.data(a);
      Parts<Matrix> const tiles = runtime.partition(whole, 4, 3);
      EXPECT_EQ(tiles.extent(0), 3U);
      EXPECT_EQ(tiles.extent(1), 3U);
      EXPECT_EQ(tiles.size(), 9U);
      for (int round = 0; round < 5; ++round) {
        for (auto const& tile : tiles) runtime.submit("add", AddTo{1.0}, read_write(tile));
        runtime.submit("add", AddTo{10.0}, read_write(whole));
        runtime.submit("add", AddTo{100.0}, read_write(tiles(2, 2)));
        Data<PartView<Matrix>> const last = tiles(2, 2);
        runtime.submit("add", AddTo{100.0}, read_write(last));
      }
      runtime.wait();
    }
    EXPECT_EQ(a(0, 0), 55.0) << devices;
    EXPECT_EQ(a(7, 6), 55.0) << devices;
    EXPECT_EQ(a(8, 6), 1055.0) << devices;
    EXPECT_EQ(a(9, 6), 1055.0) << devices;
    EXPECT_EQ(a(9, 5), 55.0) << devices;
  }
}

TEST(Parts, ADimensionThatIsNotCutHasOnePart) {
  Matrix a("a", 10, 7);
  Runtime runtime({.workers = 1, .host_memory = 1_MiB});
  auto const whole = runtime.data(a);
  auto const rows = runtime.partition(whole, 1, Kokkos::ALL);
  EXPECT_EQ(rows.extent(0), 10U);
  EXPECT_EQ(rows.extent(1), 1U);
  EXPECT_EQ(runtime.partition(whole, 100, Kokkos::ALL)(0, 0).id(), whole.id()) << "the same bytes are one datum";
  runtime.submit("add", AddTo{1.0}, read_write(rows(3, 0)));
  runtime.wait();
  EXPECT_EQ(a(3, 6), 1.0);
  EXPECT_EQ(a(2, 6), 0.0);
}

// Blocks with halos: parts that overlap are read, parts that do not are written.
TEST(Parts, HalosOverlap) {
  for (std::string const devices : {"none", "host:2"}) {
    constexpr int n = 66, block = 16;
    Vector x("x", n), y("y", n), expected("expected", n), before("before", n);
    for (int i = 0; i < n; ++i) expected(i) = x(i) = y(i) = i % 7;
    {
      Runtime runtime(options_with(devices));
      auto const dx = runtime.data(x), dy = runtime.data(y);
      for (int step = 0; step < 6; ++step) {
        auto const& in = step % 2 == 0 ? dx : dy;
        auto const& out = step % 2 == 0 ? dy : dx;
        for (int first = 1; first + block < n; first += block) {
          runtime.submit("smooth", Smooth{}, read(runtime.part(in, std::pair(first - 1, first + block + 1))),
                         write(runtime.part(out, std::pair(first, first + block))));
        }
        Kokkos::deep_copy(before, expected);
        for (int i = 1; i < n - 1; ++i) expected(i) = (before(i - 1) + before(i) + before(i + 1)) / 3;
      }
      runtime.wait();
    }
    for (int i = 0; i < n; ++i) ASSERT_EQ(x(i), expected(i)) << devices << ": " << i;
  }
}

// The View of such a part spans the rest of its row, whose elements are not the part's.
TEST(Parts, OneRowOrColumnIsCopiedAlone) {
  Matrix a("a", 3, 10);
  Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> b("b", 10, 3);
  Runtime runtime({.workers = 0, .devices = "host:1", .device_memory = 64_KiB, .host_memory = 1_MiB});
  runtime.submit("add", AddTo{1}, read_write(runtime.part(runtime.data(a), std::pair(2, 3), std::pair(4, 7))));
  runtime.submit("add", AddTo{2}, read_write(runtime.data(Matrix(a, std::pair(2, 3), std::pair(7, 9)))));
  runtime.submit("add", AddTo{3}, read_write(runtime.part(runtime.data(b), std::pair(4, 7), std::pair(2, 3))));
  runtime.wait();
  EXPECT_EQ(runtime.figures().device_traffic.from_host, 8 * sizeof(double));
  EXPECT_EQ(runtime.figures().device_traffic.to_host, 8 * sizeof(double));
  EXPECT_EQ(a(2, 6), 1);
  EXPECT_EQ(a(2, 7), 2);
  EXPECT_EQ(a(2, 9), 0);
  EXPECT_EQ(b(6, 2), 3);
}

TEST(Parts, WrongRangesAreRefused) {
  Matrix a("a", 10, 7);
  Runtime runtime({.workers = 1, .host_memory = 1_MiB});
  auto const whole = runtime.data(a);
  EXPECT_EQ(test::message_of([&] { runtime.part(whole, Kokkos::ALL, std::pair(3, 8)); }),
            "a part of 'a' cannot have the elements from 3 to 8 of dimension 1, which has 7");
  EXPECT_THAT(test::message_of([&] { runtime.part(whole, std::pair(3, 3), Kokkos::ALL); }), HasSubstr("from 3 to 3"));
  EXPECT_THAT(test::message_of([&] { runtime.part(whole, std::pair(-1, 3), Kokkos::ALL); }), HasSubstr("from -1 to 3"));
  EXPECT_EQ(test::message_of([&] { runtime.partition(whole, 0, 3); }),
            "the parts of 'a' cannot have 0 elements in dimension 0");
  EXPECT_EQ(runtime.partition(whole, SIZE_MAX, SIZE_MAX).size(), 1U);
  EXPECT_THAT(test::message_of([&] { runtime.part(whole, std::pair(std::size_t{1}, SIZE_MAX), Kokkos::ALL); }),
              HasSubstr("from 1 to 9223372036854775807 of"));
  auto const temporary = runtime.temporary<double>(4, 4);
  EXPECT_THAT(test::message_of([&] { runtime.part(temporary, Kokkos::ALL, Kokkos::ALL); }),
              HasSubstr("cut it with partition(temporary, tiles...)"));
}

TEST(Parts, DevicesTakeGapsInOneDimension) {
  Cube c("c", 4, 4, 4);
  Runtime runtime(options_with("host:1"));
  auto const whole = runtime.data(c);
  EXPECT_EQ(runtime.partition(whole, 2, 2, Kokkos::ALL).size(), 4U);
  EXPECT_THAT(test::message_of([&] { runtime.partition(whole, Kokkos::ALL, 2, 2); }),
              AllOf(HasSubstr("'c(0, 0, 0)'"), HasSubstr("outermost dimension and one more")));
}

}  // namespace
}  // namespace granary::parts_test
