// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/simulator/ground_truth.hpp>

#include <gtest/gtest.h>

#include <set>

namespace granary {
namespace {

Task task_of(std::uint64_t number, double flops) {
  Task task;
  task.id = TaskId(number);
  task.flops = flops;
  return task;
}

detail::Worker worker_of(detail::WorkerKind kind) { return {.name = "w", .node = NodeId(0), .kind = kind}; }

TEST(ConstantSpeeds, MultipliesFlopsByTheKindsSpeed) {
  detail::ConstantSpeeds::Options options;
  options.seconds_per_flop = {1e-9, 1e-10};
  options.codelets["gemm"] = {2e-9, 4e-10};
  detail::ConstantSpeeds const truth(options);
  detail::Codelet const plain{.name = "plain"};
  detail::Codelet const gemm{.name = "gemm"};
  EXPECT_EQ(truth.kernel_time(task_of(0, 1000), plain, worker_of(detail::WorkerKind::Cpu)), Duration(1000));
  EXPECT_EQ(truth.kernel_time(task_of(0, 1000), plain, worker_of(detail::WorkerKind::Device)), Duration(100));
  EXPECT_EQ(truth.kernel_time(task_of(0, 1000), gemm, worker_of(detail::WorkerKind::Cpu)), Duration(2000));
  EXPECT_EQ(truth.kernel_time(task_of(0, 1000), gemm, worker_of(detail::WorkerKind::Device)), Duration(400));
  EXPECT_EQ(truth.kernel_time(task_of(0, 0), gemm, worker_of(detail::WorkerKind::Cpu)), options.without_flops);
}

TEST(ConstantSpeeds, JittersWithinItsBoundsAndByTheTasksNumberAlone) {
  detail::ConstantSpeeds::Options options;
  options.seconds_per_flop = {1e-9, 1e-9};
  options.jitter = 0.25;
  options.seed = 5;
  detail::ConstantSpeeds const truth(options);
  detail::Codelet const codelet{.name = "c"};
  std::set<Duration> seen;
  for (std::uint64_t t = 0; t < 200; ++t) {
    auto const time = truth.kernel_time(task_of(t, 1e6), codelet, worker_of(detail::WorkerKind::Cpu));
    EXPECT_GE(time, Duration(750000));
    EXPECT_LE(time, Duration(1250000));
    EXPECT_EQ(time, truth.kernel_time(task_of(t, 1e6), codelet, worker_of(detail::WorkerKind::Cpu)));
    seen.insert(time);
  }
  EXPECT_GT(seen.size(), 150U);
  options.seed = 6;
  EXPECT_NE(detail::ConstantSpeeds(options).kernel_time(task_of(0, 1e6), codelet, worker_of(detail::WorkerKind::Cpu)),
            truth.kernel_time(task_of(0, 1e6), codelet, worker_of(detail::WorkerKind::Cpu)));
}

TEST(ConstantSpeeds, RefusesWhatCannotBe) {
  detail::ConstantSpeeds::Options options;
  options.jitter = 1;
  EXPECT_THROW(detail::ConstantSpeeds{options}, InvalidArgument);
  options.jitter = 0;
  options.seconds_per_flop = {-1, 0};
  EXPECT_THROW(detail::ConstantSpeeds{options}, InvalidArgument);
  options.seconds_per_flop = {0, 0};
  options.codelets["bad"] = {0, -1};
  EXPECT_THROW(detail::ConstantSpeeds{options}, InvalidArgument);
  options.codelets.clear();
  options.without_flops = Duration(-1);
  EXPECT_THROW(detail::ConstantSpeeds{options}, InvalidArgument);
}

}  // namespace
}  // namespace granary
