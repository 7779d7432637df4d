// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiles need only the memory of their elements: under the memory limit, in transfers from and to files, and on devices.
#include <granary/detail/linalg/files/copy_matrix.hpp>
#include <granary/detail/linalg/files/npy_sink.hpp>
#include <granary/detail/linalg/files/open_matrix_source.hpp>
#include <granary/detail/outofcore/io_engine_choice.hpp>

#include <vector>

#include "unit/linalg/api.hpp"

namespace granary {
namespace {

using namespace testing;

constexpr std::uint64_t tile = 64;

// The bytes that the planner allocates for a size.
Bytes rounded(std::uint64_t elements) { return round_up(elements * sizeof(double), detail::io_alignment); }

struct Negate {
  static constexpr bool launches_kokkos_kernels = false;
  static constexpr bool host_only = false;
  template <class Exec, class Tile>
  void operator()(Exec const&, Tile y) const {
    for (std::uint64_t i = 0; i < y.extent(0); ++i) {
      for (std::uint64_t j = 0; j < y.extent(1); ++j) y(i, j) = -y(i, j);
    }
  }
};

// Square, tall and wide ones, of one column and of one row, with tiles at the edges.
constexpr std::pair<std::uint64_t, std::uint64_t> every_shape[] = {{130, 130}, {1000, 3}, {3, 1000},
                                                                   {1000, 1},  {1, 1000}, {200, 70}};

class TileBytes : public Files {
 protected:
  // The matrix as a file of that kind.
  [[nodiscard]] std::string store(Rectangle<double> const& a, bool npy) const {
    write("A.h5", a, tile);
    if (!npy) return file("A.h5");
    auto const io = detail::make_async_file_io();
    auto const source = open_matrix_source(open_matrix_file(file("A.h5")), tile, MatrixPart::All, io);
    NpySink sink(io, file("A.npy"), source->tiling(), ScalarType::Float64);
    copy_matrix(*source, sink, source->largest_tile_bytes() + detail::io_alignment);
    sink.commit();
    return file("A.npy");
  }
};

TEST_F(TileBytes, OfFilesAreReadAndWrittenOnceInTheMemoryOfOneTile) {
  for (auto const& [rows, cols] : every_shape) {
    auto const a = random_rectangle<double>(rows, cols);
    for (bool const npy : {false, true}) {
      detail::TileGrid const grid{rows, cols, tile};
      Runtime runtime({.workers = 1, .host_memory = rounded(grid.largest_tile()), .models = models_off});
      auto matrix = open_matrix<double>(runtime, store(a, npy), "", {.tile = tile, .output = file("B.h5")});
      for (std::uint64_t i = 0; i < grid.tile_rows(); ++i) {
        for (std::uint64_t j = 0; j < grid.tile_cols(); ++j)
          runtime.submit("negate", Negate{}, read_write(matrix.tile(i, j)));
      }
      matrix.commit();
      EXPECT_EQ(runtime.figures().bytes_read, rows * cols * sizeof(double)) << rows << " x " << cols;
      EXPECT_EQ(runtime.figures().bytes_written, rows * cols * sizeof(double)) << rows << " x " << cols;
      EXPECT_EQ(runtime.session().io()->bytes_read(), rows * cols * sizeof(double)) << rows << " x " << cols;
      EXPECT_EQ(runtime.session().io()->bytes_written(), rows * cols * sizeof(double)) << rows << " x " << cols;
      EXPECT_EQ(runtime.figures().host_memory_peak, rounded(grid.largest_tile())) << rows << " x " << cols;
    }
    auto const negated = rectangle_of<double>(rows, cols, [&](std::uint64_t i, std::uint64_t j) { return -a(i, j); });
    EXPECT_EQ(largest_difference(read<double>("B.h5", 50), negated), 0) << rows << " x " << cols;
  }
}

// Runs `work` with the limit that it needs, and checks that a smaller one is refused.
template <class Work>
void expect_least(Bytes least, Work&& work) {
  work(least);
  EXPECT_THROW(work(least - detail::io_alignment), MemoryLimitError) << least;
}

TEST_F(TileBytes, OfACholeskyFactorizationAreThoseOfItsLargestTask) {
  auto const a = random_positive_definite<double>(100);
  write("A.h5", a, tile);
  // The solve with the first tile, for the one at the edge.
  expect_least(rounded(64 * 64) + rounded(36 * 64), [&](Bytes limit) {
    Runtime runtime({.workers = 2, .host_memory = limit, .models = models_off});
    auto matrix = open_matrix<double>(runtime, file("A.h5"), "",
                                      {.part = MatrixPart::Lower, .tile = tile, .output = file("L.h5")});
    potrf(runtime, Uplo::Lower, matrix);
    matrix.commit();
  });
  auto const l = triangle_of(Uplo::Lower, Diag::NonUnit, read<double>("L.h5", tile));
  EXPECT_LT(largest_difference(multiply(l, op_of(Op::Trans, l)), a), rounding<double>(3000));
}

TEST_F(TileBytes, OfAColumnOfRightHandSidesAreThoseOfTheColumn) {
  auto const a = random_positive_definite<double>(192);
  auto const x = random_rectangle<double>(192, 1, 3);
  auto const factor = make_view<double, Kokkos::LayoutLeft>(a);
  {
    Runtime runtime({.workers = 1, .models = models_off});
    potrf(runtime, Uplo::Lower, factor);
  }
  write("L.h5", values_of(factor), tile);
  write("B.h5", multiply(a, x), tile);
  // A product: a tile of L, one of X that is read and one that is written.
  expect_least(rounded(64 * 64) + 2 * rounded(64), [&](Bytes limit) {
    Runtime runtime({.workers = 2, .host_memory = limit, .models = models_off});
    auto const l = open_matrix<double>(runtime, file("L.h5"), "", {.part = MatrixPart::Lower, .tile = tile});
    auto b = open_matrix<double>(runtime, file("B.h5"), "", {.tile = tile, .output = file("X.h5")});
    potrs(runtime, Uplo::Lower, l, b);
    b.commit();
  });
  EXPECT_LT(largest_difference(read<double>("X.h5", tile), x), rounding<double>(1000));
}

TEST_F(TileBytes, OfATallPanelWithPivotingAreThoseOfItsLeaf) {
  constexpr std::uint64_t rows = 1000, cols = 8;
  auto const a = random_rectangle<double>(rows, cols);
  write("A.h5", a, tile);
  Pivots pivots({rows, cols, tile});
  // The first round: two tiles, memory for their rows, and the winners with their numbers.
  auto const leaf = 2 * rounded(tile * cols) + rounded(2 * tile * cols) + rounded(cols + cols * cols);
  expect_least(leaf, [&](Bytes limit) {
    Runtime runtime({.workers = 2, .host_memory = limit, .models = models_off});
    auto matrix =
        open_matrix<double>(runtime, file("A.h5"), "", {.tile = tile, .output = file("F.h5"), .output_dataset = "F"});
    auto found = getrf(runtime, matrix, {}, {.leaf_tiles = 2});
    matrix.commit();
    pivots = std::move(found);
  });
  auto const lu = read<double>("F.h5", tile);
  auto product = multiply(triangle_of(Uplo::Lower, Diag::Unit, lu),
                          triangle_of(Uplo::Upper, Diag::NonUnit, rectangle_of<double>(cols, cols, lu)));
  for (auto k = cols; k-- > 0;) {
    for (std::uint64_t j = 0; j < cols; ++j) std::swap(product(k, j), product(pivots[k], j));
  }
  EXPECT_LT(largest_difference(product, a), rounding<double>(1000));
}

TEST_F(TileBytes, OfViewsOnDevicesAreThoseOfTheirElements) {
  // One product per tile of C: the runtime may bring a tile home between two of them.
  constexpr std::uint64_t n = 130, inner = 60;
  static_assert(inner <= tile);
  auto const a = random_rectangle<double>(n, inner, 1), b = random_rectangle<double>(inner, 3, 2);
  for (bool const by_columns : {true, false}) {
    Runtime runtime({.workers = 0, .devices = "host:1", .device_memory = 1_MiB, .models = models_off});
    auto const multiply_views = [&](auto const& a_view, auto const& b_view, auto const& c_view) {
      gemm(runtime, Op::NoTrans, Op::NoTrans, 1, a_view, b_view, 0, c_view, tile);
      EXPECT_LT(largest_difference(values_of(c_view), multiply(a, b)), rounding<double>(1000));
    };
    auto const c = rectangle_of<double>(n, 3, [](std::uint64_t, std::uint64_t) { return 0; });
    if (by_columns) {
      using Layout = Kokkos::LayoutLeft;
      multiply_views(make_view<double, Layout>(a), make_view<double, Layout>(b), make_view<double, Layout>(c));
    } else {
      using Layout = Kokkos::LayoutRight;
      multiply_views(make_view<double, Layout>(a), make_view<double, Layout>(b), make_view<double, Layout>(c));
    }
    EXPECT_EQ(runtime.figures().device_traffic.from_host, (n * inner + inner * 3) * sizeof(double));
    EXPECT_EQ(runtime.figures().device_traffic.to_host, n * 3 * sizeof(double));
  }
}

}  // namespace
}  // namespace granary
