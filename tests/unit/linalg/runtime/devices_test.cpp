// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Factorizations on emulated devices whose memories together hold a quarter of the matrix.
#include <granary/detail/core/engine/engine.hpp>
#include <granary/detail/policies/registry.hpp>

#include <numeric>

#include "support/seeds.hpp"
#include "unit/linalg/api.hpp"
#include "unit/linalg/lu.hpp"

namespace granary::devices_test {

using namespace detail;

namespace {

using namespace testing;

// An eighth of the flops with a sanitizer, which needs thirty times the time.
constexpr std::uint64_t tile = test::Seeds::sanitized ? 16 : 32;
constexpr std::uint64_t tile_rows = 16;
constexpr std::uint64_t order = tile_rows * tile;
constexpr std::uint64_t all_tiles = tile_rows * tile_rows;
constexpr std::uint64_t triangle_tiles = tile_rows * (tile_rows + 1) / 2;

// Devices whose memories together hold a quarter of so many tiles.
template <class T>
RuntimeOptions on_devices(unsigned devices, std::uint64_t tiles, unsigned workers = 0) {
  return {.workers = workers,
          .devices = "host:" + std::to_string(devices),
          .device_memory = tiles / 4 / devices * tile * tile * sizeof(T),
          .models = models_off};
}
RuntimeOptions on_host() { return {.workers = 1, .models = models_off}; }

// Bytes that crossed the links from and to nodes of these kinds.
Bytes moved(Runtime& runtime, NodeKind from, NodeKind to) {
  auto const& machine = runtime.session().engine().topology().machine();
  auto const statistics = runtime.statistics();
  Bytes bytes = 0;
  for (std::size_t l = 0; l < machine.links.size(); ++l) {
    auto const& link = machine.links[l];
    if (machine[link.from].kind == from && machine[link.to].kind == to) bytes += statistics.planner.links[l].bytes;
  }
  return bytes;
}

std::uint64_t tasks_of(Runtime& runtime, WorkerKind kind) {
  auto const& workers = runtime.session().engine().topology().machine().workers;
  auto const statistics = runtime.statistics();
  std::uint64_t tasks = 0;
  for (std::size_t w = 0; w < workers.size(); ++w) tasks += workers[w].kind == kind ? statistics.workers[w].tasks : 0;
  return tasks;
}

// Every memory kept its limit, and devices loaded tiles from each other. If a device starts late, others may have done
// everything; at least two of several work.
void expect_used_within_limits(Runtime& runtime, unsigned devices) {
  auto const& machine = runtime.session().engine().topology().machine();
  auto const statistics = runtime.statistics().planner;
  unsigned found = 0, filled = 0;
  for (std::size_t n = 0; n < machine.nodes.size(); ++n) {
    auto const& node = machine.nodes[n];
    EXPECT_LE(statistics.nodes[n].peak, node.capacity) << node.name;
    if (node.kind != NodeKind::Device) continue;
    ++found;
    EXPECT_LE(node.capacity, runtime.options().device_memory) << node.name;
    filled += statistics.nodes[n].peak > node.capacity / 2 && statistics.nodes[n].evictions > 0 ? 1 : 0;
  }
  EXPECT_EQ(found, devices);
  EXPECT_GE(filled, std::min(devices, 2U));
  auto const between = moved(runtime, NodeKind::Device, NodeKind::Device);
  if (devices > 1) {
    EXPECT_GT(between, 0U);
  } else {
    EXPECT_EQ(between, 0U);
  }
}

template <class T>
class Devices : public ::testing::Test {};
TYPED_TEST_SUITE(Devices, Scalars);

TYPED_TEST(Devices, CholeskyIsExact) {
  using T = TypeParam;
  ExactCholesky<T> const known(order);
  auto const& a = known.a;
  auto const expected = known.factored(Uplo::Lower);
  for (unsigned const devices : {1, 2, 4}) {
    Runtime runtime(on_devices<T>(devices, triangle_tiles));
    auto const view = make_view<T, Kokkos::LayoutLeft>(a);
    potrf(runtime, Uplo::Lower, view, tile);
    EXPECT_EQ(largest_difference(values_of(view), expected), 0) << devices;
    expect_used_within_limits(runtime, devices);
    EXPECT_GT(tasks_of(runtime, WorkerKind::Device), 0U);
  }
}

TYPED_TEST(Devices, LuWithoutPivotingIsExact) {
  using T = TypeParam;
  ExactLu<T> const known(order, order);
  auto const& a = known.a;
  double const growth = testing::largest_modulus(testing::upper(known.factors)) / testing::largest_modulus(a);
  for (unsigned const devices : {1, 2, 4}) {
    Runtime runtime(on_devices<T>(devices, all_tiles));
    auto const view = make_view<T, Kokkos::LayoutRight>(a);
    auto const measured = getrf_nopiv(runtime, view, tile);
    EXPECT_EQ(largest_difference(values_of(view), known.factors), 0) << devices;
    EXPECT_NEAR(measured.ratio(), growth, rounding<T>(8) * growth);  // moduli are rounded
    expect_used_within_limits(runtime, devices);
  }
}

// Also in a tournament, if a panel has only one candidate for each pivot.
TYPED_TEST(Devices, LuWithPivotingGivesTheHostsFactorsAndPivots) {
  using T = TypeParam;
  auto const a = exact_permuted_upper<T>(order);
  auto const expected = make_view<T, Kokkos::LayoutLeft>(a);
  LuOptions const options{.leaf_tiles = 2};
  Runtime host(on_host());
  auto const pivots = rows_of(getrf(host, expected, tile, options));
  for (unsigned const devices : {1, 2, 4}) {
    Runtime runtime(on_devices<T>(devices, all_tiles));
    auto const view = make_view<T, Kokkos::LayoutLeft>(a);
    EXPECT_EQ(rows_of(getrf(runtime, view, tile, options)), pivots) << devices;
    EXPECT_EQ(largest_difference(values_of(view), values_of(expected)), 0) << devices;
    expect_used_within_limits(runtime, devices);
  }
}

TYPED_TEST(Devices, LuOfARandomMatrixIsThatOfTheTheory) {
  using T = TypeParam;
  auto const a = random_rectangle<T>(order / 2, order / 2);
  Runtime runtime(on_devices<T>(2, all_tiles / 4));
  auto const view = make_view<T, Kokkos::LayoutLeft>(a);
  auto const pivots = getrf(runtime, view, tile, {.leaf_tiles = 2});
  EXPECT_LE(lu_residual(a, values_of(view), pivots), lu_bound(values_of(view)));
}

TYPED_TEST(Devices, ANegativeMinorIsNamedAndTheRuntimeGoesOn) {
  using T = TypeParam;
  Runtime runtime(on_devices<T>(2, triangle_tiles));
  ExactCholesky<T> const known(order);
  auto bad = known.a;
  auto const row = order * 3 / 5;
  bad(row, row) = T(-1);
  try {
    potrf(runtime, Uplo::Lower, view_of(bad), tile);
    FAIL() << "accepted";
  } catch (NotPositiveDefinite const& error) {
    EXPECT_EQ(error.order(), row + 1);
  }
  auto factor = known.a;
  potrf(runtime, Uplo::Lower, view_of(factor), tile);
  EXPECT_EQ(largest_difference(factor, known.factored(Uplo::Lower)), 0);
}

class DevicesUnder : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(EveryScheduler, DevicesUnder, ::testing::ValuesIn(scheduler_names()),
                         [](auto const& scheduler) { return scheduler.param; });

TEST_P(DevicesUnder, AloneAndTogetherWithTheHostsCores) {
  ExactCholesky<double> const known(order);
  auto const& a = known.a;
  auto const expected = known.factored(Uplo::Lower);
  for (unsigned const workers : {0, 2}) {
    auto options = on_devices<double>(4, triangle_tiles, workers);
    options.scheduler = GetParam();
    Runtime runtime(options);
    auto const view = make_view<double, Kokkos::LayoutLeft>(a);
    potrf(runtime, Uplo::Lower, view, tile);
    EXPECT_EQ(largest_difference(values_of(view), expected), 0) << workers;
    auto const statistics = runtime.statistics().planner;
    auto const& nodes = runtime.session().engine().topology().machine().nodes;
    for (std::size_t n = 0; n < nodes.size(); ++n) EXPECT_LE(statistics.nodes[n].peak, nodes[n].capacity);
    if (workers == 0) {
      EXPECT_GT(tasks_of(runtime, WorkerKind::Device), 0U);
      EXPECT_EQ(tasks_of(runtime, WorkerKind::Cpu), 0U);
    }
  }
}

class DevicesAndFiles : public Files, public ::testing::WithParamInterface<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Counts, DevicesAndFiles, ::testing::Values(1, 2, 4));

TEST_P(DevicesAndFiles, ThreeLevels) {
  ExactCholesky<double> const known(order);
  auto const& a = known.a;
  this->write("A.h5", a, tile);
  auto options = on_devices<double>(GetParam(), triangle_tiles);
  options.host_memory = triangle_tiles / 2 * tile * tile * sizeof(double);
  Runtime runtime(options);
  auto matrix = open_matrix<double>(runtime, this->file("A.h5"), "/A",
                                    {.part = MatrixPart::Lower, .tile = tile, .output = this->file("L.h5")});
  potrf(runtime, Uplo::Lower, matrix);
  expect_used_within_limits(runtime, GetParam());
  matrix.commit();
  auto const triangle = triangle_tiles * tile * tile * sizeof(double);
  EXPECT_GE(runtime.figures().bytes_read, triangle);
  EXPECT_GE(runtime.figures().bytes_written, triangle);
  EXPECT_LE(runtime.figures().host_memory_peak, options.host_memory);
  auto const factor = this->read<double>("L.h5", tile);
  for (std::uint64_t j = 0; j < order; ++j) {
    for (std::uint64_t i = j; i < order; ++i) ASSERT_EQ(factor(i, j), known.lower(i, j));
  }
}

}  // namespace
}  // namespace granary::devices_test
