// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/model/graph_recorder.hpp>
#include <granary/detail/linalg/data/narrow.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>

#include "support/message_of.hpp"

#include <gtest/gtest.h>

namespace granary {
namespace {

TEST(ToInt32, ReturnsWhatFits) {
  EXPECT_EQ(to_int32(std::uint64_t{2147483647}, "a row"), 2147483647);
  EXPECT_EQ(to_int32(std::int64_t{-2147483648}, "a row"), std::numeric_limits<std::int32_t>::min());
}

TEST(ToInt32, RefusesWhatDoesNotWithTheNumber) {
  EXPECT_EQ(test::message_of<InvalidArgument>([] { (void)to_int32(std::uint64_t{1} << 31, "a tile size"); }),
            "a tile size of 2147483648 is too large: the kernels count up to 2147483647");
  EXPECT_EQ(test::message_of<InvalidArgument>([] { (void)to_int32((std::uint64_t{1} << 32) + 3, "a row"); }),
            "a row of 4294967299 is too large: the kernels count up to 2147483647");
}

TEST(ToInt32, TilesThatKernelsCannotCountAreRefused) {
  constexpr auto large = std::uint64_t{1} << 31;
  detail::GraphRecorder graph;
  EXPECT_EQ(test::message_of<InvalidArgument>([&] {
              (void)make_temporary_matrix<float>(graph, {large, 2, large}, MatrixPart::All, "A");
            }),
            "a tile with a number of rows of 2147483648 is too large: the kernels count up to 2147483647");
  EXPECT_EQ(test::message_of<InvalidArgument>([&] {
              (void)make_temporary_matrix<float>(graph, {2, large, large}, MatrixPart::All, "A");
            }),
            "a tile with a number of columns of 2147483648 is too large: the kernels count up to 2147483647");
  EXPECT_EQ(make_temporary_matrix<float>(graph, {large, 2, large / 4}, MatrixPart::All, "A")(3, 0).rows, large / 4);
}

}  // namespace
}  // namespace granary
