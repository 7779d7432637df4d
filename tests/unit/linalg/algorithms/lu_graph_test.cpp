// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tasks, accesses, flops and priorities that LU factorizations submit.
#include <set>

#include "unit/linalg/lu.hpp"

namespace granary::lu_graph_test {
namespace {

using testing::count_tasks;
using testing::ImmediateSubmitter;

std::vector<std::string> lines(ImmediateSubmitter const& submitter) {
  std::vector<std::string> seen;
  for (auto const& task : submitter.tasks) {
    std::string line = task.codelet;
    for (auto const& access : task.accesses) {
      line += (writes(access.mode) ? " *" : " ") + submitter.data[access.data.index()].name;
    }
    seen.push_back(line);
  }
  return seen;
}

TEST(LuGraph, WithoutPivotingHasTheTasksOfItsFormula) {
  for (auto const order : {detail::FactorOrder::RightLooking, detail::FactorOrder::LeftLooking}) {
    for (std::size_t n = 1; n <= 7; ++n) {
      ImmediateSubmitter submitter(false);
      TaskEmitter tasks(submitter);
      getrf_nopiv(tasks, make_temporary_matrix<double>(submitter, square_grid(n * 8, 8), MatrixPart::All, "A"),
                  {.order = order});
      EXPECT_EQ(count_tasks(submitter, "getrf"), n);
      EXPECT_EQ(count_tasks(submitter, "trsm_ll"), n * (n - 1) / 2);
      EXPECT_EQ(count_tasks(submitter, "trsm_ru"), n * (n - 1) / 2);
      EXPECT_EQ(submitter.tasks.size(), n * (n + 1) * (2 * n + 1) / 6);
      double const size = static_cast<double>(n * 8);
      EXPECT_NEAR(testing::total_flops(submitter), 2 * size * size * size / 3, 1e-9 * size * size * size);
    }
  }
}

// Measuring the growth needs no extra tasks, and delays none.
TEST(LuGraph, WithoutPivotingMeasuresTheGrowthInTheTasksThatChangeTiles) {
  for (auto const order : {detail::FactorOrder::RightLooking, detail::FactorOrder::LeftLooking}) {
    auto const grid = square_grid(24, 8);
    ImmediateSubmitter plain(false), measured(false);
    TaskEmitter plain_tasks(plain), measured_tasks(measured);
    detail::TileMaxima maxima(grid);
    getrf_nopiv(plain_tasks, make_temporary_matrix<double>(plain, grid, MatrixPart::All, "A"), {.order = order});
    getrf_nopiv(measured_tasks, make_temporary_matrix<double>(measured, grid, MatrixPart::All, "A"),
                {.order = order, .growth = testing::bind_growth(measured, maxima)});
    ASSERT_EQ(measured.tasks.size(), plain.tasks.size());
    std::size_t maxima_written = 0;
    std::set<DataId> seen;
    for (std::size_t t = 0; t < plain.tasks.size(); ++t) {
      EXPECT_EQ(measured.tasks[t].codelet, plain.tasks[t].codelet);
      EXPECT_EQ(measured.tasks[t].priority, plain.tasks[t].priority);
      EXPECT_EQ(measured.tasks[t].flops, plain.tasks[t].flops);
      for (auto const& access : measured.tasks[t].accesses) {
        if (measured.data[access.data.index()].bytes != sizeof(double)) continue;
        EXPECT_EQ(access.mode, detail::AccessMode::Write);
        EXPECT_TRUE(seen.insert(access.data).second);
        ++maxima_written;
      }
    }
    EXPECT_EQ(maxima_written, 9U + 6U);  // tiles of A, tiles of U
  }
}

TEST(LuGraph, WithPivotingMeasuresTheGrowthOfEachTileOnItsOwn) {
  auto const grid = square_grid(24, 8);
  ImmediateSubmitter submitter(false);
  TaskEmitter tasks(submitter);
  detail::TileMaxima maxima(grid);
  getrf(tasks, make_temporary_matrix<double>(submitter, grid, MatrixPart::All, "A"),
        make_temporary_pivots(submitter, grid), {.growth = testing::bind_growth(submitter, maxima)});
  EXPECT_EQ(count_tasks(submitter, "max_modulus"), 9U + 6U);
  for (auto const& task : submitter.tasks) {
    if (task.codelet != "max_modulus") continue;
    EXPECT_EQ(task.accesses.back().mode, detail::AccessMode::Write);
  }
}

TEST(LuGraph, WithoutPivotingSubmitsInTheStatedOrder) {
  ImmediateSubmitter right(false), left(false);
  TaskEmitter right_tasks(right), left_tasks(left);
  auto const grid = square_grid(16, 8);
  getrf_nopiv(right_tasks, make_temporary_matrix<double>(right, grid, MatrixPart::All, "A"));
  getrf_nopiv(left_tasks, make_temporary_matrix<double>(left, grid, MatrixPart::All, "A"),
              {.order = detail::FactorOrder::LeftLooking});
  EXPECT_EQ(lines(right),
            (std::vector<std::string>{"getrf *A(0, 0)", "trsm_ll A(0, 0) *A(0, 1)", "trsm_ru A(0, 0) *A(1, 0)",
                                      "gemm A(1, 0) A(0, 1) *A(1, 1)", "getrf *A(1, 1)"}));
  EXPECT_EQ(lines(left),
            (std::vector<std::string>{"getrf *A(0, 0)", "trsm_ru A(0, 0) *A(1, 0)", "trsm_ll A(0, 0) *A(0, 1)",
                                      "gemm A(1, 0) A(0, 1) *A(1, 1)", "getrf *A(1, 1)"}));
}

TEST(LuGraph, WithPivotingPlaysATournamentInTallPanels) {
  ImmediateSubmitter submitter(false);
  TaskEmitter tasks(submitter);
  detail::TileGrid const grid{48, 8, 8};
  getrf(tasks, make_temporary_matrix<double>(submitter, grid, MatrixPart::All, "A"),
        make_temporary_pivots(submitter, grid), {.leaf_tiles = 2});
  EXPECT_EQ(lines(submitter), (std::vector<std::string>{
                                  "select_rows A(0, 0) A(1, 0) *workspace of A *winners of A",
                                  "select_rows A(2, 0) A(3, 0) *workspace of A *winners of A",
                                  "select_rows A(4, 0) A(5, 0) *workspace of A *winners of A",
                                  "merge_rows winners of A winners of A *workspace of A *winners of A",
                                  "merge_rows winners of A *workspace of A *winners of A",
                                  "final_rows winners of A winners of A *workspace of A *pivots(0)",
                                  "swap_rows pivots(0) *A(0, 0) *A(1, 0) *A(2, 0)",
                                  "swap_rows pivots(0) *A(0, 0) *A(3, 0) *A(4, 0)",
                                  "swap_rows pivots(0) *A(0, 0) *A(5, 0)",
                                  "getrf *A(0, 0) *panel of A *pivots(0)",
                                  "trsm_ru A(0, 0) *A(1, 0)",
                                  "trsm_ru A(0, 0) *A(2, 0)",
                                  "trsm_ru A(0, 0) *A(3, 0)",
                                  "trsm_ru A(0, 0) *A(4, 0)",
                                  "trsm_ru A(0, 0) *A(5, 0)",
                              }));
  // All workspaces and winners are released.
  EXPECT_EQ(submitter.released.size(), 12U);
}

TEST(LuGraph, WithPivotingExchangesTheRowsOfLLast) {
  ImmediateSubmitter submitter(false);
  TaskEmitter tasks(submitter);
  auto const grid = square_grid(16, 8);
  getrf(tasks, make_temporary_matrix<double>(submitter, grid, MatrixPart::All, "A"),
        make_temporary_pivots(submitter, grid));
  EXPECT_EQ(lines(submitter), (std::vector<std::string>{
                                  "getrf_panel *A(0, 0) *A(1, 0) *panel of A *pivots(0)",
                                  "swap_rows pivots(0) *A(0, 1) *A(1, 1)",
                                  "trsm_ll A(0, 0) *A(0, 1)",
                                  "gemm A(1, 0) A(0, 1) *A(1, 1)",
                                  "getrf_panel *A(1, 1) *panel of A *pivots(1)",
                                  "swap_all_rows pivots(1) *A(1, 0)",
                              }));
  EXPECT_EQ(submitter.tasks.back().priority, 0);
  EXPECT_GT(submitter.tasks[4].priority, 0);
}

TEST(LuGraph, ByColumnsBeginsTheNextOnesAfterThePanelBeforeThem) {
  ImmediateSubmitter submitter(false);
  TaskEmitter tasks(submitter);
  auto const grid = square_grid(32, 8);
  getrf(tasks, make_temporary_matrix<double>(submitter, grid, MatrixPart::All, "A"),
        make_temporary_pivots(submitter, grid), {.order = detail::FactorOrder::LeftLooking, .columns = 2});
  std::vector<std::string> exchanges;
  for (auto const& line : lines(submitter)) {
    if (line.starts_with("swap_rows") && line.ends_with("pivots(1)")) exchanges.push_back(line);
  }
  EXPECT_EQ(exchanges, (std::vector<std::string>{
                           "swap_rows pivots(0) *A(0, 2) *A(1, 2) *A(2, 2) *A(3, 2) pivots(1)",
                           "swap_rows pivots(0) *A(0, 3) *A(1, 3) *A(2, 3) *A(3, 3) pivots(1)",
                       }));
}

TEST(LuGraph, FitPanelsWhereThreeQuartersOfTheMemoryHoldATileColumn) {
  detail::TileGrid const grid{4096, 4096, 512};
  Bytes const column = 4096 * 512 * sizeof(double), all = 8 * column;
  Bytes const least = (column + 4096 * 64 * sizeof(double)) / 3 * 4;
  auto const fit = [&](Bytes memory) { return fit_panels({.leaf_tiles = 4}, grid, sizeof(double), memory); };
  EXPECT_EQ(fit(least - 1).leaf_tiles, 4U);
  EXPECT_EQ(fit(least - 1).order, detail::FactorOrder::RightLooking);
  EXPECT_EQ(fit(least).leaf_tiles, 8U);
  EXPECT_TRUE(fit(least).host_panels);
  EXPECT_EQ(fit(least).order, detail::FactorOrder::LeftLooking);
  EXPECT_EQ(fit(least).columns, 1U);
  EXPECT_EQ(fit(5 * column / 2 + 4).columns, 2U);
  EXPECT_EQ(fit(5 * column / 2 - 5).columns, 1U);
  EXPECT_EQ(fit(all - 1).columns, 6U);
  EXPECT_EQ(fit(all).order, detail::FactorOrder::RightLooking);
}

TEST(LuGraph, NoTaskOfATournamentHasMoreTilesThanStated) {
  for (std::uint64_t leaf : {1, 2, 4}) {
    ImmediateSubmitter submitter(false);
    TaskEmitter tasks(submitter);
    auto const grid = square_grid(20 * 64, 64);
    Bytes const tile = 64 * 64 * sizeof(double);
    getrf(tasks, make_temporary_matrix<double>(submitter, grid, MatrixPart::All, "A"),
          make_temporary_pivots(submitter, grid), {.leaf_tiles = leaf});
    for (auto const& task : submitter.tasks) {
      Bytes bytes = 0;
      for (auto const& access : task.accesses) bytes += submitter.data[access.data.index()].bytes;
      EXPECT_LE(bytes, (2 * std::max<Bytes>(leaf, 2) + 2) * tile) << task.codelet;
    }
  }
}

std::int64_t time_of(std::string const& codelet, detail::LuTimes const& times) {
  return codelet == "getrf"     ? times.getrf
         : codelet == "trsm_ll" ? times.trsm_ll
         : codelet == "trsm_ru" ? times.trsm_ru
                                : times.gemm;
}

void expect_closed_form_is_bottom_level(detail::TileGrid const& grid, detail::LuTimes const& times,
                                        detail::FactorOrder order) {
  ImmediateSubmitter closed(false);
  TaskEmitter tasks(closed);
  getrf_nopiv(tasks, make_temporary_matrix<double>(closed, grid, MatrixPart::All, "A"),
              {.order = order, .times = times});
  auto const levels =
      testing::bottom_levels(closed, [&](std::string const& codelet) { return time_of(codelet, times); });
  for (std::size_t t = 0; t < closed.tasks.size(); ++t) {
    ASSERT_EQ(closed.tasks[t].priority, levels[t])
        << grid.tile_rows() << " x " << grid.tile_cols() << ", task " << t << ", " << closed.tasks[t].codelet;
  }
}

TEST(LuPriorities, AreTheBottomLevelsOfTheGraphForAnyTimes) {
  detail::Random random(21);
  for (int i = 0; i < 200; ++i) {
    detail::LuTimes const times = i == 0 ? detail::LuTimes{}
                                         : detail::LuTimes{random.between(1, 50), random.between(1, 50),
                                                           random.between(1, 50), random.between(1, 50)};
    auto const order = i % 2 == 0 ? detail::FactorOrder::RightLooking : detail::FactorOrder::LeftLooking;
    auto const rows = static_cast<std::uint64_t>(random.between(1, 9)),
               cols = static_cast<std::uint64_t>(random.between(1, 9));
    expect_closed_form_is_bottom_level({4 * rows, 4 * cols, 4}, times, order);
    expect_closed_form_is_bottom_level({4 * rows, 4 * rows, 4}, times, order);
  }
}

}  // namespace
}  // namespace granary::lu_graph_test
