// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tasks of an application on tiles of matrices in files.
#include <gmock/gmock.h>

#include "unit/linalg/api.hpp"
#include "unit/linalg/exact.hpp"

namespace granary::matrix_tile_test {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint64_t tile = 32;

// y := 2 y + its row and column. The View must be as large as the tile.
struct Twice {
  static constexpr bool launches_kokkos_kernels = false;
  static constexpr bool host_only = false;
  std::uint64_t first_row, first_col, rows, cols;
  template <class Exec, class Tile>
  void operator()(Exec const&, Tile y) const {
    using T = typename Tile::non_const_value_type;
    static_assert(std::is_same_v<typename Tile::array_layout, Kokkos::LayoutRight> && Tile::rank == 2);
    if (y.extent(0) != rows || y.extent(1) != cols) throw std::runtime_error("the View is not the tile");
    for (std::uint64_t i = 0; i < rows; ++i) {
      for (std::uint64_t j = 0; j < cols; ++j)
        y(i, j) = T(2) * y(i, j) + T(static_cast<detail::RealOf<T>>(place(i, j)));
    }
  }
  [[nodiscard]] std::uint64_t place(std::uint64_t i, std::uint64_t j) const {
    return 1000 * (first_row + i) + first_col + j;
  }
};
template <class T>
Twice twice(MatrixTile<T> const& of) {
  return {of.first_row(), of.first_col(), of.rows(), of.cols()};
}

struct Copy {
  static constexpr bool launches_kokkos_kernels = false;
  static constexpr bool host_only = false;
  template <class Exec, class From, class To>
  void operator()(Exec const&, From from, To to) const {
    static_assert(std::is_const_v<typename From::value_type>);
    for (std::uint64_t i = 0; i < from.extent(0); ++i) {
      for (std::uint64_t j = 0; j < from.extent(1); ++j) to(i, j) = from(i, j);
    }
  }
};

// The same with a Kokkos kernel, as bodies for devices have it.
struct CopyByKernel {
  template <class Exec, class From, class To>
  void operator()(Exec const& exec, From from, To to) const {
    Kokkos::parallel_for(
        "copy", Kokkos::RangePolicy<Exec>(exec, 0, static_cast<long>(from.extent(0))), KOKKOS_LAMBDA(long i) {
          for (std::size_t j = 0; j < from.extent(1); ++j) to(i, j) = from(i, j);
        });
  }
};

struct Throw {
  static constexpr bool launches_kokkos_kernels = false;
  template <class Exec, class Tile>
  void operator()(Exec const&, Tile) const {
    throw std::runtime_error("no value");
  }
};

template <class T, class Function>
void for_each_tile(FileMatrix<T> const& matrix, Function const& function) {
  auto const& grid = matrix.tiles().grid();
  for (std::uint64_t i = 0; i < grid.tile_rows(); ++i) {
    for (std::uint64_t j = 0; j < grid.tile_cols(); ++j) {
      if (holds(matrix.tiles().part(), i, j)) function(matrix.tile(i, j));
    }
  }
}

template <class T>
class MatrixTiles : public Files {
 protected:
  // Memory for that many tiles on every node; with devices only these work.
  static RuntimeOptions limit(std::uint64_t tiles, std::string const& devices = "none") {
    bool const cores = devices == "none";
    auto const bytes = tiles * tile * tile * sizeof(T);
    return {.workers = cores ? 2 : 0,
            .devices = devices,
            .device_memory = cores ? 0 : bytes,
            .host_memory = bytes,
            .models = models_off};
  }
};
TYPED_TEST_SUITE(MatrixTiles, Scalars);

TYPED_TEST(MatrixTiles, OfAMatrixLargerThanTheMemoryAreChangedAndWritten) {
  using T = TypeParam;
  auto const a = random_rectangle<T>(150, 100);
  this->write("A.h5", a, tile);
  auto expected = a;
  Twice const whole{0, 0, 150, 100};
  for (std::uint64_t i = 0; i < 150; ++i) {
    for (std::uint64_t j = 0; j < 100; ++j)
      expected(i, j) = T(2) * a(i, j) + T(static_cast<detail::RealOf<T>>(whole.place(i, j)));
  }
  for (std::string const devices : {"none", "host:2"}) {
    Runtime runtime(this->limit(6, devices));
    auto matrix = open_matrix<T>(runtime, this->file("A.h5"), "", {.tile = tile, .output = this->file("B.h5")});
    for_each_tile(matrix, [&](auto const& of) { runtime.submit("twice", twice(of), read_write(of)); });
    matrix.commit();
    EXPECT_EQ(largest_difference(this->template read<T>("B.h5", 17), expected), 0) << devices;
    EXPECT_LE(runtime.figures().host_memory_peak, runtime.options().host_memory);
  }
}

TYPED_TEST(MatrixTiles, MixWithDataAndWithCallsOfTheLibrary) {
  using T = TypeParam;
  ExactCholesky<T> const known(80);
  auto const& a = known.a;
  auto const solution = random_eighths<T>(80, 1, 3);
  auto const b = multiply(a, solution);
  auto source = make_view<T, Kokkos::LayoutRight>(a);
  for (std::string const devices : {"none", "host:2"}) {
    Runtime runtime(this->limit(12, devices));
    auto const x = make_view<T, Kokkos::LayoutLeft>(b);
    auto const matrix = create_matrix<T>(runtime, 80, 80, {.part = MatrixPart::Lower, .tile = tile});
    for_each_tile(matrix, [&](auto const& of) {
      auto const rows = std::pair(of.first_row(), of.first_row() + of.rows());
      auto const cols = std::pair(of.first_col(), of.first_col() + of.cols());
      RightView<T> const part(Kokkos::subview(source, rows, cols));
      runtime.submit("copy", CopyByKernel{}, read(runtime.data(part)), write(of));
    });
    posv(runtime, Uplo::Lower, matrix, x);
    EXPECT_EQ(largest_difference(values_of(x), solution), 0) << devices;
    RightView<T> const factor("factor", matrix.tile(2, 1).rows(), matrix.tile(2, 1).cols());
    runtime.submit("copy", Copy{}, read(matrix.tile(2, 1)), write(runtime.data(factor)));
    runtime.wait();
    auto const expected = rectangle_of<T>(factor.extent(0), factor.extent(1), [&](std::uint64_t i, std::uint64_t j) {
      return known.lower(matrix.tile(2, 1).first_row() + i, matrix.tile(2, 1).first_col() + j);
    });
    EXPECT_EQ(largest_difference(values_of(factor), expected), 0) << "a tile of L, not of A";
  }
}

class MatrixTilesOfDouble : public Files {};

TEST_F(MatrixTilesOfDouble, OfAnInputWithoutAnOutputAreTemporary) {
  write("A.h5", random_rectangle<double>(64, 40), tile);
  auto const before = read<double>("A.h5", tile);
  Runtime runtime({.workers = 1, .models = models_off});
  auto const matrix = open_matrix<double>(runtime, file("A.h5"), "", {.tile = tile});
  auto const of = matrix.tile(0, 0);
  runtime.submit("twice", twice(of), read_write(of));
  RightView<double> const seen("seen", 32, 32);
  runtime.submit("copy", Copy{}, granary::read(of), granary::write(runtime.data(seen)));
  runtime.wait();
  EXPECT_EQ(seen(1, 2), 2 * before(1, 2) + 1002);
  EXPECT_EQ(largest_difference(read<double>("A.h5", tile), before), 0);
}

TEST_F(MatrixTilesOfDouble, MayBeChangedInAnyOrder) {
  write("A.h5", random_rectangle<double>(64, 40), tile);
  Runtime runtime({.workers = 2, .models = models_off});
  auto const matrix = open_matrix<double>(runtime, file("A.h5"), "", {.tile = tile});
  auto const of = matrix.tile(0, 0);
  RightView<double> const before("before", 32, 32), after("after", 32, 32);
  runtime.submit("copy", Copy{}, granary::read(of), granary::write(runtime.data(before)));
  for (int t = 0; t < 3; ++t) runtime.submit("twice", twice(of), commute(of));
  runtime.submit("copy", Copy{}, granary::read(of), granary::write(runtime.data(after)));
  runtime.wait();
  double expected = before(1, 2);
  for (int t = 0; t < 3; ++t) expected = 2 * expected + 1002;
  EXPECT_EQ(after(1, 2), expected);
}

TEST_F(MatrixTilesOfDouble, OfAnotherRuntimeAreRefused) {
  Runtime runtime({.workers = 1, .models = models_off}), other({.workers = 1, .models = models_off});
  auto const own = open_matrix<double>(runtime, "hilbert:40", "", {.tile = tile});
  auto const foreign = open_matrix<double>(other, "hilbert:40", "", {.tile = tile});
  EXPECT_THAT(refusal([&] {
                runtime.submit("copy", Copy{}, granary::read(foreign.tile(0, 0)), granary::write(own.tile(0, 0)));
              }),
              HasSubstr("task 'copy': datum 1 of 2 belongs to another Runtime"));
  EXPECT_EQ(refusal([&] { runtime.wait(foreign.tile(1, 0)); }), "wait(): datum 1 of 1 belongs to another Runtime");
}

TEST_F(MatrixTilesOfDouble, ThatAreNotThereAreRefusedWithTheNumbers) {
  write("A.h5", random_rectangle<double>(64, 40), tile);
  write("S.h5", random_rectangle<double>(64, 64), tile);
  Runtime runtime({.workers = 1, .models = models_off});
  auto const a = open_matrix<double>(runtime, file("A.h5"), "", {.tile = tile});
  auto const refused = [](auto const& matrix, std::uint64_t i, std::uint64_t j) {
    return refusal([&] { static_cast<void>(matrix.tile(i, j)); });
  };
  auto const name = file("A.h5") + ":/A";
  EXPECT_EQ(refused(a, 2, 0), "there is no tile " + name + "(2, 0): the matrix has 2 x 2 tiles, counted from 0");
  EXPECT_THAT(refused(a, 0, std::uint64_t(-1)), HasSubstr("2 x 2 tiles"));
  auto const lower = open_matrix<double>(runtime, file("S.h5"), "", {.part = MatrixPart::Lower, .tile = tile});
  EXPECT_THAT(refused(lower, 0, 1), HasSubstr("(0, 1): the matrix was opened as its lower triangle"));
  auto const upper = create_matrix<double>(runtime, 64, 64, {.part = MatrixPart::Upper, .tile = tile});
  EXPECT_EQ(refused(upper, 1, 0), "there is no tile temporary(1, 0): the matrix was opened as its upper triangle");
  auto committed = create_matrix<double>(runtime, 32, 32, {.tile = tile, .output = file("C.h5")});
  set(runtime, 0.0, 1.0, committed);
  committed.commit();
  EXPECT_EQ(refused(committed, 0, 0), file("C.h5") + " was committed: open its output instead");
}

TEST_F(MatrixTilesOfDouble, WithoutAValueAreNotRead) {
  Runtime runtime({.workers = 1, .models = models_off});
  auto const matrix = create_matrix<double>(runtime, 64, 64, {.tile = tile});
  RightView<double> const seen("seen", 32, 32);
  auto const to = runtime.data(seen);
  EXPECT_THAT(
      refusal([&] { runtime.submit("copy", Copy{}, granary::read(matrix.tile(1, 0)), granary::write(to)); }),
      HasSubstr(
          "task 'copy' reads data 'temporary(1, 0)', which has no origin and was not written by an earlier task"));
}

TEST_F(MatrixTilesOfDouble, ThatATaskFailsToWriteAreNamed) {
  Runtime runtime({.workers = 1, .models = models_off});
  auto matrix = create_matrix<double>(runtime, 64, 64, {.tile = tile, .output = file("A.h5")});
  set(runtime, 0.0, 1.0, matrix);
  runtime.submit("throw", Throw{}, read_write(matrix.tile(1, 0)));
  EXPECT_THROW(matrix.commit(), std::runtime_error);
  ASSERT_EQ(runtime.failures().size(), 1U);
  EXPECT_THAT(runtime.failures()[0].poisoned, ElementsAre(file("A.h5") + "(1, 0)"));
  EXPECT_FALSE(std::filesystem::exists(file("A.h5")));
}

TEST_F(MatrixTilesOfDouble, OutliveTheirMatrixInTasksThatWereSubmitted) {
  RightView<double> const seen("seen", 32, 8);
  Runtime runtime({.workers = 1, .models = models_off});
  write("A.h5", random_rectangle<double>(64, 40), tile);
  {
    auto const matrix = open_matrix<double>(runtime, file("A.h5"), "", {.tile = tile});
    runtime.submit("copy", Copy{}, granary::read(matrix.tile(1, 1)), granary::write(runtime.data(seen)));
  }
  runtime.wait();
  EXPECT_EQ(seen(31, 7), read<double>("A.h5", tile)(63, 39));
}

}  // namespace
}  // namespace granary::matrix_tile_test
