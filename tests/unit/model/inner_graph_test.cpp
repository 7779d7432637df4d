// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/model/inner_graph.hpp>

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <vector>

namespace granary {
namespace {

using enum detail::AccessMode;

// A parent that reads datum 5, writes datum 6, and reads 6 again as its third access.
struct InnerGraphTest : testing::Test {
  std::array<detail::Access, 3> const given{{{DataId(5), Read}, {DataId(6), Write}, {DataId(6), Read}}};
  detail::AccessList accesses{given};
  detail::InnerGraph graph{accesses};
  detail::CodeletId codelet = graph.add_codelet({.name = "step"});

  TaskId submit(std::vector<detail::Access> const& list, std::int64_t priority = 0) {
    return graph.submit({codelet, list, priority, 1.0});
  }
  TaskId take() {
    auto const* task = graph.take();
    return task != nullptr ? task->id : TaskId();
  }
};

TEST_F(InnerGraphTest, TheSamePlaceInTheSameDatumIsTheSamePart) {
  EXPECT_EQ(graph.part(0, 0), graph.part(0, 0));
  EXPECT_NE(graph.part(0, 0), graph.part(0, 64));
  EXPECT_NE(graph.part(0, 0), graph.part(1, 0));
  EXPECT_EQ(graph.part(1, 64), graph.part(2, 64)) << "both are parts of datum 6";
  EXPECT_THROW(static_cast<void>(graph.part(3, 0)), InvalidArgument);
}

TEST_F(InnerGraphTest, PartsLieAtTheirOffsets) {
  std::array<std::byte, 256> memory{};
  std::array<std::byte*, 3> const addresses{memory.data(), memory.data() + 128, memory.data() + 128};
  detail::InnerGraph placed(accesses, addresses);
  EXPECT_EQ(placed.address(placed.part(0, 32)), &memory[32]);
  EXPECT_EQ(placed.address(placed.part(2, 64)), &memory[192]);
}

TEST_F(InnerGraphTest, DependenciesFollowFromTheOrderOfSubmission) {
  auto const x = graph.part(1, 0), y = graph.part(1, 64);
  auto const first = submit({{x, Write}});
  auto const second = submit({{x, Read}, {y, Write}});
  auto const third = submit({{y, ReadWrite}});
  EXPECT_EQ(graph.submitted(), 3U);
  EXPECT_EQ(take(), first);
  EXPECT_FALSE(take().valid());
  EXPECT_FALSE(graph.finished());
  graph.done(first);
  EXPECT_EQ(take(), second);
  graph.done(second);
  EXPECT_EQ(take(), third);
  graph.done(third);
  EXPECT_TRUE(graph.finished());
  EXPECT_FALSE(graph.error());
}

TEST_F(InnerGraphTest, TasksDoNotCommute) {
  auto const x = graph.part(1, 0);
  auto const first = submit({{x, detail::AccessMode::Commute}});
  auto const second = submit({{x, detail::AccessMode::Commute}}, 1);
  EXPECT_EQ(take(), first);
  EXPECT_FALSE(take().valid());
  graph.done(first);
  EXPECT_EQ(take(), second);
}

TEST_F(InnerGraphTest, HandsOutTheMostUrgentFirstAndThenTheFirstSubmitted) {
  auto const a = submit({{graph.part(1, 0), Write}}, 1);
  auto const b = submit({{graph.part(1, 8), Write}}, 3);
  auto const c = submit({{graph.part(1, 16), Write}}, 1);
  auto const d = submit({{graph.part(1, 24), Write}}, 3);
  EXPECT_EQ(graph.ready(), 4U);
  for (auto const expected : {b, d, a, c}) EXPECT_EQ(take(), expected);
}

TEST_F(InnerGraphTest, AFailureCancelsTheRestAndTheFirstSubmittedIsTheReason) {
  auto const a = submit({{graph.part(1, 0), Write}});
  auto const b = submit({{graph.part(1, 8), Write}});
  auto const c = submit({{graph.part(1, 16), Write}});
  submit({{graph.part(1, 24), Write}});
  submit({{graph.part(1, 0), ReadWrite}});
  for (auto const expected : {a, b, c}) ASSERT_EQ(take(), expected);
  graph.failed(b, std::make_exception_ptr(std::runtime_error("b")));
  EXPECT_FALSE(take().valid());
  EXPECT_FALSE(graph.finished()) << "a and c run";
  graph.done(c);
  graph.failed(a, std::make_exception_ptr(std::runtime_error("a")));
  EXPECT_TRUE(graph.finished());
  try {
    std::rethrow_exception(graph.error());
  } catch (std::runtime_error const& error) {
    EXPECT_STREQ(error.what(), "a");
  }
}

TEST_F(InnerGraphTest, RefusesWhatWouldReachBeyondItsParent) {
  EXPECT_THROW(graph.add_data({.name = "own", .bytes = 8}), InvalidArgument);
  EXPECT_THROW(graph.release_data(graph.part(0, 0)), InvalidArgument);
  EXPECT_THROW(submit({{graph.part(0, 0), ReadWrite}}), InvalidArgument) << "the parent only reads datum 5";
  EXPECT_THROW(submit({{DataId(99), Read}}), InvalidArgument);
  EXPECT_THROW(graph.submit({detail::CodeletId(7), {}, 0, 0}), InvalidArgument);
  EXPECT_EQ(graph.submitted(), 0U);
}

}  // namespace
}  // namespace granary
