// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/runtime/read_csv.hpp>

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>

#include "unit/linalg/api.hpp"

namespace granary::read_csv_test {
namespace {

using ::testing::ElementsAre;

class ReadCsv : public testing::Files {
 protected:
  std::string write_text(std::string const& text) const {
    std::ofstream(file("points.csv")) << text;
    return file("points.csv");
  }
};

TEST_F(ReadCsv, ReadsColumnsIntoAView) {
  auto const path = write_text("name,x,y,value\nA,0,1,2.5\nB,3,4,-1e2\nC,nan,-inf,0\n");
  auto const points = read_csv(path, {"value", "x", "y"});
  EXPECT_THAT(points.columns, ElementsAre("value", "x", "y"));
  ASSERT_EQ(points.values.extent(0), 3U);
  ASSERT_EQ(points.values.extent(1), 3U);
  EXPECT_EQ(points.values(0, 0), 2.5);
  EXPECT_EQ(points.values(1, 1), 3);
  EXPECT_EQ(points.values(1, 0), -100);
  EXPECT_TRUE(std::isnan(points.values(2, 1)));
  EXPECT_EQ(points.values(2, 2), -INFINITY);
}

TEST_F(ReadCsv, ReadsAllColumnsAndOtherSeparators) {
  auto const all = read_csv(write_text("1;2\n3;4\n"));
  EXPECT_EQ(all.values(1, 0), 3);
  EXPECT_TRUE(all.columns.empty());
  auto const years = read_csv(write_text("1990|1991\n1|2\n"), {.separator = '|', .header = true});
  EXPECT_THAT(years.columns, ElementsAre("1990", "1991"));
  EXPECT_EQ(years.values.extent(0), 1U);
}

TEST_F(ReadCsv, RefusesWithLineAndColumn) {
  auto const path = write_text("name,x,y\nA,0,1\nB,3,\n");
  try {
    static_cast<void>(read_csv(path, {"x", "y"}));
    FAIL() << "accepted";
  } catch (DataError const& error) {
    EXPECT_EQ(error.what(), path + ", line 3, column 3 (y): the value is missing");
  }
  EXPECT_EQ(testing::refusal([&] {
              static_cast<void>(read_csv(path, {"x", "z"}));
            }),
            path + " has no column 'z'; it has name, x, y");
  EXPECT_THROW(static_cast<void>(read_csv(file("none.csv"))), InvalidArgument);
  for (char const separator : {'\n', '5', '.', '"', '-'}) {
    EXPECT_THAT(testing::refusal([&] { static_cast<void>(read_csv(path, CsvOptions{.separator = separator})); }),
                ::testing::HasSubstr("neither tab nor one of ,;|"));
  }
}

}  // namespace
}  // namespace granary::read_csv_test
