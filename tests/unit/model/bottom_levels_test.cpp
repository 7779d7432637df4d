// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/model/bottom_levels.hpp>

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace granary {
namespace {

TEST(BottomLevels, AreTheTimesToTheEndOfTheGraph) {
  auto const read = [](std::uint32_t data) { return detail::Access{DataId(data), detail::AccessMode::Read}; };
  auto const write = [](std::uint32_t data) { return detail::Access{DataId(data), detail::AccessMode::ReadWrite}; };
  TaskGraph graph;
  graph.add(detail::AccessList(std::array{write(0)}));           // followed by both readers
  graph.add(detail::AccessList(std::array{read(0), write(1)}));  // followed by the last
  graph.add(detail::AccessList(std::array{read(0)}));            // the end of its path
  graph.add(detail::AccessList(std::array{write(1)}));
  std::array const times{100, 30, 500, 7};
  EXPECT_EQ(bottom_levels(graph, [&](std::size_t task) { return Duration(times.at(task)); }),
            (std::vector<std::int64_t>{600, 37, 500, 7}));
}

}  // namespace
}  // namespace granary
