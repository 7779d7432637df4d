// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The façade: Views and files on a real runtime.
#include <granary/core/base/error.hpp>
#include <granary/linalg/linalg.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>

#include "unit/linalg/dense.hpp"

namespace granary {
namespace {

namespace fs = std::filesystem;

template <class T>
using StridedView = Kokkos::View<T**, Kokkos::LayoutStride, Kokkos::HostSpace>;

template <class T>
StridedView<T> view_of(testing::Dense<T>& a, bool row_major = false) {
  Kokkos::LayoutStride const layout =
      row_major ? Kokkos::LayoutStride(a.n, a.ld, a.n, 1) : Kokkos::LayoutStride(a.n, 1, a.n, a.ld);
  return StridedView<T>(a.elements.data(), layout);
}

// A matrix file that is removed at the end.
class LinalgFiles : public ::testing::Test {
 protected:
  LinalgFiles() : m_directory(fs::temp_directory_path() / ("granary-linalg-" + std::to_string(::getpid()))) {
    fs::create_directory(m_directory);
  }
  ~LinalgFiles() override { fs::remove_all(m_directory); }
  [[nodiscard]] std::string file(std::string const& name) const { return (m_directory / name).string(); }

 private:
  fs::path m_directory;
};

template <class T>
class Linalg : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Linalg, Scalars);

TYPED_TEST(Linalg, FactorsStridedViewsInPlace) {
  using T = TypeParam;
  Runtime runtime({.workers = 2});
  for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
    for (bool const row_major : {false, true}) {
      for (std::uint64_t n : {1, 31, 32, 33, 200}) {
        auto const a = testing::random_spd<T>(n, n + 5);
        auto factor = a;
        potrf(runtime, uplo, view_of(factor, row_major), 32);
        // What is lower in rows is upper in columns.
        auto const triangle = row_major ? flip(uplo) : uplo;
        EXPECT_LT(testing::dense_residual(a, factor, triangle), 1) << n;
        for (std::uint64_t j = 0; j < n; ++j) {
          for (std::uint64_t i = 0; i < n + 5; ++i) {
            bool const stored = i < n && (triangle == Uplo::Lower ? i >= j : i <= j);
            if (!stored) {
              ASSERT_EQ(factor(i, j), a(i, j));
            }
          }
        }
      }
    }
  }
  EXPECT_EQ(runtime.host_memory_peak(), 0U);
}

TYPED_TEST(Linalg, TheResidualOfViewsIsTheDirectOne) {
  using T = TypeParam;
  Runtime runtime({.workers = 2, .host_memory = 4 * 32 * 32 * sizeof(T)});
  auto a = testing::random_spd<T>(100, 103);
  auto factor = testing::lapack_factor(a, Uplo::Lower);
  factor(70, 20) += T(0.5);
  auto const tiles_a = add_view_matrix(runtime, view_of(a), 32, MatrixPart::Lower);
  auto const tiles_l = add_view_matrix(runtime, view_of(factor), 32, MatrixPart::Lower);
  EXPECT_NEAR(residual(runtime, tiles_a, tiles_l) / testing::dense_residual(a, factor, Uplo::Lower), 1, 0.01);
  EXPECT_LE(runtime.host_memory_peak(), runtime.options().host_memory);
}

TEST(LinalgViews, NamesTheOrderThatIsNotPositiveDefiniteAndGoesOn) {
  Runtime runtime({.workers = 2});
  auto a = testing::random_spd<double>(100);
  a(77, 77) = -1;
  try {
    potrf(runtime, Uplo::Lower, view_of(a), 16);
    FAIL() << "accepted";
  } catch (NotPositiveDefinite const& error) {
    EXPECT_EQ(error.order(), 78U);
  }
  auto const good = testing::random_spd<double>(100);
  auto factor = good;
  potrf(runtime, Uplo::Lower, view_of(factor), 16);
  EXPECT_LT(testing::dense_residual(good, factor, Uplo::Lower), 1);
}

TEST(LinalgViews, RefusesWhatIsNotASquareMatrix) {
  Runtime runtime({.workers = 1});
  Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> const rectangle("rectangle", 4, 5);
  Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> const empty("empty", 0, 0);
  std::vector<double> elements(64);
  StridedView<double> const sparse(elements.data(), Kokkos::LayoutStride(4, 2, 4, 8));
  EXPECT_THROW(potrf(runtime, Uplo::Lower, rectangle), InvalidArgument);
  EXPECT_THROW(potrf(runtime, Uplo::Lower, empty), InvalidArgument);
  EXPECT_THROW(potrf(runtime, Uplo::Lower, sparse), InvalidArgument);
}

TEST_F(LinalgFiles, FactorsAFileLargerThanTheMemoryIntoAnother) {
  constexpr std::uint64_t n = 300;
  write_random_spd(file("A.h5"), n, 32, 1, ScalarType::Float64);
  for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
    Runtime runtime({.workers = 2, .host_memory = 8 * 32 * 32 * sizeof(double)});
    {
      auto a = open_matrix<double>(runtime, file("A.h5"), "/A", {.uplo = uplo, .tile = 32, .output = file("F.h5")});
      potrf(runtime, uplo, a);
      a.commit();
    }
    EXPECT_LE(runtime.host_memory_peak(), runtime.options().host_memory);
    auto const original = open_matrix<double>(runtime, file("A.h5"), "", {.uplo = uplo, .tile = 32});
    auto const factor =
        open_matrix<double>(runtime, file("F.h5"), uplo == Uplo::Lower ? "L" : "U", {.uplo = uplo, .tile = 32});
    EXPECT_LT(residual(runtime, original.tiles(), factor.tiles()), 1);
  }
}

TEST_F(LinalgFiles, WithoutAnOutputTheFactorStaysTemporary) {
  write_random_spd(file("A.h5"), 200, 32, 1, ScalarType::Float32);
  Runtime runtime({.workers = 2, .host_memory = 6 * 32 * 32 * sizeof(float)});
  auto const original = open_matrix<float>(runtime, file("A.h5"), "A", {.tile = 32});
  auto a = open_matrix<float>(runtime, file("A.h5"), "A", {.tile = 32});
  potrf(runtime, Uplo::Lower, a);
  EXPECT_LT(residual(runtime, original.tiles(), a.tiles()), 1);
  EXPECT_THROW(a.commit(), InvalidArgument);
}

TEST_F(LinalgFiles, AnOutputThatIsNotCommittedIsRemoved) {
  write_random_spd(file("A.h5"), 64, 32, 1, ScalarType::Float64);
  {
    Runtime runtime({.workers = 1});
    auto a = open_matrix<double>(runtime, file("A.h5"), "A", {.tile = 32, .output = file("F.h5")});
    potrf(runtime, Uplo::Lower, a);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(fs::path(file("A.h5")).parent_path()), fs::directory_iterator()), 1);
}

TEST_F(LinalgFiles, RefusesTheWrongTypeTriangleAndOutput) {
  write_random_spd(file("A.h5"), 64, 32, 1, ScalarType::Float64);
  Runtime runtime({.workers = 1});
  EXPECT_THROW(static_cast<void>(open_matrix<float>(runtime, file("A.h5"))), InvalidArgument);
  EXPECT_THROW(static_cast<void>(open_matrix<double>(runtime, file("A.h5"), "B")), InvalidArgument);
  EXPECT_THROW(static_cast<void>(open_matrix<double>(runtime, file("A.h5"), "A", {.output = file("A.h5")})),
               InvalidArgument);
  auto a = open_matrix<double>(runtime, file("A.h5"), "A", {.tile = 32});
  EXPECT_THROW(potrf(runtime, Uplo::Upper, a), InvalidArgument);
}

}  // namespace
}  // namespace granary
