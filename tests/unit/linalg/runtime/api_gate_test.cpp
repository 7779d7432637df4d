// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A solve that was submitted changes nothing if an element of its matrices is NaN.
#include "unit/linalg/api.hpp"

#include <cstring>
#include <functional>
#include <vector>

namespace granary::api_gate_test {
namespace {

using namespace testing;

constexpr std::uint64_t n = 130;
constexpr std::uint64_t tile = 8;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

using Matrix = LeftView<double>;
using Call = std::function<Pending<>(Runtime&, Matrix const&, Matrix const&)>;

Matrix drawn(std::string const& name, std::uint64_t cols, std::uint64_t seed) {
  detail::Random random(seed);
  Matrix const view(name, n, cols);
  for (std::size_t e = 0; e < view.span(); ++e) view.data()[e] = 2 * random.uniform() - 1;
  for (std::uint64_t i = 0; i < std::min(n, cols); ++i) view(i, i) += 2 * static_cast<double>(n);
  return view;
}

Matrix copy_of(Matrix const& view) {
  Matrix const copy("copy", view.extent(0), view.extent(1));
  Kokkos::deep_copy(copy, view);
  return copy;
}

bool same_bits(Matrix const& a, Matrix const& b) {
  return std::memcmp(a.data(), b.data(), a.span() * sizeof(double)) == 0;
}

// Both orders; for LU partial pivoting, and tournaments with leaves of one, two and many tiles.
std::vector<Call> solves() {
  std::vector<Call> calls;
  for (auto const order : {detail::FactorOrder::RightLooking, detail::FactorOrder::LeftLooking}) {
    for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
      calls.emplace_back([=](Runtime& runtime, Matrix const& a, Matrix const& b) {
        return async::posv(runtime, uplo, a, b, tile, {.order = order});
      });
    }
    for (std::uint64_t const leaf : {1, 2, 5, 100}) {
      calls.emplace_back([=](Runtime& runtime, Matrix const& a, Matrix const& b) {
        Pivots pivots(detail::TileGrid{});
        return async::gesv(runtime, a, b, pivots, tile, {.order = order, .leaf_tiles = leaf});
      });
    }
  }
  return calls;
}

class ApiGate : public ::testing::TestWithParam<std::string> {
 protected:
  Runtime runtime{{.workers = 4U, .devices = GetParam(), .models = models_off}};
};

TEST_P(ApiGate, NothingChangesIfAnElementIsNaN) {
  auto const a = drawn("A", n, 1), b = drawn("B", 20, 2);
  detail::Random random(3);
  std::size_t number = 0;
  for (auto const& call : solves()) {
    SCOPED_TRACE(number++);
    for (int draw = 0; draw < 6; ++draw) {
      bool const in_a = draw % 3 != 2;
      auto const bad_a = copy_of(a), bad_b = copy_of(b);
      auto const i = draw == 0 ? n - 1 : random.below(n);
      auto const j = draw == 0 ? n - 1 : random.below(in_a ? n : 20);
      if (in_a) bad_a(i, j) = bad_a(j, i) = nan;
      if (!in_a) bad_b(i, j) = nan;
      auto const as_it_was = copy_of(bad_a), b_as_it_was = copy_of(bad_b);
      auto pending = call(runtime, bad_a, bad_b);
      auto const message = refusal([&] { pending.wait(); });
      EXPECT_NE(message.find(in_a ? ": A 'copy' (130 x 130) holds NaN at (" : ": B 'copy' (130 x 20) holds NaN at ("),
                std::string::npos)
          << message;
      EXPECT_TRUE(same_bits(bad_a, as_it_was));
      EXPECT_TRUE(same_bits(bad_b, b_as_it_was));
      ASSERT_NO_THROW(runtime.wait());
    }
  }
}

TEST_P(ApiGate, TheSameViewsCanBeSolvedWithAfterwards) {
  auto const a = drawn("A", n, 1), b = drawn("B", 20, 2), first = copy_of(a), right = copy_of(b);
  Kokkos::deep_copy(a, 0);
  for (std::uint64_t i = 0; i < n; ++i) a(i, i) = 4;
  a(129, 3) = nan;
  auto bad = async::gesv(runtime, a, b, tile);
  auto good = async::gesv(runtime, first, right, tile);
  EXPECT_EQ(refusal([&] { bad.wait(); }), "gesv: A 'A' (130 x 130) holds NaN at (129, 3)");
  ASSERT_NO_THROW(good.wait());
  a(129, 3) = 0;
  auto const before = copy_of(b);
  async::gesv(runtime, a, b, tile).wait();
  for (std::uint64_t i = 0; i < n; ++i) ASSERT_EQ(b(i, 7), before(i, 7) / 4);
}

// Values that tasks have computed are kept where they are, too.
struct Fill {
  static constexpr bool launches_kokkos_kernels = false;
  static constexpr bool host_only = false;
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    for (std::size_t i = 0; i < x.extent(0); ++i) {
      for (std::size_t j = 0; j < x.extent(1); ++j) x(i, j) = i == j ? 4 : 0;
    }
  }
};

TEST_P(ApiGate, WhatTasksComputedBeforeIsKept) {
  Matrix const a("A", tile, tile), b("B", tile, 1);
  b(3, 0) = nan;
  runtime.submit("fill", Fill{}, write(runtime.data(a)));
  auto bad = async::posv(runtime, Uplo::Lower, a, b, tile);
  EXPECT_EQ(refusal([&] { bad.wait(); }), "posv: B 'B' (8 x 1) holds NaN at (3, 0)");
  for (std::uint64_t i = 0; i < tile; ++i) EXPECT_EQ(a(i, i), 4);
}

INSTANTIATE_TEST_SUITE_P(OnHostAndDevices, ApiGate, ::testing::Values("none", "host:2"),
                         [](auto const& drawn) { return "D" + std::to_string(drawn.index); });

}  // namespace
}  // namespace granary::api_gate_test
