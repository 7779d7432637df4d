// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/linalg/algorithms/cholesky.hpp>

#include <gtest/gtest.h>

#include "unit/linalg/immediate_submitter.hpp"

namespace granary {
namespace {

std::int64_t time_of(std::string const& codelet, detail::CholeskyTimes const& times) {
  if (codelet == "potrf") return times.potrf;
  if (codelet == "trsm") return times.trsm;
  return codelet == "syrk" ? times.syrk : times.gemm;
}

void expect_closed_form_is_bottom_level(std::uint64_t tiles, detail::CholeskyTimes const& times,
                                        detail::FactorOrder order) {
  testing::ImmediateSubmitter closed(false);
  TaskEmitter tasks(closed);
  potrf(tasks, make_temporary_matrix<double>(closed, square_grid(tiles * 4, 4), MatrixPart::Lower, "A"),
        {.order = order, .times = times});
  auto const levels =
      testing::bottom_levels(closed, [&](std::string const& codelet) { return time_of(codelet, times); });
  for (std::size_t t = 0; t < closed.tasks.size(); ++t) {
    ASSERT_EQ(closed.tasks[t].priority, levels[t])
        << tiles << " tiles, task " << t << ", " << closed.tasks[t].codelet << ", times " << times.potrf << " "
        << times.trsm << " " << times.syrk << " " << times.gemm;
  }
}

TEST(CholeskyPriorities, AreTheBottomLevelsOfTheGraph) {
  for (std::uint64_t tiles : {1, 2, 3, 4, 5, 9, 16}) {
    expect_closed_form_is_bottom_level(tiles, {}, detail::FactorOrder::RightLooking);
    expect_closed_form_is_bottom_level(tiles, {}, detail::FactorOrder::LeftLooking);
    expect_closed_form_is_bottom_level(tiles, {.potrf = 1, .trsm = 1, .syrk = 1, .gemm = 1},
                                       detail::FactorOrder::RightLooking);
    expect_closed_form_is_bottom_level(tiles, {.potrf = 50, .trsm = 17, .syrk = 15, .gemm = 29},
                                       detail::FactorOrder::RightLooking);
    expect_closed_form_is_bottom_level(tiles, {.potrf = 1, .trsm = 3, .syrk = 3, .gemm = 6},
                                       detail::FactorOrder::RightLooking);
  }
}

TEST(CholeskyPriorities, AreTheBottomLevelsForRandomTimes) {
  detail::Random random(20);
  for (int i = 0; i < 100; ++i) {
    detail::CholeskyTimes times{random.between(1, 50), random.between(1, 50), random.between(1, 50),
                                random.between(1, 50)};
    times.syrk = std::min(times.syrk, times.trsm + times.gemm);
    expect_closed_form_is_bottom_level(static_cast<std::uint64_t>(random.between(1, 8)), times,
                                       detail::FactorOrder::RightLooking);
  }
}

}  // namespace
}  // namespace granary
