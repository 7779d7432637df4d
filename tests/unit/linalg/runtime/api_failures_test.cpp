// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Failures of calls with a Runtime name the matrix and the line of the call.
#include <gmock/gmock.h>

#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>

#include "unit/linalg/api.hpp"

namespace granary::api_failures_test {
namespace {

using namespace ::testing;
using View = testing::LeftView<double>;

constexpr std::uint64_t tile = 16;
constexpr char const* not_definite =
    "the matrix is not positive definite: its leading minor of order 1 is not positive";

// What `call` throws as an E.
template <class E, class Call>
std::string whole_message(Call&& call) {
  try {
    call();
  } catch (E const& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing of that type was thrown";
  return {};
}

auto ends_at(int line) { return EndsWith("api_failures_test.cpp:" + std::to_string(line) + ")"); }

class ApiFailures : public ::testing::TestWithParam<char const*> {
 protected:
  Runtime runtime{{.workers = 2U, .devices = GetParam(), .models = models_off}};
  View zero{"covariance", 40, 40}, right{"observations", 40, 2};
};

TEST_P(ApiFailures, OfFactorizationsNameTheTileAndTheLine) {
  int line = 0;
  try {
    line = __LINE__ + 1;
    potrf(runtime, Uplo::Lower, zero, tile);
    FAIL() << "accepted";
  } catch (NotPositiveDefinite const& error) {
    EXPECT_EQ(error.order(), 1U);
    EXPECT_THAT(error.what(),
                StartsWith(std::string(not_definite) + " (in task 'potrf' 0 on 'covariance(0, 0)', submitted at "));
    EXPECT_THAT(error.what(), ends_at(line));
    auto const& in = dynamic_cast<TaskError const&>(error);
    EXPECT_EQ(in.task(), "potrf");
    EXPECT_THAT(in.data(), ElementsAre("covariance(0, 0)"));
    EXPECT_EQ(whole_message<NotPositiveDefinite>([&] { in.rethrow_nested(); }), not_definite);
  }
  line = __LINE__ + 1;
  auto const message = whole_message<Singular>([&] { getrf_nopiv(runtime, zero, tile); });
  EXPECT_THAT(message, AllOf(HasSubstr(" (in task 'getrf' "), HasSubstr("on 'covariance(0, 0)'"), ends_at(line)));
}

TEST_P(ApiFailures, ThatTheWaitFindsNameTheOperandsAndTheLine) {
  int const line = __LINE__ + 1;
  auto const solve = [&] { static_cast<void>(gesv(runtime, zero, right, tile)); };
  EXPECT_THAT(whole_message<Singular>(solve),
              AllOf(StartsWith("the matrix is singular: pivot 1 of its factorization is exactly zero (in gesv on "
                               "'covariance', 'observations', submitted at "),
                    ends_at(line)));
  View const unnamed(zero.data(), 40, 40);
  EXPECT_THAT(whole_message<Singular>([&] { static_cast<void>(getrf(runtime, unnamed, tile)); }),
              HasSubstr("(in getrf on 'A', submitted at "));
}

TEST_P(ApiFailures, OfOperandsNameTheLine) {
  View const wide("wide", 6, 8);
  int line = __LINE__ + 1;
  EXPECT_THAT(whole_message<InvalidArgument>([&] { potrf(runtime, Uplo::Lower, wide); }),
              AllOf(StartsWith("potrf: A 'wide' (6 x 8) is not square (submitted at "), ends_at(line)));
  line = __LINE__ + 1;
  EXPECT_THAT(whole_message<InvalidArgument>([&] { static_cast<void>(pocon(runtime, Uplo::Lower, zero, -1.0, tile)); }),
              AllOf(StartsWith("pocon: the norm of A cannot be -1 (submitted at "), ends_at(line)));
  line = __LINE__ + 1;
  auto const of_max = [&] { static_cast<void>(gecon(runtime, Norm::Max, zero, Pivots({40, 40, tile}), 1.0)); };
  EXPECT_THAT(whole_message<InvalidArgument>(of_max), ends_at(line));
}

TEST_P(ApiFailures, OfStepsOfAnEstimateNameTheEstimate) {
  int const line = __LINE__ + 1;
  auto const estimate = [&] { static_cast<void>(gecon(runtime, Norm::One, zero, Pivots({8, 8, 8}), 1.0)); };
  EXPECT_THAT(
      whole_message<InvalidArgument>(estimate),
      AllOf(StartsWith("gecon: the pivots of a matrix of 8 x 8 do not fit A 'covariance' (40 x 40"), ends_at(line)));
}

TEST_P(ApiFailures, OfSubmissionsNameTheLine) {
  auto const a = create_matrix<double>(runtime, 40, 40, {.tile = tile, .name = "K"});
  int line = __LINE__ + 1;
  EXPECT_THAT(whole_message<InvalidArgument>([&] { potrf(runtime, Uplo::Lower, a); }),
              AllOf(StartsWith("task 'potrf' reads data 'K(0, 0)', which has no origin"), ends_at(line)));
  testing::LeftView<Kokkos::complex<double>> const x("x", 8, 8), y("y", 8, 8);
  line = __LINE__ + 1;
  EXPECT_THAT(whole_message<InvalidArgument>([&] { herk(runtime, Uplo::Lower, Op::Trans, 1.0, x, 0.0, y); }),
              AllOf(HasSubstr("herk"), ends_at(line)));
}

TEST_P(ApiFailures, OfAMatrixOfAnotherRuntimeNameIt) {
  Runtime other({.workers = 1U, .models = models_off});
  auto const a = create_matrix<double>(other, 40, 40, {.tile = tile, .name = "K"});
  EXPECT_EQ(testing::refusal([&] { potrf(runtime, Uplo::Lower, a); }), "potrf: A 'K' belongs to another Runtime");
}

TEST_P(ApiFailures, AreThoseOfTheRuntimeAlsoIfTheWaitFindsThem) {
  EXPECT_THROW(potrf(runtime, Uplo::Lower, zero, tile), NotPositiveDefinite);
  EXPECT_THROW(gesv(runtime, zero, right, tile), Singular);
  ASSERT_EQ(runtime.failures().size(), 1U);
  EXPECT_EQ(runtime.failures()[0].what, "gesv");
  EXPECT_THAT(runtime.failures()[0].origin.data, ElementsAre("covariance", "observations"));
  EXPECT_THROW(std::rethrow_exception(runtime.failures()[0].error), Singular);
}

TEST_P(ApiFailures, OfARuntimeBehindAWrapperNameTheLine) {
  struct Context {
    Runtime& runtime;
    operator Runtime&() const { return runtime; }  // NOLINT(google-explicit-constructor)
  };
  int line = __LINE__ + 1;
  EXPECT_THAT(whole_message<NotPositiveDefinite>([&] { potrf(std::ref(runtime), Uplo::Lower, zero); }), ends_at(line));
  Context const context{runtime};
  line = __LINE__ + 1;
  EXPECT_THAT(whole_message<NotPositiveDefinite>([&] { potrf(context, Uplo::Lower, zero); }), ends_at(line));
  static_assert(!std::is_convertible_v<Runtime const&, RuntimeCall> && !std::is_convertible_v<Runtime, RuntimeCall>);
}

TEST_P(ApiFailures, OfCallsThatNobodyWaitedForNameTheLine) {
  int const line = __LINE__ + 1;
  async::potrf(runtime, Uplo::Lower, zero, tile);
  EXPECT_THAT(whole_message<NotPositiveDefinite>([&] { runtime.wait(); }), ends_at(line));
  ASSERT_EQ(runtime.failures().size(), 1U);
  EXPECT_EQ(runtime.failures()[0].origin.source_line.line, static_cast<std::uint32_t>(line));
}

TEST_P(ApiFailures, OfAnEarlierCallNameItsOwnLine) {
  int const line = __LINE__ + 1;
  async::potrf(runtime, Uplo::Lower, zero, tile);
  auto solve = async::potrs(runtime, Uplo::Lower, zero, right, tile);
  EXPECT_THAT(whole_message<NotPositiveDefinite>([&] { solve.wait(); }),
              AllOf(HasSubstr("in task 'potrf' 0 on 'covariance(0, 0)'"), ends_at(line)));
  EXPECT_THAT(whole_message<NotPositiveDefinite>([&] { solve.wait(); }), ends_at(line)) << "the same again";
}

// As an application would wrap a call.
void factor(RuntimeCall const& call, View const& a) { potrf(call, Uplo::Lower, a, tile); }

TEST_P(ApiFailures, OfAWrappedCallNameTheCallOfTheWrapper) {
  int const line = __LINE__ + 1;
  EXPECT_THAT(whole_message<NotPositiveDefinite>([&] { factor(runtime, zero); }), ends_at(line));
}

TEST_P(ApiFailures, OfCallsWithoutALineArriveAsTheyWereThrown) {
  RuntimeCall const call(runtime, SourceLine{});
  EXPECT_EQ(whole_message<NotPositiveDefinite>([&] { potrf(call, Uplo::Lower, zero, tile); }), not_definite);
  EXPECT_EQ(whole_message<InvalidArgument>([&] { potrf(call, Uplo::Lower, View("wide", 6, 8)); }),
            "potrf: A 'wide' (6 x 8) is not square");
}

TEST_P(ApiFailures, OfStepsOfACallNameItsLine) {
  deep_copy(right, 1.0);
  View const x("x", 40, 2);
  int line = __LINE__ + 1;
  EXPECT_THAT(whole_message<NotPositiveDefinite>([&] { posv_mixed(runtime, Uplo::Lower, zero, right, x, tile); }),
              ends_at(line));
  line = __LINE__ + 1;
  EXPECT_THAT(whole_message<Singular>([&] { gesv_mixed(runtime, zero, right, x, tile); }), ends_at(line));
}

struct Inside {
  static constexpr bool launches_kokkos_kernels = false;
  static constexpr bool host_only = true;
  Runtime* runtime;
  View zero;
  template <class Exec, class X>
  void operator()(Exec const&, X) const {
    potrf(*runtime, Uplo::Lower, zero, tile);
  }
};

TEST_P(ApiFailures, OfCallsInsideTasksNameBothLines) {
  Kokkos::View<double, Kokkos::HostSpace> const x("x");
  int const line = __LINE__ + 1;
  runtime.submit("inside", Inside{&runtime, zero}, read_write(runtime.data(x)));
  EXPECT_THAT(whole_message<InvalidArgument>([&] { runtime.wait(); }),
              AllOf(StartsWith("potrf cannot be called inside a task of the same Runtime: it would wait for itself "
                               "(submitted at "),
                    HasSubstr(") (in task 'inside' 0 on 'x', submitted at "), ends_at(line)));
}

INSTANTIATE_TEST_SUITE_P(OnHostAndDevices, ApiFailures, Values("none", "host:1"),
                         [](auto const& drawn) { return "D" + std::to_string(drawn.index); });

TEST(ApiFailuresOfFiles, NameTheMatrixAsTheApplicationDoes) {
  Runtime runtime({.workers = 1U, .models = models_off});
  auto const a = create_matrix<double>(runtime, 40, 40, {.tile = tile, .name = "K"});
  set(runtime, 0.0, -1.0, a);
  int line = __LINE__ + 1;
  EXPECT_THAT(whole_message<NotPositiveDefinite>([&] { potrf(runtime, Uplo::Lower, a); }),
              AllOf(HasSubstr("on 'K(0, 0)', submitted at "), ends_at(line)));
  auto const whole = create_matrix<double>(
      runtime, 40, 40, {.tile = tile, .output = std::filesystem::temp_directory_path() / "granary-failures.h5"});
  line = __LINE__ + 1;
  EXPECT_THAT(whole_message<InvalidArgument>([&] { potrf(runtime, Uplo::Lower, whole); }), ends_at(line));
}

}  // namespace
}  // namespace granary::api_failures_test
