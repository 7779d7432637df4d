// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrices by the names that the programs accept.
#include <gmock/gmock.h>

#include "unit/linalg/api.hpp"
#include "unit/linalg/bounds.hpp"

namespace granary::generated_matrix_test {
namespace {

using namespace testing;
using ::testing::HasSubstr;

constexpr std::uint64_t tile = 32;

template <class T>
class Generated : public Files {};
TYPED_TEST_SUITE(Generated, Scalars);

template <class T>
FileMatrix<T> generate(Runtime& runtime, std::string const& name, FileMatrixOptions options = {}) {
  options.tile = tile;
  return open_matrix<T>(runtime, name, "", options);
}

TYPED_TEST(Generated, AMatrixIsFactoredAndItsFactorWritten) {
  using T = TypeParam;
  Runtime runtime({.workers = 2, .host_memory = 10 * tile * tile * sizeof(T), .models = models_off});
  auto matrix = generate<T>(runtime, "spd:150:100", {.part = MatrixPart::Lower, .output = this->file("L.h5")});
  EXPECT_EQ(matrix.name(), "spd:150:100:1");
  potrf(runtime, Uplo::Lower, matrix);
  matrix.commit();
  auto const factor = open_matrix<T>(runtime, this->file("L.h5"), "L", {.part = MatrixPart::Lower, .tile = tile});
  auto const original = generate<T>(runtime, "spd:150:100");
  auto const lower = triangle_of(Uplo::Lower, Diag::NonUnit, this->template read<T>("L.h5", tile));
  EXPECT_LE(potrf_residual(runtime, Uplo::Lower, original, factor),
            2 * ratio_bound(lower, op_of(Op::ConjTrans, lower), lange(runtime, Norm::One, original)));
}

TYPED_TEST(Generated, IsTheProgramsMatrix) {
  using T = TypeParam;
  Runtime runtime({.workers = 1, .models = models_off});
  auto const matrix = generate<T>(runtime, "general:40x70:5");
  LeftView<T> const values("values", 40, 70);
  copy(runtime, matrix, values);
  auto const source = std::shared_ptr(open_generated("general:40x70:5", tile, scalar_type_of<T>));
  auto by_hand = add_file_matrix<T>(runtime.session(), {40, 70, tile}, MatrixPart::All, "A", source, nullptr);
  LeftView<T> const expected("expected", 40, 70);
  copy(runtime, by_hand, expected);
  by_hand.release(runtime.submitter());
  EXPECT_EQ(largest_difference(values_of(values), values_of(expected)), 0);
  EXPECT_GT(lange(runtime, Norm::Max, matrix), 0.5);
}

TEST(GeneratedNames, ThatCannotBeAreRefused) {
  Runtime runtime({.workers = 1, .models = models_off});
  auto const refused = [&](std::string const& name, FileMatrixOptions const& options = {},
                           std::string const& dataset = "") {
    return refusal([&] { static_cast<void>(open_matrix<double>(runtime, name, dataset, options)); });
  };
  EXPECT_THAT(refused("spd:64"), HasSubstr("malformed input 'spd:64': write spd:N:CONDITION[:SEED]"));
  EXPECT_THAT(refused("general:0"), HasSubstr("malformed input 'general:0'"));
  EXPECT_EQ(refused("random:64", {}, "/A"), "random:64 is generated: it has no datasets such as /A");
  EXPECT_EQ(refused("general:40x50:1", {.part = MatrixPart::Lower}),
            "general:40x50:1 is not square, so it has no triangle: it is 40 x 50");
  EXPECT_THAT(refused("random:64", {.tile = 0}), HasSubstr("tile size must be at least 1"));
  EXPECT_THAT(refused("unknown:64"), HasSubstr("cannot open")) << "the name of a file";
}

}  // namespace
}  // namespace granary::generated_matrix_test
