// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/paged_array.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace granary {
namespace {

using Counted = std::shared_ptr<int>;
using Array = detail::PagedArray<TaskId, Counted, 4>;

TEST(PagedArray, FindsWhatWasCreatedAndNothingElse) {
  Array array;
  EXPECT_EQ(array.find(TaskId(0)), nullptr);
  array.create(TaskId(1), std::make_shared<int>(10));
  array.create(TaskId(9), std::make_shared<int>(90));
  EXPECT_EQ(array.size(), 2U);
  EXPECT_EQ(**array.find(TaskId(1)), 10);
  EXPECT_EQ(*array[TaskId(9)], 90);
  for (std::uint64_t absent : {0U, 2U, 5U, 8U, 10U, 1000U}) EXPECT_EQ(array.find(TaskId(absent)), nullptr) << absent;
  EXPECT_EQ(array.find(TaskId()), nullptr);
}

TEST(PagedArray, KeepsAddresses) {
  detail::PagedArray<TaskId, int, 4> array;
  int* const first = &array.create(TaskId(0), 1);
  for (std::uint64_t i = 1; i < 1000; ++i) array.create(TaskId(i), 2);
  EXPECT_EQ(array.find(TaskId(0)), first);
  EXPECT_EQ(*first, 1);
}

TEST(PagedArray, DestroysElementsOnceErasedOrWithTheArray) {
  auto const value = std::make_shared<int>(0);
  {
    Array array;
    for (std::uint64_t i = 0; i < 10; ++i) array.create(TaskId(i), value);
    EXPECT_EQ(value.use_count(), 11);
    for (std::uint64_t i = 0; i < 5; ++i) array.erase(TaskId(i));
    EXPECT_EQ(value.use_count(), 6);
    EXPECT_EQ(array.find(TaskId(4)), nullptr);
    EXPECT_NE(array.find(TaskId(5)), nullptr);
  }
  EXPECT_EQ(value.use_count(), 1);
}

TEST(PagedArray, KeepsAPageThatMayStillGrow) {
  Array array;
  array.create(TaskId(0), std::make_shared<int>(0));
  array.erase(TaskId(0));
  array.create(TaskId(1), std::make_shared<int>(1));
  EXPECT_EQ(**array.find(TaskId(1)), 1);
  EXPECT_EQ(array.find(TaskId(0)), nullptr);
}

TEST(PagedArray, SlidesAlongALongRun) {
  Array array;
  constexpr std::uint64_t window = 6;
  for (std::uint64_t i = 0; i < 10000; ++i) {
    array.create(TaskId(i), std::make_shared<int>(static_cast<int>(i)));
    if (i >= window) array.erase(TaskId(i - window));
    ASSERT_EQ(*array[TaskId(i)], static_cast<int>(i));
  }
  EXPECT_EQ(array.size(), window);
  EXPECT_EQ(array.find(TaskId(0)), nullptr);
}

// The last cells of pages are never created: their elements are destroyed all the same.
TEST(PagedArray, IdsMayHaveGaps) {
  Array array;
  auto const value = std::make_shared<int>(0);
  for (std::uint64_t i = 0; i < 10000; i += 3) {
    array.create(TaskId(i), value);
    if (i % 2 == 0) array.create(TaskId(i + 1), value);
    if (i >= 30) array.erase(TaskId(i - 30));
    if (i >= 30 && i % 2 == 0) array.erase(TaskId(i - 29));
    ASSERT_EQ(array.find(TaskId(i + 2)), nullptr);
    ASSERT_LE(value.use_count(), 20);
  }
  for (std::uint64_t i = 10000 - 28; i < 20000; ++i) {
    if (array.find(TaskId(i)) != nullptr) array.erase(TaskId(i));
  }
  EXPECT_EQ(array.size(), 0U);
  EXPECT_EQ(value.use_count(), 1);
}

TEST(PagedArray, VisitsLiveElementsInOrder) {
  Array array;
  for (std::uint64_t i = 0; i < 10; ++i) array.create(TaskId(i), std::make_shared<int>(static_cast<int>(i)));
  for (std::uint64_t i : {0U, 3U, 4U, 5U, 6U, 7U}) array.erase(TaskId(i));
  std::vector<std::uint64_t> visited;
  array.for_each([&](TaskId id, Counted const& value) {
    visited.push_back(id.value());
    EXPECT_EQ(static_cast<std::uint64_t>(*value), id.value());
  });
  EXPECT_EQ(visited, (std::vector<std::uint64_t>{1, 2, 8, 9}));
}

}  // namespace
}  // namespace granary
