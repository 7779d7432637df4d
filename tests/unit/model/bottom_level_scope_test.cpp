// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/model/bottom_level_scope.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace granary {
namespace {

struct Recorder final : Submitter {
  CodeletId add_codelet(Codelet) override { return CodeletId(codelets++); }
  DataId add_data(DataDescription) override { return DataId(data++); }
  void release_data(DataId released_data) override { released.push_back(released_data); }
  TaskId submit(TaskSubmission const& submission, Parameters parameters) override {
    priorities.push_back(submission.priority);
    accesses.push_back(submission.accesses.size());
    lines.push_back(submission.source_line.line);
    values.push_back(parameters.get() == nullptr ? 0 : *static_cast<int const*>(parameters.get()));
    return TaskId(priorities.size() - 1);
  }
  std::uint32_t codelets = 0;
  std::uint32_t data = 0;
  std::vector<DataId> released;
  std::vector<std::int64_t> priorities;
  std::vector<std::size_t> accesses;
  std::vector<std::uint32_t> lines;
  std::vector<int> values;
};

Access read(std::uint32_t data) { return {DataId(data), AccessMode::Read}; }
Access write(std::uint32_t data) { return {DataId(data), AccessMode::ReadWrite}; }

TEST(BottomLevelScope, GivesEachTaskTheTimeToTheEndOfTheGraph) {
  Recorder target;
  AveragingEstimator const estimator(1e9);
  BottomLevelScope scope(target, estimator);
  CodeletId const work = scope.add_codelet({.name = "work"});
  scope.add_data({.name = "a", .bytes = 1});
  scope.add_data({.name = "b", .bytes = 1});
  auto const submit = [&](std::vector<Access> const& accesses, double flops, int value) {
    TaskId const id =
        scope.submit({.codelet = work, .accesses = accesses, .flops = flops, .source_line = {"a.cpp", 10U + value}},
                     Parameters(value));
    EXPECT_FALSE(id.valid());
  };
  submit({write(0)}, 100, 1);          // followed by both readers of a
  submit({read(0), write(1)}, 30, 2);  // followed by the last
  submit({read(0)}, 500, 3);           // the end of its path
  submit({write(1)}, 7, 4);
  EXPECT_TRUE(target.priorities.empty());
  EXPECT_THROW(scope.release_data(DataId(0)), InvalidArgument);
  scope.close();
  EXPECT_EQ(target.priorities, (std::vector<std::int64_t>{600, 37, 500, 7}));
  EXPECT_EQ(target.accesses, (std::vector<std::size_t>{1, 2, 1, 1}));
  EXPECT_EQ(target.values, (std::vector<int>{1, 2, 3, 4}));
  EXPECT_EQ(target.lines, (std::vector<std::uint32_t>{11, 12, 13, 14}));
  scope.release_data(DataId(0));
  EXPECT_EQ(target.released.size(), 1U);
  scope.close();
  EXPECT_EQ(target.priorities.size(), 4U) << "what was submitted is not submitted again";
}

TEST(BottomLevelScope, SubmitsNothingWhenItIsNotClosed) {
  Recorder target;
  AveragingEstimator const estimator;
  {
    BottomLevelScope scope(target, estimator);
    std::vector<Access> const accesses{write(0)};
    scope.submit({.codelet = CodeletId(0), .accesses = accesses}, {});
  }
  EXPECT_TRUE(target.priorities.empty());
}

}  // namespace
}  // namespace granary
