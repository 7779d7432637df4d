// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/core/model/bottom_level_scope.hpp>
#include <granary/detail/linalg/algorithms/cholesky.hpp>

#include <gtest/gtest.h>

#include "unit/linalg/immediate_submitter.hpp"

namespace granary {
namespace {

// An estimator with the four times, for any size.
class FixedTimes final : public Estimator {
 public:
  FixedTimes(testing::ImmediateSubmitter const& submitter, CholeskyTimes const& times)
      : m_submitter(submitter), m_times(times) {}
  [[nodiscard]] Duration kernel_time(CodeletId codelet, double, WorkerKind) const override {
    auto const& name = m_submitter.codelets[codelet.index()].name;
    if (name == "potrf") return Duration(m_times.potrf);
    if (name == "trsm") return Duration(m_times.trsm);
    return Duration(name == "syrk" ? m_times.syrk : m_times.gemm);
  }
  void observe_kernel(CodeletId, double, WorkerKind, Duration) override {}

 private:
  testing::ImmediateSubmitter const& m_submitter;
  CholeskyTimes m_times;
};

void expect_closed_form_is_bottom_level(std::uint64_t tiles, CholeskyTimes const& times, FactorOrder order) {
  testing::ImmediateSubmitter closed(false);
  testing::ImmediateSubmitter recorded(false);
  auto const grid = square_grid(tiles * 4, 4);
  TaskEmitter emit_closed(closed);
  potrf(emit_closed, make_temporary_matrix<double>(closed, grid, MatrixPart::Lower, "A"),
        {.order = order, .times = times});

  FixedTimes const estimator(recorded, times);
  BottomLevelScope scope(recorded, estimator);
  TaskEmitter emit_recorded(scope);
  potrf(emit_recorded, make_temporary_matrix<double>(recorded, grid, MatrixPart::Lower, "A"),
        {.order = order, .priorities = false});
  scope.close();

  ASSERT_EQ(closed.tasks.size(), recorded.tasks.size());
  for (std::size_t t = 0; t < closed.tasks.size(); ++t) {
    ASSERT_EQ(closed.tasks[t].priority, recorded.tasks[t].priority)
        << tiles << " tiles, task " << t << ", " << closed.tasks[t].codelet << ", times " << times.potrf << " "
        << times.trsm << " " << times.syrk << " " << times.gemm;
  }
}

TEST(CholeskyPriorities, AreTheBottomLevelsOfTheGraph) {
  for (std::uint64_t tiles : {1, 2, 3, 4, 5, 9, 16}) {
    expect_closed_form_is_bottom_level(tiles, {}, FactorOrder::RightLooking);
    expect_closed_form_is_bottom_level(tiles, {}, FactorOrder::LeftLooking);
    expect_closed_form_is_bottom_level(tiles, {.potrf = 1, .trsm = 1, .syrk = 1, .gemm = 1}, FactorOrder::RightLooking);
    expect_closed_form_is_bottom_level(tiles, {.potrf = 50, .trsm = 17, .syrk = 15, .gemm = 29},
                                       FactorOrder::RightLooking);
    expect_closed_form_is_bottom_level(tiles, {.potrf = 1, .trsm = 3, .syrk = 3, .gemm = 6}, FactorOrder::RightLooking);
  }
}

TEST(CholeskyPriorities, AreTheBottomLevelsForRandomTimes) {
  Random random(20);
  for (int i = 0; i < 100; ++i) {
    CholeskyTimes times{random.between(1, 50), random.between(1, 50), random.between(1, 50), random.between(1, 50)};
    times.syrk = std::min(times.syrk, times.trsm + times.gemm);
    expect_closed_form_is_bottom_level(static_cast<std::uint64_t>(random.between(1, 8)), times,
                                       FactorOrder::RightLooking);
  }
}

}  // namespace
}  // namespace granary
