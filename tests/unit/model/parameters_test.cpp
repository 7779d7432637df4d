// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/model/parameters.hpp>

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>

namespace granary {
namespace {

template <class T>
T const& value(detail::Parameters const& parameters) {
  return *static_cast<T const*>(parameters.get());
}

TEST(Parameters, HaveNoValueAtFirst) {
  detail::Parameters const parameters{};
  EXPECT_EQ(parameters.get(), nullptr);
}

TEST(Parameters, KeepSmallAndLargeValuesAcrossMoves) {
  using Large = std::array<double, 100>;
  detail::Parameters small(3.5);
  Large large{};
  large[99] = 7;
  detail::Parameters big(large);
  detail::Parameters const moved_small = std::move(small);
  detail::Parameters moved_big;
  moved_big = std::move(big);
  EXPECT_EQ(value<double>(moved_small), 3.5);
  EXPECT_EQ(value<Large>(moved_big)[99], 7);
  EXPECT_EQ(small.get(), nullptr);  // NOLINT(bugprone-use-after-move): what a move leaves is what is tested
  EXPECT_EQ(big.get(), nullptr);    // NOLINT(bugprone-use-after-move)
}

TEST(Parameters, DestroyTheirValueOnce) {
  struct Large {
    std::shared_ptr<int> counted;
    std::array<char, 200> rest{};
  };
  auto const counted = std::make_shared<int>(0);
  {
    detail::Parameters small(counted);
    detail::Parameters large(Large{counted});
    EXPECT_EQ(counted.use_count(), 3);
    detail::Parameters const moved(std::move(small));
    large = detail::Parameters(std::string("something else"));
    EXPECT_EQ(counted.use_count(), 2);
    EXPECT_EQ(value<std::string>(large), "something else");
    large.reset();
    EXPECT_EQ(large.get(), nullptr);
  }
  EXPECT_EQ(counted.use_count(), 1);
}

TEST(Parameters, TakeValuesThatCanOnlyBeMoved) {
  detail::Parameters const parameters(std::make_unique<int>(5));
  EXPECT_EQ(*value<std::unique_ptr<int>>(parameters), 5);
}

}  // namespace
}  // namespace granary
