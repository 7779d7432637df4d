// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The inverse from a Cholesky factor, and its diagonal, with a Runtime.
#include <gmock/gmock.h>

#include <cstdint>

#include "unit/linalg/api.hpp"
#include "unit/linalg/exact.hpp"

namespace granary::api_inverse_test {
namespace {

using namespace testing;

constexpr std::uint64_t tile = 16;

// An exact factor, whose inverse and its square are exact, too.
template <class T>
struct KnownInverse {
  ExactCholesky<T> matrix;
  Rectangle<T> inverse;

  explicit KnownInverse(std::uint64_t n) : matrix(n, 3), inverse(n, n) {
    auto const& l = matrix.lower;
    // L = D + N with N² = 0: L^-1 = D^-1 - D^-1 N D^-1.
    auto const x = rectangle_of<T>(n, n, [&](std::uint64_t i, std::uint64_t j) {
      return i == j ? T(1) / l(i, i) : i > j ? T(0) - l(i, j) / (l(i, i) * l(j, j)) : T(0);
    });
    inverse = multiply(op_of(Op::ConjTrans, x), x);
  }
  // The triangle of the inverse in a matrix that held `before`.
  [[nodiscard]] Rectangle<T> stored(Uplo uplo, Rectangle<T> const& before) const {
    return rectangle_of<T>(inverse.rows, inverse.cols, [&](std::uint64_t i, std::uint64_t j) {
      return in_triangle(uplo, i, j) ? inverse(i, j) : before(i, j);
    });
  }
};

template <class T>
class Inverses : public Files {
 protected:
  Runtime runtime{{.workers = 2, .host_memory = 20 * tile * tile * sizeof(T) + 1_MiB, .models = models_off}};
};
TYPED_TEST_SUITE(Inverses, Scalars);

template <class T>
void expect_diagonal(Kokkos::View<T*, Kokkos::HostSpace> const& d, Rectangle<T> const& inverse) {
  for (std::uint64_t i = 0; i < inverse.rows; ++i) ASSERT_EQ(d(i), inverse(i, i)) << i;
}

TYPED_TEST(Inverses, OfViewsAreExact) {
  using T = TypeParam;
  for (std::uint64_t const n : {1, 16, 41, 150}) {
    KnownInverse<T> const known(n);
    for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
      auto const factored = known.matrix.factored(uplo);
      auto const expected = known.stored(uplo, factored);
      Kokkos::View<T*, Kokkos::HostSpace> const d("d", n);
      auto const left = make_view<T, Kokkos::LayoutLeft>(factored);
      inverse_diag(this->runtime, uplo, left, d, tile);
      expect_diagonal(d, known.inverse);
      EXPECT_EQ(largest_difference(values_of(left), factored), 0) << "the factor was changed";
      potri(this->runtime, uplo, left, tile);
      EXPECT_EQ(largest_difference(values_of(left), expected), 0) << n << static_cast<char>(uplo);
      auto const right = make_view<T, Kokkos::LayoutRight>(factored);
      async::inverse_diag(this->runtime, uplo, right, d, tile).wait();
      expect_diagonal(d, known.inverse);
      async::potri(this->runtime, uplo, right, tile).wait();
      EXPECT_EQ(largest_difference(values_of(right), expected), 0) << n << static_cast<char>(uplo);
    }
  }
}

// 150 x 150 in tiles of 16: 55 tiles of a triangle, of which the memory holds a fifth.
TYPED_TEST(Inverses, OfFilesLargerThanTheMemoryAreExact) {
  using T = TypeParam;
  KnownInverse<T> const known(150);
  this->template write<T>("A.h5", known.matrix.a, tile);
  Runtime small({.workers = 2, .host_memory = 12 * tile * tile * sizeof(T), .models = models_off});
  for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
    auto const output = this->file("inverse.h5");
    Kokkos::View<T*, Kokkos::HostSpace> const d("d", 150);
    {
      auto a = open_matrix<T>(small, this->file("A.h5"), "A",
                              {.part = detail::part_of(uplo), .tile = tile, .output = output});
      potrf(small, uplo, a);
      inverse_diag(small, uplo, a, d);
      potri(small, uplo, a);
      a.commit();
    }
    expect_diagonal(d, known.inverse);
    auto const found = this->template read<T>("inverse.h5", tile);
    auto const zero = rectangle_of<T>(150, 150, [](auto, auto) { return T(0); });
    EXPECT_EQ(largest_difference(found, known.stored(uplo, zero)), 0) << static_cast<char>(uplo);
    EXPECT_LE(small.figures().host_memory_peak, small.options().host_memory);
  }
}

TYPED_TEST(Inverses, OnDevicesAreExact) {
  using T = TypeParam;
  KnownInverse<T> const known(150);
  Runtime on_devices(
      {.workers = 0, .devices = "host:2", .device_memory = 12 * tile * tile * sizeof(T), .models = models_off});
  auto const a = make_view<T, Kokkos::LayoutLeft>(known.matrix.factored(Uplo::Lower));
  Kokkos::View<T*, Kokkos::HostSpace> const d("d", 150);
  inverse_diag(on_devices, Uplo::Lower, a, d, tile);
  expect_diagonal(d, known.inverse);
  potri(on_devices, Uplo::Lower, a, tile);
  EXPECT_EQ(largest_difference(values_of(a), known.stored(Uplo::Lower, known.matrix.factored(Uplo::Lower))), 0);
}

TYPED_TEST(Inverses, OfSingularFactorsNameTheElement) {
  using T = TypeParam;
  for (auto const* const devices : {"none", "host:1"}) {
    Runtime on_devices({.workers = 1, .devices = devices, .models = models_off});
    LeftView<T> const a("a", 40, 40);
    Kokkos::View<T*, Kokkos::HostSpace> const d("d", 40);
    for (int call = 0; call < 2; ++call) {
      set(on_devices, T(0), T(1), a);
      a(30, 30) = T(0);
      try {
        if (call == 0) {
          potri(on_devices, Uplo::Lower, a, tile);
        } else {
          inverse_diag(on_devices, Uplo::Lower, a, d, tile);
        }
        FAIL() << "accepted";
      } catch (Singular const& error) {
        EXPECT_EQ(error.order(), 31U);
        EXPECT_THAT(error.what(),
                    ::testing::StartsWith("the matrix is singular: pivot 31 of its factorization is exactly zero "));
      }
    }
  }
}

TEST(InverseRefusals, OfOperandsThatDoNotFit) {
  Runtime runtime({.workers = 1, .models = models_off});
  LeftView<double> const wide("wide", 6, 8), square("square", 6, 6);
  Kokkos::View<double*, Kokkos::HostSpace> const longer("longer", 7);
  EXPECT_EQ(refusal([&] { potri(runtime, Uplo::Lower, wide); }), "potri: A 'wide' (6 x 8) is not square");
  EXPECT_EQ(refusal([&] { inverse_diag(runtime, Uplo::Lower, wide, longer); }),
            "inverse_diag: A 'wide' (6 x 8) is not square");
  EXPECT_EQ(refusal([&] { inverse_diag(runtime, Uplo::Lower, square, longer); }),
            "inverse_diag: the sizes of A 'square' (6 x 6) and d 'longer' (7 x 1) do not match");
  TaskEmitter tasks(runtime.submitter());
  auto all = detail::make_temporary_matrix<double>(runtime.submitter(), {6, 6, 4}, MatrixPart::All, "a");
  EXPECT_EQ(refusal([&] { granary::potri(tasks, all); }),
            "potri needs a factor with one stored triangle, as potrf returns it, not all");
  all.release(runtime.submitter());
}

}  // namespace
}  // namespace granary::api_inverse_test
