// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LU with pivoting on a real runtime: out of core, and in place.
#include <granary/detail/linalg/runtime/matrices.hpp>

#include "unit/linalg/api.hpp"
#include "unit/linalg/lu.hpp"

namespace granary {
namespace {

detail::PivotData add_pivots(Runtime& runtime, Pivots& pivots) {
  detail::PivotData data;
  for (std::uint64_t k = 0; k < pivots.grid().diagonal(); ++k) {
    data.panels.push_back(
        runtime.session().add_data("pivots", pivot_bytes(pivots.grid(), k), {.memory = pivots.panel(k)}));
  }
  return data;
}

class LuRuntime : public testing::Files, public ::testing::WithParamInterface<detail::FactorOrder> {};

TEST_P(LuRuntime, FactorsOutOfCoreUnderTheMemoryLimit) {
  std::uint64_t const n = 300, tile = 32;
  auto const a = testing::random_rectangle<double>(n, n, 13);
  write("A.h5", a, tile);
  Pivots pivots({n, n, tile});
  {
    Bytes const limit = 24 * tile * tile * sizeof(double);
    Runtime runtime({.workers = 2, .host_memory = limit});
    auto file = open_matrix<double>(runtime, this->file("A.h5"), "A",
                                    {.tile = tile, .output = this->file("F.h5"), .output_dataset = "F"});
    TaskEmitter tasks(runtime.submitter());
    getrf(tasks, file.tiles(), add_pivots(runtime, pivots), {.order = GetParam(), .leaf_tiles = 2});
    runtime.wait();
    file.commit();
    EXPECT_LE(runtime.figures().host_memory_peak, limit);
  }
  auto const factors = read<double>("F.h5", tile);
  EXPECT_LE(testing::lu_residual(a, factors, pivots), testing::lu_bound(factors));
}

TEST_P(LuRuntime, FactorsViewsInPlace) {
  using T = Kokkos::complex<double>;
  auto const a = testing::random_rectangle<T>(200, 170, 14, 3);
  auto factors = a;
  Pivots pivots({200, 170, 32});
  Runtime runtime({.workers = 2});
  auto tiles = add_view_matrix(runtime.session(), testing::view_of(factors), 32, MatrixPart::All);
  TaskEmitter tasks(runtime.submitter());
  getrf(tasks, tiles, add_pivots(runtime, pivots), {.order = GetParam(), .leaf_tiles = 3});
  runtime.wait();
  EXPECT_LE(testing::lu_residual(a, factors, pivots), testing::lu_bound(factors));
  EXPECT_TRUE(testing::padding_is_untouched(factors));
}

INSTANTIATE_TEST_SUITE_P(Orders, LuRuntime,
                         ::testing::Values(detail::FactorOrder::RightLooking, detail::FactorOrder::LeftLooking));

TEST(LuRuntimeNopiv, ReportsThePivotThatStoppedIt) {
  auto a = testing::dominant<double>(100, 100);
  for (std::uint64_t i = 0; i < 100; ++i) a(i, 70) = a(70, i) = 0;
  Runtime runtime({.workers = 2});
  auto tiles = add_view_matrix(runtime.session(), testing::view_of(a), 16, MatrixPart::All);
  TaskEmitter tasks(runtime.submitter());
  getrf_nopiv(tasks, tiles);
  try {
    runtime.wait();
    FAIL() << "accepted";
  } catch (Singular const& error) {
    EXPECT_EQ(error.order(), 71U);
    EXPECT_EQ(error.modulus(), 0);
  }
}

}  // namespace
}  // namespace granary
