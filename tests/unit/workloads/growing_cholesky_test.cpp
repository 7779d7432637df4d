// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/workloads/growing_cholesky.hpp>

#include "support/message_of.hpp"

#include <granary/detail/core/model/graph_recorder.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace granary::test {
namespace {

using testing::HasSubstr;

TEST(GrowingCholesky, TilesGrowWithTheirUpdates) {
  workloads::GrowingCholesky const cholesky({.tiles = 40, .tile = 64, .fraction = 0.1, .growth = 2});
  constexpr Bytes rank = 2 * 16 * 64, dense = 16 * 64 * 64;
  Bytes first = 0, last = 0, tiles = 0;
  for (std::int32_t i = 0; i < 40; ++i) {
    EXPECT_EQ(cholesky.value_bytes({i, i}, 1), dense);
    for (std::int32_t j = 0; j < i; ++j) {
      Bytes before = cholesky.value_bytes({i, j}, 1);
      first += before;
      ++tiles;
      EXPECT_GE(before, rank);
      Bytes const most = 2 * before + rank;
      for (std::uint32_t version = 2; version <= static_cast<std::uint32_t>(j) + 2; ++version) {
        Bytes const now = cholesky.value_bytes({i, j}, version);
        EXPECT_GE(now, before);
        EXPECT_EQ(now % rank, 0U);
        EXPECT_LE(now, most);
        before = now;
      }
      last += before;
    }
  }
  EXPECT_NEAR(static_cast<double>(first), 0.1 * static_cast<double>(tiles * dense),
              0.01 * static_cast<double>(tiles * dense));
  EXPECT_NEAR(static_cast<double>(last) / static_cast<double>(first), 1.5, 0.1);
  EXPECT_EQ(cholesky.working_set(), first + 40 * dense);
  EXPECT_NE(cholesky.value_bytes({9, 3}, 1),
            workloads::GrowingCholesky({.tiles = 40, .tile = 64, .seed = 1}).value_bytes({9, 3}, 1));
}

TEST(GrowingCholesky, HasTheFlopsOfItsTasks) {
  workloads::GrowingCholesky const cholesky({.tiles = 7, .tile = 64});
  detail::GraphRecorder graph;
  cholesky.submit(graph, {});
  double sum = 0;
  for (auto const& task : graph.tasks()) sum += task.flops;
  EXPECT_NEAR(cholesky.flops(), sum, 1e-9 * sum);
  EXPECT_EQ(graph.tasks().size(), 28U + 7U + 2U * 21U + 35U);
}

TEST(GrowingCholesky, RefusesTilesThatCannotBe) {
  auto const refusal = [](workloads::GrowingCholesky::Options const& options) {
    return message_of([&] { static_cast<void>(workloads::GrowingCholesky(options)); });
  };
  EXPECT_THAT(refusal({.fraction = 0}), HasSubstr("tiles cannot have 0.000000 of the bytes of dense ones at first"));
  EXPECT_THAT(refusal({.fraction = 0.6}), HasSubstr("at most 0.5"));
  EXPECT_THAT(refusal({.growth = 0.9}), HasSubstr("1 to 4"));
  EXPECT_THAT(refusal({.tiles = 0}), HasSubstr("out of range"));
}

}  // namespace
}  // namespace granary::test
