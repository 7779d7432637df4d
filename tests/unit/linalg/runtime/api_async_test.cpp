// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls that submit and return.
#include <granary/detail/core/engine/statistics.hpp>

#include "support/message_of.hpp"
#include "support/task_bodies.hpp"
#include "unit/linalg/api.hpp"
#include "unit/linalg/exact.hpp"

#include <optional>
#include <stdexcept>
#include <utility>

namespace granary::api_async_test {

using namespace detail;

namespace {

using namespace testing;
using test::Fail;
using test::Held;
using test::OnAnyWorker;
using T = double;
using Matrix = LeftView<T>;

constexpr std::uint64_t n = 70;
constexpr std::uint64_t tile = 16;

// A system with an exact solution.
struct System {
  explicit System(std::uint64_t seed = 1) : exact(n, seed), x(random_eighths<T>(n, 5, seed)) {}

  ExactCholesky<T> exact;
  Rectangle<T> x;
  Matrix a = make_view<T, Kokkos::LayoutLeft>(exact.a, "A");
  Matrix b = make_view<T, Kokkos::LayoutLeft>(multiply(exact.a, x), "B");

  [[nodiscard]] bool solved() const { return largest_difference(values_of(b), x) == 0; }
  [[nodiscard]] bool factored() const { return largest_difference(values_of(a), exact.factored(Uplo::Lower)) == 0; }
};

// Its last leading minor is not positive.
System indefinite() {
  System system(3);
  system.a(n - 1, n - 1) = -1;
  return system;
}

// The first tile, as the library's tasks use it.
auto first_tile(Runtime& runtime, Matrix const& a) {
  return runtime.data(Kokkos::subview(a, std::pair(0, int{tile}), std::pair(0, int{tile})));
}

class ApiAsync : public ::testing::TestWithParam<std::string> {
 protected:
  Runtime runtime{{.workers = 2U, .devices = GetParam(), .models = models_off}};
};

// On one kind of worker: nothing is placed behind a task of such a length while another worker is free.
TEST(ApiAsyncOnCores, OneCallDoesNotWaitForAnother) {
  Runtime runtime({.workers = 2U, .devices = "none", .models = models_off});
  System first(1), second(2), third(3);
  Held const held;
  runtime.submit({"held", 0, 1e15}, held, read_write(first_tile(runtime, first.a)));
  auto one = async::posv(runtime, Uplo::Lower, first.a, first.b, tile);
  auto two = async::posv(runtime, Uplo::Lower, second.a, second.b, tile);
  two.wait();
  EXPECT_TRUE(second.solved());
  EXPECT_TRUE(two.done());
  posv(runtime, Uplo::Lower, third.a, third.b, tile);
  EXPECT_TRUE(third.solved());
  EXPECT_FALSE(one.done());
  held.end();
  one.wait();
  EXPECT_TRUE(one.done());
  EXPECT_TRUE(first.solved());
}

TEST_P(ApiAsync, CallsOnTheSameMatrixRunInOrder) {
  System s;
  Matrix const copied("copied", n, n), product("product", n, 5);
  auto const right = make_view<T, Kokkos::LayoutLeft>(values_of(s.b));
  async::copy(runtime, s.a, copied, MatrixPart::All, tile);
  async::potrf(runtime, Uplo::Lower, s.a, tile);
  auto residual = async::potrf_residual(runtime, Uplo::Lower, copied, s.a, tile);
  async::potrs(runtime, Uplo::Lower, s.a, s.b, tile);
  auto last = async::gemm(runtime, Op::NoTrans, Op::NoTrans, T(1), copied, s.b, T(0), product, tile);
  auto norm = async::lange(runtime, Norm::Max, product, tile);
  last.wait();
  EXPECT_EQ(largest_difference(values_of(product), values_of(right)), 0);
  EXPECT_EQ(residual.get(), 0);
  EXPECT_EQ(norm.get(), lange(runtime, Norm::Max, right, tile));
  runtime.wait();
  EXPECT_TRUE(s.solved());
  EXPECT_TRUE(s.factored());
}

TEST_P(ApiAsync, RowExchangesArePassedOnAtOnce) {
  auto const general = reversed(ExactLu<T>(n, n).a);
  auto const x = random_eighths<T>(n, 5, 4);
  auto const a = make_view<T, Kokkos::LayoutLeft>(general), kept = make_view<T, Kokkos::LayoutLeft>(general);
  auto const b = make_view<T, Kokkos::LayoutLeft>(multiply(general, x));
  auto const residual = [&] {
    Pivots pivots(TileGrid{});
    async::getrf(runtime, a, pivots, tile);
    async::getrs(runtime, Op::NoTrans, a, pivots, b);
    return async::getrf_residual(runtime, kept, a, &pivots);
  };
  EXPECT_EQ(residual().get(), 0) << "the tasks keep the row exchanges";
  runtime.wait();
  EXPECT_EQ(largest_difference(values_of(b), x), 0);
  auto call = async::getrf(runtime, kept, tile);
  EXPECT_EQ(call.get()[0], n - 1);
  EXPECT_EQ(call.get()[0], n - 1) << "again";
  Matrix const zero("zero", n, n);
  auto growth = async::getrf_nopiv(runtime, make_view<T, Kokkos::LayoutLeft>(ExactLu<T>(n, n).a), tile);
  EXPECT_GT(growth.get().ratio(), 0);
  EXPECT_THROW(static_cast<void>(async::getrf_nopiv(runtime, zero, tile).get()), Singular);
  auto singular = async::getrf(runtime, zero, tile);
  EXPECT_THROW(singular.wait(), Singular);
  EXPECT_THROW(static_cast<void>(singular.get()), Singular) << "again";
  runtime.wait();
}

TEST_P(ApiAsync, AFailureConcernsOneCall) {
  System good(2);
  auto bad = indefinite();
  auto failing = async::posv(runtime, Uplo::Lower, bad.a, bad.b, tile);
  auto fine = async::posv(runtime, Uplo::Lower, good.a, good.b, tile);
  fine.wait();
  EXPECT_TRUE(good.solved());
  for (int i = 0; i < 2; ++i) {
    try {
      failing.wait();
      FAIL() << "nothing was thrown";
    } catch (NotPositiveDefinite const& error) {
      EXPECT_EQ(error.order(), n);
    }
  }
  EXPECT_EQ(runtime.failures().size(), 1U);
  runtime.wait();
  bad = System(5);
  posv(runtime, Uplo::Lower, bad.a, bad.b, tile);
  EXPECT_TRUE(bad.solved());
}

TEST_P(ApiAsync, AFactorizationThatFailedFailsTheSolveToo) {
  auto bad = indefinite();
  auto factor = async::potrf(runtime, Uplo::Lower, bad.a, tile);
  auto solve = async::potrs(runtime, Uplo::Lower, bad.a, bad.b, tile);
  EXPECT_THROW(solve.wait(), NotPositiveDefinite);
  EXPECT_THROW(factor.wait(), NotPositiveDefinite);
  runtime.wait();
}

TEST_P(ApiAsync, FailuresOfOtherTasksAreLeftToOthers) {
  System s;
  Matrix const other("other", 3, 3);
  auto const data = runtime.data(other);
  runtime.submit("fail", Fail{}, write(data));
  posv(runtime, Uplo::Lower, s.a, s.b, tile);
  EXPECT_TRUE(s.solved());
  EXPECT_EQ(test::message_of<std::runtime_error>([&] { runtime.wait(); }), "no");
  runtime.submit("fail", Fail{}, read_write(first_tile(runtime, s.a)));
  auto call = async::potrf(runtime, Uplo::Lower, s.a, tile);
  EXPECT_EQ(test::message_of<std::runtime_error>([&] { call.wait(); }), "no");
  runtime.wait();
}

TEST_P(ApiAsync, ADroppedCallRunsOnAndKeepsItsViews) {
  Matrix a, b;
  {
    System s;
    a = s.a;
    b = s.b;
    async::posv(runtime, Uplo::Lower, s.a, s.b, tile);
  }
  runtime.wait();
  System s;
  s.b = b;
  EXPECT_TRUE(s.solved());
  runtime.wait();
  EXPECT_EQ(a.use_count(), 1) << "nothing keeps it any more";
  async::posv(runtime, Uplo::Lower, System(2).a, System(2).b, tile);  // whose Views nobody else keeps
  auto bad = indefinite();
  async::posv(runtime, Uplo::Lower, bad.a, bad.b, tile);
  EXPECT_THROW(runtime.wait(), NotPositiveDefinite);
  runtime.wait();
}

TEST_P(ApiAsync, APendingMayBeMovedAndWaitsOnce) {
  System first(1), second(2);
  auto call = async::posv(runtime, Uplo::Lower, first.a, first.b, tile);
  auto moved = std::move(call);
  EXPECT_EQ(refusal([&] { call.wait(); }), "wait() of a Pending that was moved from, or whose Runtime has ended");
  moved.wait();
  EXPECT_TRUE(first.solved());
  moved.wait();
  moved = async::posv(runtime, Uplo::Lower, second.a, second.b, tile);
  moved.wait();
  EXPECT_TRUE(second.solved());
}

TEST(ApiAsyncEnd, APendingMayOutliveTheRuntime) {
  System s;
  std::optional<Runtime> runtime(std::in_place, RuntimeOptions{.workers = 2U, .models = models_off});
  auto call = async::posv(*runtime, Uplo::Lower, s.a, s.b, tile);
  runtime.reset();
  EXPECT_TRUE(s.solved());
  EXPECT_TRUE(call.done());
  EXPECT_EQ(refusal([&] { call.wait(); }), "wait() of a Pending that was moved from, or whose Runtime has ended");
}

TEST_P(ApiAsync, OperandsAreCheckedAtOnce) {
  Matrix const wide("wide", 6, 8), b("b", 6, 2);
  EXPECT_EQ(refusal([&] { async::potrf(runtime, Uplo::Lower, wide); }), "potrf: A 'wide' (6 x 8) is not square");
  EXPECT_EQ(refusal([&] { async::copy(runtime, wide, b); }),
            "copy: the sizes of A 'wide' (6 x 8) and B 'b' (6 x 2) do not match");
  EXPECT_EQ(runtime.statistics().planner.tasks_run, 0U);
}

// Inside a task a call submits; to wait for it is refused.
struct Solve : OnAnyWorker {
  Runtime* runtime;
  System* system;
  std::string* message;
  template <class Exec, class X>
  void operator()(Exec const&, X) const {
    auto call = async::posv(*runtime, Uplo::Lower, system->a, system->b, tile);
    *message = test::message_of<InvalidArgument>([&] { call.wait(); });
  }
};

TEST_P(ApiAsync, ATaskMayCall) {
  System s;
  Matrix const x("x", 1, 1);
  std::string message;
  runtime.submit("solve", Solve{{}, &runtime, &s, &message}, write(runtime.data(x)));
  runtime.wait();
  EXPECT_EQ(message, "wait() cannot be called inside a task of the same Runtime: it would wait for itself");
  EXPECT_TRUE(s.solved());
}

INSTANTIATE_TEST_SUITE_P(OnHostAndDevices, ApiAsync, ::testing::Values("none", "host:2"),
                         [](auto const& drawn) { return "D" + std::to_string(drawn.index); });

class ApiAsyncFiles : public Files {};

TEST_F(ApiAsyncFiles, CommitWaitsForTheCallsOnTheMatrix) {
  System s;
  write("a.h5", s.exact.a, tile);
  {
    Runtime runtime({.workers = 2U, .host_memory = 1_MiB});
    std::optional<Pending<>> factored;
    {
      auto matrix =
          open_matrix<T>(runtime, file("a.h5"), "", {.part = MatrixPart::Lower, .tile = tile, .output = file("l.h5")});
      factored.emplace(async::potrf(runtime, Uplo::Lower, matrix));
      async::potrs(runtime, Uplo::Lower, matrix, s.b);
      matrix.commit();
    }
    factored->wait();  // the matrix has ended
    runtime.wait();
    EXPECT_TRUE(s.solved());
  }
  EXPECT_EQ(largest_difference(read<T>("l.h5", tile), s.exact.lower), 0);
}

TEST_F(ApiAsyncFiles, CommitThrowsWhatConcernsTheMatrix) {
  System s;
  auto const bad = indefinite();
  write("a.h5", values_of(bad.a), tile);
  Runtime runtime({.workers = 2U, .host_memory = 1_MiB});
  auto matrix =
      open_matrix<T>(runtime, file("a.h5"), "", {.part = MatrixPart::Lower, .tile = tile, .output = file("l.h5")});
  async::potrf(runtime, Uplo::Lower, matrix);
  EXPECT_THROW(matrix.commit(), NotPositiveDefinite);
  EXPECT_FALSE(std::filesystem::exists(file("l.h5")));
  runtime.wait();
}

}  // namespace
}  // namespace granary::api_async_test
