// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Refusals of calls with a Runtime, before anything is changed.
#include "unit/linalg/api.hpp"

namespace granary::api_refusals_test {
namespace {

using namespace testing;
using View = LeftView<double>;

class ApiRefusals : public ::testing::Test {
 protected:
  Runtime runtime{{.workers = 1}};
  View a{"a", 6, 6}, wide{"wide", 6, 8}, b{"b", 6, 2}, short_b{"short", 5, 2};
};

struct FactorInside {
  static constexpr bool launches_kokkos_kernels = false;
  Runtime* runtime;
  View matrix;
  template <class Exec, class X>
  void operator()(Exec const&, X) const {
    potrf(*runtime, Uplo::Lower, matrix);
  }
};

TEST_F(ApiRefusals, CallsInsideTasksBeforeTheyRegisterAnything) {
  auto const data = runtime.data(b);
  runtime.submit("factors", FactorInside{&runtime, a}, read_write(data));
  EXPECT_EQ(refusal([&] {
              runtime.wait();
            }).find("potrf cannot be called inside a task of the same Runtime: it would wait for itself"),
            0U);
}

// Cut to 32 bits the strides would be -2147483643 and 3.
TEST_F(ApiRefusals, StridesThatKernelsCannotCount) {
  using Strided = Kokkos::View<double**, Kokkos::LayoutStride, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
  double elements[9] = {4, 0, 0, 0, 4, 0, 0, 0, 4};
  for (std::size_t const stride : {(std::size_t{1} << 31) + 5, (std::size_t{1} << 32) + 3}) {
    auto const expected = "has strides 1 and " + std::to_string(stride) + ": the kernels count up to 2147483647";
    Strided const apart(elements, Kokkos::LayoutStride(3, 1, 3, stride));
    View const x{"x", 3, 1};
    EXPECT_NE(refusal([&] { potrf(runtime, Uplo::Lower, apart); }).find(expected), std::string::npos);
    EXPECT_NE(refusal([&] { static_cast<void>(gesv(runtime, apart, x)); }).find(expected), std::string::npos);
    EXPECT_NE(refusal([&] { static_cast<void>(lange(runtime, Norm::Max, apart)); }).find(expected), std::string::npos);
  }
  EXPECT_EQ(elements[4], 4);
}

TEST_F(ApiRefusals, SizesThatDoNotMatchWithNamesAndShapes) {
  EXPECT_EQ(refusal([&] { potrf(runtime, Uplo::Lower, wide); }), "potrf: A 'wide' (6 x 8) is not square");
  EXPECT_EQ(refusal([&] { potrs(runtime, Uplo::Lower, a, short_b); }),
            "potrs: the sizes of A 'a' (6 x 6) and B 'short' (5 x 2) do not match");
  EXPECT_EQ(refusal([&] { posv(runtime, Uplo::Lower, wide, b); }), "posv: A 'wide' (6 x 8) is not square");
  EXPECT_EQ(refusal([&] { posv(runtime, Uplo::Lower, a, short_b); }),
            "posv: the sizes of A 'a' (6 x 6) and B 'short' (5 x 2) do not match");
  EXPECT_EQ(refusal([&] { static_cast<void>(gesv(runtime, wide, b)); }), "gesv: A 'wide' (6 x 8) is not square");
  EXPECT_EQ(refusal([&] { static_cast<void>(gesv(runtime, a, short_b)); }),
            "gesv: the sizes of A 'a' (6 x 6) and B 'short' (5 x 2) do not match");
  EXPECT_EQ(refusal([&] { getrs_nopiv(runtime, Op::NoTrans, a, short_b); }),
            "getrs_nopiv: the sizes of A 'a' (6 x 6) and B 'short' (5 x 2) do not match");
  EXPECT_EQ(refusal([&] {
              getrs(runtime, Op::NoTrans, a, Pivots({7, 7, 4}), b);
            }),
            "getrs: the pivots of a matrix of 7 x 7 do not fit A 'a' (6 x 6)");
  EXPECT_EQ(refusal([&] {
              laswp(runtime, b, Pivots({7, 7, 4}), detail::SwapDirection::Forward);
            }),
            "laswp: the pivots of a matrix of 7 x 7 do not fit B 'b' (6 x 2)");
  EXPECT_EQ(refusal([&] { gemm(runtime, Op::Trans, Op::NoTrans, 1, wide, b, 0, short_b); }),
            "gemm: the sizes of A 'wide' (6 x 8, transposed), B 'b' (6 x 2) and C 'short' (5 x 2) do not match");
  EXPECT_EQ(refusal([&] { trsm(runtime, Side::Right, Uplo::Lower, Op::NoTrans, Diag::Unit, 1, a, b); }),
            "trsm: the sizes of A 'a' (6 x 6) and B 'b' (6 x 2) do not match");
  EXPECT_EQ(refusal([&] { trmm(runtime, Side::Left, Uplo::Lower, Op::NoTrans, Diag::Unit, 1, wide, b); }),
            "trmm: A 'wide' (6 x 8) is not square");
  EXPECT_EQ(refusal([&] { herk(runtime, Uplo::Lower, Op::NoTrans, 1, short_b, 0, a); }),
            "herk: the sizes of A 'short' (5 x 2) and C 'a' (6 x 6) do not match");
  EXPECT_EQ(refusal([&] { syrk(runtime, Uplo::Lower, Op::NoTrans, 1, b, 0, wide); }),
            "syrk: the sizes of A 'b' (6 x 2) and C 'wide' (6 x 8) do not match");
  EXPECT_EQ(refusal([&] { hemm(runtime, Side::Right, Uplo::Lower, 1, a, b, 0, View("c", 6, 2)); }),
            "hemm: the sizes of A 'a' (6 x 6), B 'b' (6 x 2) and C 'c' (6 x 2) do not match");
  EXPECT_EQ(refusal([&] { symm(runtime, Side::Right, Uplo::Lower, 1, a, b, 0, View("c", 6, 2)); }),
            "symm: the sizes of A 'a' (6 x 6), B 'b' (6 x 2) and C 'c' (6 x 2) do not match");
  EXPECT_EQ(refusal([&] { static_cast<void>(lanhe(runtime, Norm::One, Uplo::Lower, wide)); }),
            "lanhe: A 'wide' (6 x 8) is not square");
  EXPECT_EQ(refusal([&] { copy(runtime, wide, b); }),
            "copy: the sizes of A 'wide' (6 x 8) and B 'b' (6 x 2) do not match");
  EXPECT_EQ(refusal([&] { add(runtime, 1, wide, 1, b); }),
            "add: the sizes of A 'wide' (6 x 8) and B 'b' (6 x 2) do not match");
  EXPECT_EQ(refusal([&] { transpose(runtime, Op::Trans, wide, View("c", 6, 8)); }),
            "transpose: the sizes of A 'wide' (6 x 8, transposed) and B 'c' (6 x 8) do not match");
  EXPECT_EQ(refusal([&] { static_cast<void>(posv_mixed(runtime, Uplo::Lower, a, b, short_b)); }),
            "posv_mixed: the sizes of A 'a' (6 x 6), B 'b' (6 x 2) and X 'short' (5 x 2) do not match");
  EXPECT_EQ(refusal([&] { static_cast<void>(gesv_mixed(runtime, wide, b, View("x", 6, 2))); }),
            "gesv_mixed: A 'wide' (6 x 8) is not square");
}

TEST_F(ApiRefusals, ViewsWithoutElementsOrWithBadStrides) {
  std::vector<double> elements(64);
  auto const strided = [&](std::size_t row, std::size_t col) {
    return StridedView<double>(elements.data(), Kokkos::LayoutStride(4, row, 4, col));
  };
  EXPECT_EQ(refusal([&] { potrf(runtime, Uplo::Lower, View("empty", 0, 0)); }), "the View 'empty' of 0 x 0 is empty");
  EXPECT_EQ(refusal([&] { potrf(runtime, Uplo::Lower, strided(2, 8)); }),
            "the View '' of 4 x 4 has strides 2 and 8: one of them must be 1");
  EXPECT_EQ(refusal([&] { potrf(runtime, Uplo::Lower, strided(1, 3)); }),
            "the View '' of 4 x 4 has strides 1 and 3: its elements overlap");
  EXPECT_EQ(refusal([&] { potrf(runtime, Uplo::Lower, strided(1, static_cast<std::size_t>(-4))); }),
            "the View '' of 4 x 4 has strides 1 and -4: none may be negative");
}

TEST_F(ApiRefusals, TilesOfOrderZeroAndTilesThatDiffer) {
  EXPECT_EQ(refusal([&] { potrf(runtime, Uplo::Lower, a, 0); }), "potrf: the tile size must be at least 1, not 0");
  EXPECT_EQ(refusal([&] { static_cast<void>(create_matrix<double>(runtime, 6, 5, {.tile = 0})); }),
            "a matrix of 6 x 5 with tile size 0 was requested; all three must be at least 1");
  auto const file = create_matrix<double>(runtime, 6, 6, {.tile = 4});
  EXPECT_EQ(refusal([&] { copy(runtime, a, file, MatrixPart::All, 3); }),
            "copy: tile size 3 was requested, but B 'temporary' (6 x 6) has tile size 4");
  auto const other = create_matrix<double>(runtime, 6, 2, {.tile = 2});
  EXPECT_EQ(refusal([&] { potrs(runtime, Uplo::Lower, file, other); }),
            "potrs: A 'temporary' (6 x 6) has tile size 4, B 'temporary' (6 x 2) has tile size 2");
}

TEST_F(ApiRefusals, OutputsThatShareElementsWithAnotherOperand) {
  EXPECT_EQ(refusal([&] { copy(runtime, a, a); }),
            "copy: A 'a' (6 x 6) and B 'a' (6 x 6) share elements, and one of them is written");
  EXPECT_EQ(refusal([&] {
              posv(runtime, Uplo::Lower, a, Kokkos::subview(a, Kokkos::ALL, std::pair{4, 6}));
            }),
            "posv: A 'a' (6 x 6) and B 'a' (6 x 2) share elements, and one of them is written");
  EXPECT_EQ(refusal([&] { gemm(runtime, Op::NoTrans, Op::NoTrans, 1.0, a, b, 0.0, b); }),
            "gemm: B 'b' (6 x 2) and C 'b' (6 x 2) share elements, and one of them is written");
  auto const tiled = create_matrix<double>(runtime, 6, 6, {.tile = 4});
  EXPECT_EQ(refusal([&] { transpose(runtime, Op::Trans, tiled, tiled.tiles()); }),
            "transpose: A 'temporary' (6 x 6, transposed) and B (6 x 6) share elements, and one of them is written");
}

TEST_F(ApiRefusals, NothingButWhatIsWrittenMustBeDistinct) {
  Kokkos::deep_copy(a, 1.0);
  Kokkos::deep_copy(wide, 1.0);
  View const c("c", 6, 6);
  gemm(runtime, Op::NoTrans, Op::Trans, 1.0, a, a, 0.0, c);
  EXPECT_EQ(c(3, 4), 6);
  // Two halves of one View, one of which is written.
  copy(runtime, Kokkos::subview(wide, std::pair{0, 3}, Kokkos::ALL),
       Kokkos::subview(wide, std::pair{3, 6}, Kokkos::ALL));
  copy(runtime, Kokkos::subview(wide, Kokkos::ALL, std::pair{0, 4}),
       Kokkos::subview(wide, Kokkos::ALL, std::pair{4, 8}));
}

TEST_F(ApiRefusals, NothingWasChanged) {
  Kokkos::deep_copy(a, 3.0);
  Kokkos::deep_copy(short_b, 4.0);
  static_cast<void>(refusal([&] { posv(runtime, Uplo::Lower, a, short_b); }));
  EXPECT_EQ(a(0, 0), 3);
  EXPECT_EQ(short_b(0, 0), 4);
  runtime.wait();
}

TEST_F(ApiRefusals, MatricesThatWereOpenedWithAnotherPart) {
  auto const lower = create_matrix<double>(runtime, 6, 6, {.part = MatrixPart::Lower, .tile = 4});
  EXPECT_EQ(refusal([&] { potrf(runtime, Uplo::Upper, lower); }),
            "potrf needs the upper triangle of A 'temporary' (6 x 6), which was opened with the lower triangle");
  EXPECT_EQ(refusal([&] { static_cast<void>(getrf(runtime, lower)); }),
            "getrf needs all of A 'temporary' (6 x 6), which was opened with the lower triangle");
}

}  // namespace
}  // namespace granary::api_refusals_test
