// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tasks and factorizations on the vendor's devices, with memory limits below the size of the data: on the first device,
// and on that device divided into two and four.
#include <granary/detail/core/backends/device_api.hpp>
#include <granary/detail/linalg/generators/spd_generator.hpp>
#include <granary/detail/runtime/api/dual_view.hpp>
#include <granary/detail/runtime/api/varying.hpp>
#include <granary/linalg.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace granary {

using namespace detail;

namespace {

template <class T>
using Matrix = Kokkos::View<T**, Kokkos::LayoutLeft, Kokkos::HostSpace>;

constexpr std::uint64_t order = 1000;
constexpr std::uint64_t tile = 96;
constexpr unsigned lanes = 2;

class OnDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (auto const api = make_vendor_api(); !api || api->devices() == 0) GTEST_SKIP() << "there is no device";
  }
  // The first device divided into so many, which together hold a quarter of an order x order matrix; with limits this
  // small a lane takes 1 MiB.
  template <class T>
  static RuntimeOptions options(unsigned parts = 1) {
    return {.workers = 0,
            .devices = "0/" + std::to_string(parts),
            .device_memory = lanes * 1_MiB + order * order * sizeof(T) / 4 / parts,
            .device_lanes = lanes,
            .models = models_off};
  }
};

template <class T>
class Factorizations : public OnDevice {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(Factorizations, Scalars);

template <class T>
Matrix<T> filled(std::uint64_t n, bool symmetric) {
  Matrix<T> const a("A", n, n);
  for (std::uint64_t j = 0; j < n; ++j) {
    for (std::uint64_t i = 0; i < n; ++i) {
      a(i, j) = static_cast<T>(symmetric ? spd_entry(n, 1, i, j) : 2 * unit_at(1, i, j) - 1);
    }
  }
  return a;
}

struct Scale {
  double by;
  template <class Instance, class View>
  void operator()(Instance const& instance, View const& x) const {
    auto const factor = by;
    Kokkos::parallel_for(
        "scale", Kokkos::RangePolicy<Instance>(instance, 0, x.extent(0)),
        KOKKOS_LAMBDA(std::size_t i) { x(i) *= factor; });
  }
};

TEST_F(OnDevice, TasksOfUsersRunThere) {
  Kokkos::View<double*, Kokkos::HostSpace> const values("x", 1000);
  for (std::size_t i = 0; i < values.extent(0); ++i) values(i) = static_cast<double>(i);
  Runtime runtime(options<double>());
  auto const x = runtime.data(values);
  for (int i = 0; i < 10; ++i) runtime.submit("scale", Scale{2}, read_write(x));
  runtime.wait();
  for (std::size_t i = 0; i < values.extent(0); ++i) ASSERT_EQ(values(i), 1024.0 * static_cast<double>(i));
  EXPECT_EQ(runtime.figures().devices.front().tasks, 10U);
}

// x becomes x and 500 more elements, which have their indices as values. The kernel says how large the value is.
struct Append {
  template <class Instance, class X>
  void operator()(Instance const& instance, X const& x) const {
    auto const present = x.before.extent(0);
    auto const grown = present + 500;
    Kokkos::parallel_for(
        "append", Kokkos::RangePolicy<Instance>(instance, 0, grown), KOKKOS_LAMBDA(std::size_t i) {
          x.after(i) = i < present ? x.before(i) : static_cast<double>(i);
          if (i == 0) x.resize(grown);
        });
  }
};

struct CopyTo {
  template <class Instance, class From, class To>
  void operator()(Instance const& instance, From const& from, To const& to) const {
    auto const present = from.extent(0);
    Kokkos::parallel_for(
        "copy", Kokkos::RangePolicy<Instance>(instance, 0, to.extent(0)),
        KOKKOS_LAMBDA(std::size_t i) { to(i) = i < present ? from(i) : -1; });
  }
};

// More arrays than the device has room for, so that values of all sizes come and go.
TEST_F(OnDevice, ValuesThatVaryInSizeGrowThere) {
  constexpr std::size_t bound = 20'000, rounds = 20, grown = 500 * rounds;
  constexpr int arrays = 60;
  auto small = options<double>();
  small.device_memory = lanes * 1_MiB + 12 * bound * sizeof(double);
  Runtime runtime(small);
  std::vector<Varying<double>> data;
  for (int a = 0; a < arrays; ++a) {
    data.push_back(runtime.varying<double>("array " + std::to_string(a), bound));
    runtime.submit("first", Append{}, write(data.back()));
  }
  for (std::size_t round = 1; round < rounds; ++round) {
    for (auto const& x : data) runtime.submit("append", Append{}, read_write(x));
  }
  Kokkos::View<double*, Kokkos::HostSpace> const found("found", grown + 1);
  for (auto const& x : data) {
    runtime.submit("copy", CopyTo{}, read(x), write(runtime.data(found)));
    runtime.wait();
    for (std::size_t i = 0; i <= grown; ++i) ASSERT_EQ(found(i), i < grown ? static_cast<double>(i) : -1);
  }
  EXPECT_LE(runtime.figures().devices.front().peak, runtime.figures().devices.front().limit);
}

// A kernel of the application. (CUDA forbids extended lambdas in a test's body.)
template <class View>
void increase(DeviceExecutionSpace const& instance, View const& x) {
  Kokkos::parallel_for(
      "increase", Kokkos::RangePolicy<DeviceExecutionSpace>(instance, 0, x.extent(0)),
      KOKKOS_LAMBDA(std::size_t i) { x(i) += 1; });
}

// Without a fence between them.
TEST_F(OnDevice, KernelsOfTheApplicationAndTasksTakeTurns) {
  constexpr std::size_t n = 1 << 20;
  Runtime runtime(options<double>());
  auto const u = runtime.device_view<double*>(0, "u", n);
  auto const du = runtime.data(u);
  DeviceExecutionSpace const instance;
  Kokkos::deep_copy(instance, u.view, 1);
  runtime.submit_after("fill", instance, write(du));
  for (int step = 0; step < 10; ++step) {
    runtime.submit("scale", Scale{2}, read_write(du));
    runtime.wait(du);
    increase(instance, u.view);
    runtime.submit_after("increase", instance, read_write(du));
  }
  runtime.wait(du);
  auto const found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), u.view);
  for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(found(i), 2047);
  EXPECT_EQ(runtime.figures().device_traffic.from_host + runtime.figures().device_traffic.to_host, 0U);
  EXPECT_EQ(runtime.figures().devices.front().peak, 0U) << "a View of the application does not count against the limit";
}

TEST_F(OnDevice, BothSidesOfADualViewAreUsedInPlace) {
  auto both = options<double>();
  both.workers = 1;
  Runtime runtime(both);
  Kokkos::DualView<double*, DeviceExecutionSpace> dual("dual", 1000);
  auto const host = dual.view_host();
  for (std::size_t i = 0; i < 1000; ++i) host(i) = 1;
  dual.modify_host();
  auto const data = dual_data(runtime, dual);
  for (int i = 0; i < 10; ++i) runtime.submit("scale", Scale{2}, read_write(data));
  runtime.wait(data);
  for (std::size_t i = 0; i < 1000; ++i) ASSERT_EQ(host(i), 1024);
  EXPECT_EQ(runtime.figures().host_memory_peak, 0U);
  EXPECT_EQ(runtime.figures().devices.front().peak, 0U);
}

TYPED_TEST(Factorizations, CholeskyIsThatOfTheHost) {
  using T = TypeParam;
  auto const host = filled<T>(order, true);
  Runtime reference(RuntimeOptions{.workers = 1, .devices = "none", .models = models_off});
  potrf(reference, Uplo::Lower, host, tile);
  for (unsigned const parts : {1, 2, 4}) {
    auto const ours = filled<T>(order, true);
    Runtime runtime(this->template options<T>(parts));
    potrf(runtime, Uplo::Lower, ours, tile);
    EXPECT_GT(runtime.figures().device_traffic.from_host, 0U);
    EXPECT_EQ(runtime.figures().device_traffic.between > 0, parts > 1);
    for (auto const& device : runtime.figures().devices) {
      EXPECT_LT(device.limit, order * order * sizeof(T) / 2);
      EXPECT_LE(device.peak, device.limit);
    }
    double most = 0;
    for (std::uint64_t j = 0; j < order; ++j) {
      for (std::uint64_t i = j; i < order; ++i) {
        most = std::max(most, std::abs(double(ours(i, j)) - double(host(i, j))));
      }
    }
    EXPECT_LT(most, 100.0 * std::sqrt(double(order)) * double(std::numeric_limits<T>::epsilon())) << parts;
  }
}

TYPED_TEST(Factorizations, LuSolves) {
  using T = TypeParam;
  auto const start = filled<T>(order, false);
  for (unsigned const parts : {1, 2}) {
    auto const a = filled<T>(order, false);
    Matrix<T> const b("B", order, 3);
    for (std::uint64_t j = 0; j < 3; ++j) {
      for (std::uint64_t i = 0; i < order; ++i) b(i, j) = static_cast<T>(unit_at(3, i, j));
    }
    Runtime runtime(this->template options<T>(parts));
    static_cast<void>(gesv(runtime, a, b, tile));
    double most = 0;
    double largest = 0;
    for (std::uint64_t c = 0; c < 3; ++c) {
      for (std::uint64_t i = 0; i < order; ++i) {
        double sum = 0;
        for (std::uint64_t k = 0; k < order; ++k) {
          sum += double(start(i, k)) * double(b(k, c));
          largest = std::max(largest, std::abs(double(b(k, c))));
        }
        most = std::max(most, std::abs(sum - double(static_cast<T>(unit_at(3, i, c)))));
      }
    }
    EXPECT_LT(most / (largest * double(order)), 100.0 * double(std::numeric_limits<T>::epsilon())) << parts;
  }
}

TEST_F(OnDevice, APivotThatIsNotPositiveIsReported) {
  auto const a = filled<double>(order, true);
  a(700, 700) = -1;
  Runtime runtime(options<double>());
  try {
    potrf(runtime, Uplo::Lower, a, tile);
    FAIL() << "nothing was thrown";
  } catch (NotPositiveDefinite const& error) {
    EXPECT_EQ(error.order(), 701U);
  }
}

}  // namespace
}  // namespace granary
