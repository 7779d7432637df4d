// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/chunked_array.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace granary {
namespace {

TEST(ChunkedArray, GrowsWithoutMovingItsElements) {
  detail::ChunkedArray<std::size_t, 4> array;
  EXPECT_EQ(array.size(), 0U);
  std::vector<std::size_t*> addresses;
  for (std::size_t i = 0; i < 100; ++i) {
    auto& element = array.grow();
    EXPECT_EQ(element, 0U);
    element = i;
    addresses.push_back(&element);
  }
  ASSERT_EQ(array.size(), 100U);
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(&array[i], addresses[i]);
    EXPECT_EQ(array[i], i);
  }
}

}  // namespace
}  // namespace granary
