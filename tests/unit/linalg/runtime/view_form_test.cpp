// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/runtime/view_form.hpp>

#include "support/message_of.hpp"

#include <gtest/gtest.h>

namespace granary::detail {
namespace {

struct Form {
  TileLayout layout;
  std::uint64_t leading;
  bool operator==(Form const&) const = default;
};

Form form(TileGrid const& grid, std::int64_t row_stride, std::int64_t col_stride) {
  auto const found = view_form("v", grid, row_stride, col_stride);
  EXPECT_EQ(found.rows, grid.rows);
  EXPECT_EQ(found.cols, grid.cols);
  return {found.layout, found.ld};
}
std::string refusal(TileGrid const& grid, std::int64_t row_stride, std::int64_t col_stride) {
  return test::message_of([&] { return view_form("v", grid, row_stride, col_stride); });
}

TEST(ViewForm, OneStrideIsOneAndTheOtherLeads) {
  EXPECT_EQ(form({4, 5, 2}, 1, 4), (Form{TileLayout::ColumnMajor, 4}));
  EXPECT_EQ(form({4, 5, 2}, 1, 7), (Form{TileLayout::ColumnMajor, 7}));
  EXPECT_EQ(form({4, 5, 2}, 5, 1), (Form{TileLayout::RowMajor, 5}));
  EXPECT_EQ(form({4, 5, 2}, 9, 1), (Form{TileLayout::RowMajor, 9}));
}

TEST(ViewForm, TheStrideOfAnExtentOfOneSaysNothing) {
  EXPECT_EQ(form({6, 1, 2}, 1, -3), (Form{TileLayout::ColumnMajor, 6}));
  EXPECT_EQ(form({6, 1, 2}, 4, 0), (Form{TileLayout::RowMajor, 4}));
  EXPECT_EQ(form({1, 6, 2}, -3, 1), (Form{TileLayout::RowMajor, 6}));
  EXPECT_EQ(form({1, 6, 2}, 0, 4), (Form{TileLayout::ColumnMajor, 4}));
  EXPECT_EQ(form({1, 1, 2}, 0, 0).leading, 1U);
}

TEST(ViewForm, KernelsCountTo2To31) {
  constexpr std::int64_t most = (std::int64_t{1} << 31) - 1;
  constexpr auto longer = static_cast<std::uint64_t>(most) + 10;
  EXPECT_EQ(form({4, 5, 2}, 1, most), (Form{TileLayout::ColumnMajor, most}));
  EXPECT_EQ(form({4, 5, 2}, most, 1), (Form{TileLayout::RowMajor, most}));
  EXPECT_EQ(
      refusal({4, 5, 2}, 1, most + 1),
      "the View 'v' of 4 x 5 has strides 1 and 2147483648: the kernels count up to 2147483647; copy the matrix to "
      "a View without such gaps");
  EXPECT_NE(refusal({4, 5, 2}, (std::int64_t{1} << 32) + 5, 1).find("strides 4294967301 and 1"), std::string::npos);
  // A single row or column has no leading dimension that matters.
  EXPECT_EQ(form({longer, 1, 512}, 1, 0), (Form{TileLayout::ColumnMajor, most}));
  EXPECT_EQ(form({1, longer, 512}, 0, 1), (Form{TileLayout::RowMajor, most}));
  EXPECT_EQ(refusal({longer, 1, longer}, 1, 0),
            "the tile size of the View 'v' of 2147483657 x 1 must be at most 2147483647, not 2147483657");
}

TEST(ViewForm, RefusesWithTheNameTheExtentsAndTheStrides) {
  EXPECT_EQ(refusal({0, 5, 2}, 1, 4), "the View 'v' of 0 x 5 is empty");
  EXPECT_EQ(refusal({5, 0, 2}, 1, 4), "the View 'v' of 5 x 0 is empty");
  EXPECT_EQ(refusal({4, 5, 0}, 1, 4), "the tile size of the View 'v' of 4 x 5 must be at least 1, not 0");
  EXPECT_EQ(refusal({4, 5, 2}, 2, 8), "the View 'v' of 4 x 5 has strides 2 and 8: one of them must be 1");
  EXPECT_EQ(refusal({4, 5, 2}, 1, 3), "the View 'v' of 4 x 5 has strides 1 and 3: its elements overlap");
  EXPECT_EQ(refusal({4, 5, 2}, 1, 1), "the View 'v' of 4 x 5 has strides 1 and 1: its elements overlap");
  EXPECT_EQ(refusal({4, 5, 2}, 4, 1), "the View 'v' of 4 x 5 has strides 4 and 1: its elements overlap");
  EXPECT_EQ(refusal({4, 5, 2}, 1, 0), "the View 'v' of 4 x 5 has strides 1 and 0: its elements overlap");
  for (std::int64_t const stride : {-4, -1}) {
    EXPECT_NE(refusal({4, 5, 2}, 1, stride).find("negative"), std::string::npos) << refusal({4, 5, 2}, 1, stride);
    EXPECT_NE(refusal({4, 5, 2}, stride, 1).find("negative"), std::string::npos) << refusal({4, 5, 2}, stride, 1);
    EXPECT_NE(refusal({4, 1, 2}, stride, 1).find("negative"), std::string::npos) << refusal({4, 1, 2}, stride, 1);
    EXPECT_NE(refusal({1, 4, 2}, 1, stride).find("negative"), std::string::npos) << refusal({1, 4, 2}, 1, stride);
  }
  EXPECT_NE(refusal({4, 1, 2}, 0, 1).find("overlap"), std::string::npos);
}

}  // namespace
}  // namespace granary::detail
