// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrices in files larger than the memory, with a Runtime.
#include <granary/detail/core/engine/statistics.hpp>
#include <granary/detail/core/model/trace.hpp>
#include <granary/detail/linalg/generators/spd_generator.hpp>

#include <set>

#include "unit/linalg/api.hpp"
#include "unit/linalg/lu.hpp"

namespace granary::api_files_test {

using namespace detail;

namespace {

using namespace testing;

constexpr std::uint64_t tile = 32;

template <class T>
class ApiFiles : public Files {
 protected:
  // Memory for that many tiles.
  static RuntimeOptions limit(std::uint64_t tiles) {
    return {.workers = 2, .host_memory = tiles * tile * tile * sizeof(T)};
  }
  [[nodiscard]] FileMatrix<T> open(Runtime& runtime, std::string const& name, MatrixPart part = MatrixPart::All) const {
    return open_matrix<T>(runtime, this->file(name), "", {.part = part, .tile = tile});
  }
};
TYPED_TEST_SUITE(ApiFiles, Scalars);

TYPED_TEST(ApiFiles, ACholeskyFactorIsWrittenAndSolvesLater) {
  using T = TypeParam;
  auto const a = ExactCholesky<T>(200).a;
  auto const x = random_eighths<T>(200, 40, 3);
  this->write("A.h5", a, tile);
  this->write("B.h5", multiply(a, x), tile);
  for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
    Runtime runtime(this->limit(10));
    {
      auto matrix = open_matrix<T>(runtime, this->file("A.h5"), "/A",
                                   {.part = part_of(uplo), .tile = tile, .output = this->file("F.h5")});
      potrf(runtime, uplo, matrix);
      matrix.commit();
    }
    auto const original = this->open(runtime, "A.h5");
    auto const factor = open_matrix<T>(runtime, this->file("F.h5"), uplo == Uplo::Lower ? "L" : "U",
                                       {.part = part_of(uplo), .tile = tile});
    EXPECT_EQ(potrf_residual(runtime, uplo, original, factor), 0);
    auto b = open_matrix<T>(runtime, this->file("B.h5"), "A",
                            {.tile = tile, .output = this->file("X.h5"), .output_dataset = "X"});
    potrs(runtime, uplo, factor, b);
    b.commit();
    EXPECT_EQ(largest_difference(this->template read<T>("X.h5", tile), x), 0);
    EXPECT_LE(runtime.figures().host_memory_peak, runtime.options().host_memory);
  }
}

TYPED_TEST(ApiFiles, LuFactorsOfAnyShapeAreWritten) {
  using T = TypeParam;
  for (auto const& [rows, cols] : {std::pair{200, 200}, {230, 100}, {100, 230}}) {
    auto const a = random_rectangle<T>(static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(cols));
    this->write("A.h5", a, tile);
    Runtime runtime(this->limit(14));
    auto matrix = open_matrix<T>(runtime, this->file("A.h5"), "", {.tile = tile, .output = this->file("LU.h5")});
    auto const pivots = getrf(runtime, matrix);
    matrix.commit();
    // The residual is at most the sum of a column of errors, over n u ‖A‖₁.
    auto const original = this->open(runtime, "A.h5");
    double const bound = lu_bound(this->template read<T>("LU.h5", tile));
    double const unit = rounding<T>(cols) * lange(runtime, Norm::One, original);
    EXPECT_LE(getrf_residual(runtime, original, this->open(runtime, "LU.h5"), &pivots), rows * bound / unit);
    EXPECT_LE(runtime.figures().host_memory_peak, runtime.options().host_memory);
  }
}

TYPED_TEST(ApiFiles, SolvesOfGeneralSystems) {
  using T = TypeParam;
  auto const a = exact_permuted_upper<T>(200);
  auto const x = random_eighths<T>(200, 40, 3);
  this->write("A.h5", a, tile);
  this->write("B.h5", multiply(a, x), tile);
  Runtime runtime(this->limit(14));
  auto const matrix = this->open(runtime, "A.h5");
  auto const b = this->open(runtime, "B.h5");
  static_cast<void>(gesv(runtime, matrix, b));
  EXPECT_EQ(solve_residual(runtime, Op::NoTrans, this->open(runtime, "A.h5"), b, this->open(runtime, "B.h5")), 0);
  // A View of right-hand sides with a matrix in a file.
  auto const view = make_view<T, Kokkos::LayoutLeft>(multiply(a, x), "B");
  static_cast<void>(gesv(runtime, this->open(runtime, "A.h5"), view));
  EXPECT_EQ(largest_difference(values_of(view), x), 0);
}

TYPED_TEST(ApiFiles, LuFactorsWithTheirPivotsSolveLater) {
  using T = TypeParam;
  auto const a = exact_permuted_upper<T>(100);
  auto const x = random_eighths<T>(100, 3, 3);
  this->write("A.h5", a, tile);
  Runtime runtime(this->limit(14));
  {
    auto matrix = open_matrix<T>(runtime, this->file("A.h5"), "",
                                 {.tile = tile, .output = this->file("LU.h5"), .output_dataset = "LU"});
    matrix.add_pivots(getrf(runtime, matrix));
    matrix.commit();
  }
  auto const lu = open_matrix<T>(runtime, this->file("LU.h5"), "LU", {.tile = tile});
  auto const pivots = open_pivots(this->file("LU.h5"), lu.tiles().grid());
  auto const view = make_view<T, Kokkos::LayoutLeft>(multiply(op_of(Op::Trans, a), x), "B");
  getrs(runtime, Op::Trans, lu, pivots, view);
  EXPECT_EQ(largest_difference(values_of(view), x), 0);
  EXPECT_THROW(static_cast<void>(open_pivots(this->file("LU.h5"), {90, 90, tile})), DataError);
  EXPECT_THROW(static_cast<void>(open_pivots(this->file("LU.h5"), lu.tiles().grid(), "LU")), DataError);
  EXPECT_THROW(static_cast<void>(open_pivots(this->file("A.h5"), lu.tiles().grid())), DataError);
}

TYPED_TEST(ApiFiles, AMatrixOfAllServesForATriangle) {
  using T = TypeParam;
  auto const a = ExactCholesky<T>(100).a;
  this->write("A.h5", a, tile);
  Runtime runtime(this->limit(10));
  auto const matrix = this->open(runtime, "A.h5");
  potrf(runtime, Uplo::Upper, matrix);
  EXPECT_EQ(potrf_residual(runtime, Uplo::Upper, this->open(runtime, "A.h5"), matrix), 0);
  // Its output would have only the factor's triangle.
  auto const whole = open_matrix<T>(runtime, this->file("A.h5"), "", {.tile = tile, .output = this->file("F.h5")});
  EXPECT_NE(refusal([&] { potrf(runtime, Uplo::Upper, whole); }).find("MatrixPart::Upper"), std::string::npos);
}

TYPED_TEST(ApiFiles, ProductsNormsAndTransposesOfFiles) {
  using T = TypeParam;
  auto const a = random_eighths<T>(150, 100);
  this->write("A.h5", a, tile);
  Runtime runtime(this->limit(8));
  auto const matrix = this->open(runtime, "A.h5");
  auto turned =
      create_matrix<T>(runtime, 100, 150, {.tile = tile, .output = this->file("T.h5"), .output_dataset = "T"});
  transpose(runtime, Op::Trans, matrix, turned);
  auto product =
      create_matrix<T>(runtime, 100, 100, {.tile = tile, .output = this->file("C.h5"), .output_dataset = "C"});
  gemm(runtime, Op::ConjTrans, Op::Trans, T(1), matrix, turned, T(0), product);
  EXPECT_EQ(lange(runtime, Norm::Frobenius, matrix), lange(runtime, Norm::Frobenius, turned));
  turned.commit();
  product.commit();
  EXPECT_EQ(largest_difference(this->template read<T>("C.h5", tile), multiply(op_of(Op::ConjTrans, a), a)), 0);
  EXPECT_EQ(largest_difference(this->template read<T>("T.h5", tile), op_of(Op::Trans, a)), 0);
  EXPECT_LE(runtime.figures().host_memory_peak, runtime.options().host_memory);
}

class ApiFilesOfDouble : public Files {};

TEST_F(ApiFilesOfDouble, MixedPrecisionUnderAMemoryLimit) {
  auto const x = random_eighths<double>(200, 40, 3);
  Runtime runtime({.workers = 2, .host_memory = 12 * tile * tile * sizeof(double)});
  for (bool const cholesky : {true, false}) {
    // Also exact in single precision.
    auto const a = cholesky ? ExactCholesky<double>(200).a : exact_permuted_upper<double>(200);
    write("A.h5", a, tile);
    write("B.h5", multiply(a, x), tile);
    auto const matrix = open_matrix<double>(runtime, file("A.h5"), "", {.tile = tile});
    auto const b = open_matrix<double>(runtime, file("B.h5"), "", {.tile = tile});
    auto result =
        create_matrix<double>(runtime, 200, 40, {.tile = tile, .output = file("X.h5"), .output_dataset = "X"});
    auto const report =
        cholesky ? posv_mixed(runtime, Uplo::Lower, matrix, b, result) : gesv_mixed(runtime, matrix, b, result);
    EXPECT_TRUE(report.used_float) << report.reason;
    EXPECT_EQ(solve_residual(runtime, Op::NoTrans, matrix, result, b), 0);
    result.commit();
    EXPECT_EQ(largest_difference(read<double>("X.h5", tile), x), 0);
  }
  EXPECT_LE(runtime.figures().host_memory_peak, runtime.options().host_memory);
}

// Padding of tiles and generated values do not count as traffic of files.
TEST_F(ApiFilesOfDouble, BytesReadAreThoseOfTheFiles) {
  write("A.h5", random_rectangle<double>(200, 40, 3), 200);
  constexpr Bytes bytes = 200 * 40 * sizeof(double);
  Runtime runtime({.workers = 1, .host_memory = 1_MiB, .models = models_off});
  auto const generated = open_matrix<double>(runtime, "general:200x40", "", {.tile = 40});
  EXPECT_GT(lange(runtime, Norm::Max, generated), 0);
  EXPECT_GE(runtime.statistics().planner.links[1].bytes, bytes);
  EXPECT_EQ(runtime.figures().bytes_read, 0U);
  auto const matrix = open_matrix<double>(runtime, file("A.h5"), "", {.tile = 40});
  EXPECT_GT(lange(runtime, Norm::Max, matrix), 0);
  EXPECT_EQ(runtime.figures().bytes_read, runtime.session().io()->bytes_read());
  EXPECT_GE(runtime.figures().bytes_read, bytes);
  EXPECT_EQ(runtime.figures().bytes_written, 0U);
}

TEST_F(ApiFilesOfDouble, AnOutputThatIsNotCommittedIsRemoved) {
  write_random_spd(file("A.h5"), 64, tile, 1, ScalarType::Float64);
  {
    Runtime runtime({.workers = 1});
    auto const a = open_matrix<double>(runtime, file("A.h5"), "A",
                                       {.part = MatrixPart::Lower, .tile = tile, .output = file("F.h5")});
    potrf(runtime, Uplo::Lower, a);
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory()), std::filesystem::directory_iterator()), 1);
}

TEST_F(ApiFilesOfDouble, IsOfNoUseOnceItIsCommitted) {
  Runtime runtime({.workers = 1});
  auto a = create_matrix<double>(runtime, 40, 40, {.tile = tile, .output = file("A.h5")});
  set(runtime, 0.0, 1.0, a);
  a.commit();
  EXPECT_EQ(refusal([&] { set(runtime, 0.0, 1.0, a); }), file("A.h5") + " was committed: open its output instead");
  EXPECT_THROW(a.commit(), InvalidArgument);
  EXPECT_EQ(lange(runtime, Norm::Frobenius, open_matrix<double>(runtime, file("A.h5"), "A", {.tile = tile})),
            std::sqrt(40.0));
}

TEST_F(ApiFilesOfDouble, MayBeDestroyedAfterItsRuntime) {
  write("A.h5", random_rectangle<double>(40, 40), tile);
  {
    std::optional<Runtime> runtime(std::in_place, RuntimeOptions{.workers = 1, .models = models_off});
    auto a = open_matrix<double>(*runtime, file("A.h5"), "A", {.tile = tile, .output = file("B.h5"), .name = "K"});
    set(*runtime, 0.0, 1.0, a);
    runtime.emplace(RuntimeOptions{.workers = 1, .models = models_off});
    std::string const ended = "K is of a Runtime that has ended";
    EXPECT_EQ(refusal([&] { a.commit(); }), ended);
    EXPECT_EQ(refusal([&] { static_cast<void>(a.tile(0, 0)); }), ended);
    EXPECT_EQ(refusal([&] { set(*runtime, 0.0, 1.0, a); }), ended);
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory()), std::filesystem::directory_iterator()), 1);
}

TEST_F(ApiFilesOfDouble, AVectorIsSolvedInPlaceAndStaysOne) {
  auto const a = ExactCholesky<double>(100).a;
  auto const x = random_eighths<double>(100, 1, 3);
  auto const b = multiply(a, x);
  write("A.h5", a, tile);
  MatrixSinkOptions const vector{.rows = 100,
                                 .cols = 1,
                                 .tile = 64,
                                 .part = MatrixPart::All,
                                 .dataset = "b",
                                 .dimensions = 1,
                                 .columns = {"rain"}};
  Runtime runtime({.workers = 2, .host_memory = 10 * tile * tile * sizeof(double)});
  {
    auto const values = make_view<double, Kokkos::LayoutLeft>(b);
    auto const sink = make_sink(runtime.session(), file("b.h5"), vector);
    auto tiles = add_file_matrix<double>(runtime.session(), {100, 1, 64}, MatrixPart::All, "b", nullptr, sink);
    TaskEmitter tasks(runtime.submitter());
    auto source = add_view_matrix(runtime.session(), values, 64, MatrixPart::All);
    copy(tasks, source, tiles, OtherTriangle::Kept);
    tiles.release(runtime.submitter());
    source.release(runtime.submitter());
    runtime.wait();
    commit_sink(runtime.session(), *sink);
  }
  auto matrix = open_matrix<double>(runtime, file("A.h5"), "", {.part = MatrixPart::Lower, .tile = tile});
  auto right = open_matrix<double>(runtime, file("b.h5"), "", {.tile = tile, .output = file("x.h5")});
  posv(runtime, Uplo::Lower, matrix, right);
  right.commit();
  auto const info = open_matrix_file(file("x.h5"));
  EXPECT_EQ(info.dataset, "/b");
  EXPECT_EQ(info.dimensions, 1U);
  EXPECT_EQ(info.columns, std::vector<std::string>{"rain"});
  EXPECT_EQ(largest_difference(read<double>("x.h5", tile), x), 0);
}

TEST_F(ApiFilesOfDouble, HaveTheNameThatTheApplicationGivesThem) {
  write("A.h5", random_rectangle<double>(40, 40), tile);
  Runtime runtime({.workers = 1, .devices = "none", .record_trace = true});
  auto const a = open_matrix<double>(runtime, file("A.h5"), "A", {.tile = tile, .name = "covariance"});
  auto const b = create_matrix<double>(runtime, 40, 40, {.tile = tile, .name = "copy"});
  EXPECT_EQ(a.name(), "covariance");
  EXPECT_EQ(refusal([&] { static_cast<void>(b.tile(9, 0)); }).find("there is no tile copy(9, 0): "), 0U);
  copy(runtime, a, b);
  static_cast<void>(lange(runtime, Norm::One, a));
  static_cast<void>(getrf(runtime, b));
  std::set<std::string> names;
  for (auto const& datum : runtime.trace().data) names.insert(datum.name);
  for (auto const* name :
       {"covariance(1, 0)", "copy(0, 1)", "norm of covariance", "partial norm of covariance", "panel of copy"}) {
    EXPECT_EQ(names.count(name), 1U) << name;
  }
}

TEST_F(ApiFilesOfDouble, RefusesTheWrongTypeShapeAndOutput) {
  write_random_spd(file("A.h5"), 64, tile, 1, ScalarType::Float64);
  write("wide.h5", random_rectangle<double>(40, 50), tile);
  Runtime runtime({.workers = 1});
  auto const open_as_float = [&] { static_cast<void>(open_matrix<float>(runtime, file("A.h5"))); };
  EXPECT_EQ(refusal(open_as_float), file("A.h5") + ":/A holds double, not float");
  EXPECT_THROW(static_cast<void>(open_matrix<double>(runtime, file("A.h5"), "B")), InvalidArgument);
  EXPECT_THROW(static_cast<void>(open_matrix<double>(runtime, file("A.h5"), "A", {.output = file("A.h5")})),
               InvalidArgument);
  EXPECT_THROW(static_cast<void>(open_matrix<double>(runtime, file("A.h5"), "A", {.tile = 0})), InvalidArgument);
  EXPECT_NE(refusal([&] {
              static_cast<void>(open_matrix<double>(runtime, file("wide.h5"), "A", {.part = MatrixPart::Lower}));
            }).find("it is 40 x 50"),
            std::string::npos);
  auto a = open_matrix<double>(runtime, file("A.h5"), "A", {.tile = tile});
  EXPECT_EQ(refusal([&] { a.commit(); }), file("A.h5") + ":/A was opened without an output");
}

TEST_F(ApiFilesOfDouble, AnOutputDoesNotReplaceWhatAnotherMatrixReads) {
  write("A.h5", random_rectangle<double>(40, 40), tile);
  Runtime runtime({.workers = 1});
  auto const create = [&] {
    return create_matrix<double>(runtime, 40, 40, {.tile = tile, .output = file("A.h5"), .output_dataset = "A"});
  };
  {
    auto const a = open_matrix<double>(runtime, file("A.h5"), "A", {.tile = tile});
    EXPECT_NE(refusal([&] { create(); }).find(file("A.h5") + " is open as an input"), std::string::npos);
  }
  auto b = create();
  set(runtime, 0.0, 1.0, b);
  EXPECT_NE(refusal([&] {
              static_cast<void>(open_matrix<double>(runtime, file("A.h5"), "A", {.tile = tile}));
            }).find("will be replaced by an output of this process"),
            std::string::npos);
  b.commit();
  EXPECT_EQ(lange(runtime, Norm::Max, open_matrix<double>(runtime, file("A.h5"), "A", {.tile = tile})), 1.0);
}

TEST_F(ApiFilesOfDouble, NewTrianglesAreSetAndCopiedWhole) {
  Runtime runtime({.workers = 1});
  LeftView<double> const from("from", 40, 40), to("to", 40, 40);
  Kokkos::deep_copy(from, 3.0);
  auto const a = create_matrix<double>(runtime, 40, 40, {.part = MatrixPart::Lower, .tile = tile});
  for (auto const part : {MatrixPart::All, MatrixPart::Lower}) {
    set(runtime, 0.5, 2.0, a, part);
    copy(runtime, a, to, MatrixPart::Lower);
    for (int i = 0; i < 40; ++i) {
      for (int j = 0; j < 40; ++j) ASSERT_EQ(to(i, j), i == j ? 2.0 : i > j ? 0.5 : 0.0) << i << ' ' << j;
    }
  }
  auto const b = create_matrix<double>(runtime, 40, 40, {.part = MatrixPart::Lower, .tile = tile});
  copy(runtime, from, b, MatrixPart::Lower);
  EXPECT_EQ(lanhe(runtime, Norm::One, Uplo::Lower, b), 120.0);
}

}  // namespace
}  // namespace granary::api_files_test
