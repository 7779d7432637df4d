// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/policy/task_table.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

namespace granary {
namespace {

TEST(TaskTable, KeepsAValueForEachTask) {
  TaskTable<std::string> table;
  auto const late = table.insert(TaskId(1'000'000), "late");
  auto const early = table.insert(TaskId(0), "early");
  EXPECT_EQ(table.slot(TaskId(1'000'000)), late);
  EXPECT_EQ(table[early], "early");
  EXPECT_EQ(table.at(TaskId(1'000'000)), "late");
  EXPECT_TRUE(table.contains(TaskId(0)));
  EXPECT_FALSE(table.contains(TaskId(1)));
  EXPECT_EQ(table.slot(TaskId(1)), table.none);
}

TEST(TaskTable, TakesValuesOutAndUsesTheirSlotsAgain) {
  TaskTable<std::unique_ptr<int>> table;
  std::set<std::uint32_t> slots;
  for (std::uint64_t task = 0; task < 100; ++task) slots.insert(table.insert(TaskId(task), std::make_unique<int>(7)));
  EXPECT_EQ(slots.size(), 100U);
  for (std::uint64_t task = 0; task < 100; task += 2) EXPECT_EQ(*table.take(TaskId(task)), 7);
  for (std::uint64_t task = 0; task < 100; ++task) EXPECT_EQ(table.contains(TaskId(task)), task % 2 == 1);
  for (std::uint64_t task = 200; task < 250; ++task) slots.insert(table.insert(TaskId(task), std::make_unique<int>(8)));
  EXPECT_EQ(slots.size(), 100U);
  EXPECT_EQ(*table.at(TaskId(249)), 8);
  EXPECT_EQ(*table.at(TaskId(99)), 7);
}

}  // namespace
}  // namespace granary
