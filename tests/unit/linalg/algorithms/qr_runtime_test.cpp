// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tile QR on a real runtime: out of core, and in place.
#include <granary/detail/linalg/algorithms/qr.hpp>
#include <granary/detail/linalg/runtime/matrices.hpp>

#include <limits>

#include "unit/linalg/api.hpp"
#include "unit/linalg/lu.hpp"

namespace granary {
namespace {

class QrRuntime : public testing::Files, public ::testing::WithParamInterface<std::uint64_t> {
 protected:
  QrOptions options() const { return {.tree = {.domain = GetParam()}}; }
};

template <class T>
double bound(testing::Rectangle<T> const& a) {
  return 20 * static_cast<double>(std::max(a.rows, a.cols)) * std::numeric_limits<double>::epsilon();
}

TEST_P(QrRuntime, FactorsOutOfCoreUnderTheMemoryLimit) {
  std::uint64_t const rows = 307, cols = 201, tile = 32;
  auto const a = testing::random_rectangle<double>(rows, cols, 13);
  write("A.h5", a, tile);
  testing::Rectangle<double> back(rows, cols);
  {
    Bytes const limit = 16 * tile * tile * sizeof(double);
    Runtime runtime({.workers = 2, .host_memory = limit});
    auto file = open_matrix<double>(runtime, this->file("A.h5"), "A", {.tile = tile});
    auto const factors = file.tiles();
    TaskEmitter tasks(runtime.submitter());
    auto const reflectors =
        detail::make_temporary_reflectors<double>(runtime.submitter(), factors.grid(), options().tree, 8);
    geqrf(tasks, factors, reflectors, options());
    // R, which Q makes A again.
    auto tiles = add_view_matrix(runtime.session(), testing::view_of(back), tile, MatrixPart::All);
    for (std::uint64_t i = 0; i < factors.grid().tile_rows(); ++i) {
      for (auto j = i; j < factors.grid().tile_cols(); ++j) {
        tiles::copy<double, double>(tasks, i == j ? MatrixPart::Upper : MatrixPart::All, false, factors(i, j),
                                    tiles(i, j), detail::OtherTriangle::Zeroed);
      }
    }
    unmqr(tasks, Op::NoTrans, factors, reflectors, tiles, options());
    runtime.wait();
    EXPECT_LE(runtime.figures().host_memory_peak, limit);
    EXPECT_GT(runtime.figures().bytes_written, 0U) << "the matrix fits into memory";
  }
  EXPECT_LE(testing::largest_difference(back, a), bound(a));
}

TEST_P(QrRuntime, FactorsViewsInPlace) {
  using T = Kokkos::complex<double>;
  auto const a = testing::random_rectangle<T>(203, 170, 14, 3);
  auto factors = a;
  auto back = testing::Rectangle<T>(203, 170);
  Runtime runtime({.workers = 2});
  auto tiles = add_view_matrix(runtime.session(), testing::view_of(factors), 32, MatrixPart::All);
  TaskEmitter tasks(runtime.submitter());
  auto const reflectors = detail::make_temporary_reflectors<T>(runtime.submitter(), tiles.grid(), options().tree, 8);
  geqrf(tasks, tiles, reflectors, options());
  runtime.wait();
  EXPECT_TRUE(testing::padding_is_untouched(factors));
  for (std::uint64_t j = 0; j < 170; ++j) {
    for (std::uint64_t i = 0; i <= j; ++i) back(i, j) = factors(i, j);
  }
  unmqr(tasks, Op::NoTrans, tiles, reflectors,
        add_view_matrix(runtime.session(), testing::view_of(back), 32, MatrixPart::All), options());
  runtime.wait();
  EXPECT_LE(testing::largest_difference(back, testing::rectangle_of<T>(203, 170, a)), bound(a));
}

INSTANTIATE_TEST_SUITE_P(Domains, QrRuntime, ::testing::Values(0, 1, 3));

}  // namespace
}  // namespace granary
