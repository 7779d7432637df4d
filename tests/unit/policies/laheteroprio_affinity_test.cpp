// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/heteroprio/laheteroprio_affinity.hpp>

#include <gtest/gtest.h>

#include <initializer_list>

namespace granary {

using namespace detail;

namespace {

constexpr std::uint64_t mn0 = 1, mn1 = 2, mn2 = 4, all = mn0 | mn1 | mn2;
using Data = std::vector<AffinityDatum>;

AffinityDatum read(Bytes bytes, std::uint64_t on) { return {bytes, false, on}; }
AffinityDatum written(Bytes bytes, std::uint64_t on) { return {bytes, true, on}; }

struct Row {
  Data data;
  std::uint64_t sdh, sdh2, sdhb, smwb;
};

std::uint64_t winners(Affinity formula, Data const& data) { return best_columns(formula, data, 3, 1000); }

// LAHeteroprio, Table 1, computed with equations 6 to 9. In row 5 the printed table has only MN2 for LS_SDH, though MN1
// (A and C) and MN2 (C and D) host four bytes each.
TEST(LaheteroprioAffinity, TableOne) {
  Row const rows[] = {
      {{read(1, mn0 | mn1), written(1, mn2)}, all, all, mn2, mn2},
      {{read(1, mn0 | mn1), written(1, mn1 | mn2)}, mn1, mn1, mn1, mn1},
      {{written(1, mn0 | mn2), written(1, mn0), written(2, mn1 | mn2)}, mn2, mn2, mn2, mn2},
      {{written(1, all), written(1, mn0 | mn1), written(1, mn2)}, all, all, all, all},
      {{read(2, mn0 | mn1), read(1, mn0), written(2, mn1 | mn2), written(2, mn2)}, mn1 | mn2, mn2, mn2, mn2},
      {{written(10, mn0), written(11, mn2), written(18, mn1), written(11, mn0 | mn2)}, mn2, mn1, mn2, mn2},
      {{written(10, mn0), written(11, mn2), written(22, mn1), written(11, mn0 | mn2)}, mn1 | mn2, mn1, mn2, mn1 | mn2},
  };
  int number = 0;
  for (auto const& row : rows) {
    SCOPED_TRACE("row " + std::to_string(++number));
    EXPECT_EQ(winners(Affinity::LS_SDH, row.data), row.sdh);
    EXPECT_EQ(winners(Affinity::LS_SDH2, row.data), row.sdh2);
    EXPECT_EQ(winners(Affinity::LS_SDHB, row.data), row.sdhb);
    EXPECT_EQ(winners(Affinity::LC_SMWB, row.data), row.smwb);
  }
}

TEST(LaheteroprioAffinity, TheEquations) {
  Data const data{read(5, mn0), written(3, mn0), written(2, mn0), read(7, mn1), written(4, mn1)};
  EXPECT_DOUBLE_EQ(affinity_score(Affinity::LS_SDH, data, 0, 1000), 10);
  EXPECT_DOUBLE_EQ(affinity_score(Affinity::LS_SDH2, data, 0, 1000), 5 + 9 + 4);
  EXPECT_DOUBLE_EQ(affinity_score(Affinity::LS_SDHB, data, 0, 1000), 5 + 1000 * 2 * 5);
  // The missing bytes times the five data: 7 are read, 4 are written with weight 2 - 3/5.
  EXPECT_DOUBLE_EQ(affinity_score(Affinity::LC_SMWB, data, 0, 1000), -5 * (7 + 4 * (2 - 3.0 / 5)));
}

TEST(LaheteroprioAffinity, ThetaWeighsWrites) {
  Data const data{read(100, mn0), written(1, mn1)};
  EXPECT_EQ(best_columns(Affinity::LS_SDHB, data, 2, 1), mn0);
  EXPECT_EQ(best_columns(Affinity::LS_SDHB, data, 2, 1000), mn1);
}

TEST(LaheteroprioAffinity, WithoutDataAllColumnsAreBest) {
  for (Affinity const formula : AffinityChoice::rivals) EXPECT_EQ(winners(formula, {}), all);
}

TEST(AffinityChoice, TheLowestCounterChooses) {
  AffinityChoice choice(std::nullopt);
  EXPECT_EQ(choice.formula(), Affinity::LS_SDHB);
  choice.compared(Affinity::LS_SDHB, true);
  choice.compared(Affinity::LS_SDH2, true);
  choice.compared(Affinity::LC_SMWB, false);
  choice.choose();
  EXPECT_EQ(choice.formula(), Affinity::LC_SMWB);
  choice.compared(Affinity::LC_SMWB, true);
  choice.choose();
  EXPECT_EQ(choice.formula(), Affinity::LS_SDH);
  EXPECT_EQ(choice.differences(Affinity::LC_SMWB), 1U);
}

TEST(AffinityChoice, OfEqualOnesTheOneInUseStays) {
  AffinityChoice choice(std::nullopt);
  choice.compared(Affinity::LS_SDHB, true);
  choice.choose();
  EXPECT_EQ(choice.formula(), Affinity::LS_SDH2);
  for (Affinity const other : {Affinity::LS_SDH2, Affinity::LC_SMWB, Affinity::LS_SDH}) choice.compared(other, true);
  choice.choose();
  EXPECT_EQ(choice.formula(), Affinity::LS_SDH2);
}

TEST(AffinityChoice, LaRUAndMCDoNotCompete) {
  AffinityChoice choice(std::nullopt);
  for (Affinity const rival : AffinityChoice::rivals) choice.compared(rival, true);
  choice.choose();
  EXPECT_EQ(choice.formula(), Affinity::LS_SDHB);
}

TEST(AffinityChoice, AStatedFormulaStays) {
  AffinityChoice choice(Affinity::LaRU);
  choice.compared(Affinity::LaRU, true);
  choice.choose();
  EXPECT_EQ(choice.formula(), Affinity::LaRU);
  EXPECT_EQ(choice.differences(Affinity::LaRU), 1U);
}

}  // namespace
}  // namespace granary
