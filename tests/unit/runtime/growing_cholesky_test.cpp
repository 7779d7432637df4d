// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/workloads/growing_cholesky.hpp>
#include <granary/granary.hpp>

#include <gtest/gtest.h>

namespace granary::growing_test {
namespace {

TEST(GrowingCholesky, RunsForReal) {
  workloads::GrowingCholesky const cholesky({.tiles = 10, .tile = 64});
  Runtime runtime(
      {.workers = 2, .devices = "none", .host_memory = 1_MiB, .scratch = testing::TempDir(), .models = models_off});
  cholesky.submit(runtime.submitter(), {});
  runtime.wait();
  EXPECT_LE(runtime.figures().host_memory_peak, 1_MiB);
  EXPECT_GT(runtime.figures().bytes_written, 0U) << "the tiles need more";
}

}  // namespace
}  // namespace granary::growing_test
