// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/files/csv_file.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <clocale>
#include <cmath>
#include <cstring>
#include <limits>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/random.hpp>

#include "tests/support/io_support.hpp"
#include "tests/support/message_of.hpp"

namespace granary::csv_file_test {
namespace {

using test::message_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Names = std::vector<std::string>;
using Values = std::vector<double>;

/// A matrix in memory, row by row.
template <class T>
class MemoryOutput final : public detail::MatrixOutput {
 public:
  explicit MemoryOutput(detail::TileGrid const& grid)
      : detail::MatrixOutput(grid, scalar_type_of<T>), values(grid.rows * grid.cols, T(-77)) {}

  void read_async(std::uint64_t, std::byte*, Bytes, detail::IoCompletion) override {}
  void write_async(std::uint64_t slot, std::byte const* source, Bytes bytes, detail::IoCompletion done) override {
    EXPECT_EQ(bytes, tile_bytes(slot));
    auto const& t = tiling();
    auto const* tile = reinterpret_cast<T const*>(source);
    for (std::uint64_t r = 0; r < t.rows_in(t.row_of(slot)); ++r) {
      for (std::uint64_t c = 0; c < t.cols_in(t.col_of(slot)); ++c)
        values[(t.first(t.row_of(slot)) + r) * t.cols + t.first(t.col_of(slot)) + c] =
            tile[r * t.cols_in(t.col_of(slot)) + c];
    }
    done(nullptr);
  }
  [[nodiscard]] std::string describe(std::uint64_t) const override { return "memory"; }
  void commit() override {}

  std::vector<T> values;
};

class CsvFile : public ::testing::Test {
 protected:
  std::string write(std::string const& text) {
    std::ofstream(directory / "A.csv", std::ios::binary) << text;
    return directory / "A.csv";
  }
  Values read(std::string const& text, CsvOptions const& options = {}, std::uint64_t tile = 2, Bytes memory = 1_MiB) {
    auto const info = open_csv(write(text), options);
    MemoryOutput<double> output({info.rows, info.cols(), tile});
    read_csv_into(info, output, memory);
    return output.values;
  }
  // The message without the path.
  template <class Exception = DataError>
  std::string refusal(std::string const& text, CsvOptions const& options = {}) {
    auto const message = message_of<Exception>([&] { return read(text, options); });
    EXPECT_THAT(message, HasSubstr(directory / "A.csv")) << text;
    EXPECT_EQ(message.find('\n'), message.npos) << message;
    auto const start = message.find(directory / "A.csv");
    return start == message.npos ? message : std::string(message).replace(start, (directory / "A.csv").size(), "A.csv");
  }
  Names names(std::string const& text, CsvOptions const& options = {}) {
    return open_csv(write(text), options).columns;
  }

  test::TemporaryDirectory directory;
};

TEST_F(CsvFile, ReadsNumbersAsPeopleAndProgramsWriteThem) {
  Values const expected{1, 2, 3, 4};
  for (std::string const text : {"1,2\n3,4\n", "1,2\n3,4", "1,2\r\n3,4\r\n",
                                 "\xef\xbb\xbf"
                                 "1,2\n3,4\n",
                                 "1;2\n3;4\n", "1\t2\n3\t4\n", " 1 ,  2  \n3,\t4 \t\n", "\"1\",\"2\"\n\"3\" ,4\n",
                                 "+1,2.\n0.3e1,400E-2\n", "1,2\n3,4\n\n\r\n\n", "x,y\n1,2\n3,4\n",
                                 "\xef\xbb\xbf\"x\",\"y\"\r\n1,2\r\n3,4", ",y\n1,2\n3,4\n", "1,2\r\n3,4\r"}) {
    EXPECT_EQ(read(text), expected) << text;
  }
  EXPECT_EQ(read("1|2\n3|4\n", {.separator = '|'}), expected);
  EXPECT_EQ(read("1 \t2\n3\t 4\n"), expected) << "spaces beside tabs";
  EXPECT_EQ(read("5\n6\n7\n"), (Values{5, 6, 7}));
  EXPECT_EQ(read("-0.1,1e-400,4.9e-324,-1e-310\n"),
            (Values{-0.1, 0, std::numeric_limits<double>::denorm_min(), -1e-310}));
  EXPECT_EQ(read("0.1000000000000000055511151231257827021181583404541015625\n"), Values{0.1});
}

TEST_F(CsvFile, SpacesQuotesAndFieldsAtTheEndOfThePiecesThatAreRead) {
  std::string const spaces(3000, ' ');
  std::string text;
  Values expected;
  for (int i = 0; text.size() < (5U << 19U); ++i) {
    text += i % 3 == 0 ? std::to_string(i) : i % 3 == 1 ? "\"" + std::to_string(i) + "\"" : spaces + std::to_string(i);
    text += i % 2 == 0 ? "," : "\r\n";
    expected.push_back(i);
  }
  if (expected.size() % 2 == 1) text += std::to_string(expected.size()), expected.push_back(double(expected.size()));
  EXPECT_EQ(read(text, {}, 64, 4_MiB), expected);
  EXPECT_EQ(read(std::string(2U << 20U, ' ') + "12," + spaces + "34"), (Values{12, 34}));
}

TEST_F(CsvFile, NumbersAreTheSameInAnyLocale) {
  std::string const before = std::setlocale(LC_NUMERIC, nullptr);
  for (auto const* name : {"de_DE.UTF-8", "fr_FR.UTF-8"}) static_cast<void>(std::setlocale(LC_NUMERIC, name));
  EXPECT_EQ(read("1.5,2.25e1,1e-310\n"), (Values{1.5, 22.5, 1e-310}));
  std::setlocale(LC_NUMERIC, before.c_str());
}

TEST_F(CsvFile, EveryDoubleIsReadAsWritten) {
  detail::Random random(3);
  std::string text;
  Values expected;
  for (int i = 0; i < 3000; ++i) {
    auto const bits = random.below(~std::uint64_t{0});
    double value = 0;
    std::memcpy(&value, &bits, sizeof(value));
    if (!std::isfinite(value)) value = 1;
    char digits[40];
    std::snprintf(digits, sizeof(digits), "%.17g", value);
    text += std::string(digits) + (i % 5 == 4 ? "\n" : ",");
    expected.push_back(value);
  }
  for (std::uint64_t const tile : {1, 3, 100}) EXPECT_EQ(read(text, {}, tile, 8_MiB), expected) << tile;
}

TEST_F(CsvFile, TheFirstLineIsAHeaderIfItHasNamesAndNoNumber) {
  EXPECT_EQ(names("x,y\n1,2\n"), (Names{"x", "y"}));
  EXPECT_EQ(names("\"a,b\",\"c \"\"d\"\"\"\n1,2\n"), (Names{"a,b", "c \"d\""}));
  EXPECT_EQ(names("\"two\nlines\",y\n1,2\n3,4\n"), (Names{"two\nlines", "y"}));
  EXPECT_EQ(open_csv(write("\"two\nlines\",y\n1,2\n3,4\n")).rows, 2U);
  EXPECT_EQ(names("1,2\n"), Names{});
  EXPECT_EQ(names("nan,inf\n1,2\n"), Names{}) << "these are numbers";
  EXPECT_EQ(names(",\n1,2\n"), Names{}) << "holes are no names";
  EXPECT_EQ(names("station,1990\n1,2\n", {.header = true}), (Names{"station", "1990"}));
  EXPECT_EQ(names("1,2\n3,4\n", {.header = true}), (Names{"1", "2"}));
  EXPECT_EQ(names("a;b,c\n1;2\n"), (Names{"a", "b,c"})) << "a semicolon goes before a comma";
  EXPECT_EQ(names("a;b\tc\n1\t2\n"), (Names{"a;b", "c"})) << "a tab goes before both";
  EXPECT_EQ(names("\"a;b\",c\n1,2\n"), (Names{"a;b", "c"})) << "a quoted one does not count";
}

TEST_F(CsvFile, ColumnsAreChosenByNameAndNumber) {
  std::string const text = "name,x,y,10\nA,1,2,3\n\"B, C\",4,5,6\n";
  auto const chosen = [&](Names const& columns) { return read(text, {.columns = columns, .header = true}); };
  EXPECT_EQ(chosen({"y", "x"}), (Values{2, 1, 5, 4}));
  EXPECT_EQ(chosen({"2-4"}), (Values{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(chosen({"4", "x"}), (Values{3, 1, 6, 4}));
  EXPECT_EQ(chosen({"10"}), (Values{3, 6})) << "a name goes before a number";
  EXPECT_EQ(names(text, {.columns = {"y", "2"}, .header = true}), (Names{"y", "x"}));
  auto const refused = [&](Names const& columns) {
    return refusal<InvalidArgument>(text, {.columns = columns, .header = true});
  };
  EXPECT_EQ(refused({"z"}), "A.csv has no column 'z'; it has name, x, y, 10");
  EXPECT_EQ(refused({""}), "A.csv has no column ''; it has name, x, y, 10");
  EXPECT_EQ(refused({"5"}), "A.csv has columns 1 to 4, not 5");
  EXPECT_EQ(refused({"0"}), "A.csv has columns 1 to 4, not 0");
  EXPECT_EQ(refused({"3-2"}), "A.csv has columns 1 to 4, not 3-2");
  EXPECT_EQ(refused({"99999999999999999999"}), "A.csv has columns 1 to 4, not 99999999999999999999");
  EXPECT_EQ(refused({"x", "2"}), "column 2 of A.csv is chosen twice, the second time as '2'");
  EXPECT_EQ(refusal<InvalidArgument>("1,2\n", {.columns = {"x"}}),
            "A.csv has no column 'x'; its columns have no names but the numbers 1 to 2");
  std::string const same = "a,b,a\n1,2,3\n";
  auto const two = "columns 1 and 3 of A.csv have the same name 'a': choose one of them by its number";
  EXPECT_EQ(refusal<InvalidArgument>(same), two);
  EXPECT_EQ(refusal<InvalidArgument>(same, {.columns = {"a"}}), two);
  EXPECT_EQ(refusal<InvalidArgument>(same, {.columns = {"1-3"}}), two);
  EXPECT_EQ(read(same, {.columns = {"b", "3"}}), (Values{2, 3}));
}

TEST_F(CsvFile, WhatIsNotANumberIsRefusedByLineAndColumn) {
  EXPECT_EQ(refusal("x,y\n1,2\n3,\n"), "A.csv, line 3, column 2 (y): the value is missing");
  EXPECT_EQ(refusal("x,y\n1,2\n3,NA\n"), "A.csv, line 3, column 2 (y): the value is missing: 'NA'");
  EXPECT_EQ(refusal("1,NA\n3,4\n"), "A.csv, line 1, column 2: the value is missing: 'NA'");
  EXPECT_EQ(refusal("x,y\n1,2\nabc,4\n"), "A.csv, line 3, column 1 (x): 'abc' is not a number");
  EXPECT_EQ(refusal("x,y\n1,\x1b[2J\n"), "A.csv, line 2, column 2 (y): '\\x1b[2J' is not a number");
  EXPECT_EQ(refusal("x,1\n1,2\n"),
            "A.csv, line 1, column 1: 'x' is not a number; a header that has numbers too needs --header");
  EXPECT_EQ(refusal("x;y\n1,5;2\n"),
            "A.csv, line 2, column 1 (x): '1,5' is not a number; decimals are written with a point");
  EXPECT_EQ(refusal("x,y\n1,2\n\"3\n4\",5\n6,7\n"), "A.csv, line 3, column 1 (x): '3\\x0a4' is not a number");
  for (auto const* text : {"0x10", "--5", "+-5", "1 2", "1e", "1d5", "1_000", ".", "+", "-", "e5", "1.2.3", "infinit"})
    EXPECT_EQ(refusal(std::string("x\n") + text),
              "A.csv, line 2, column 1 (x): '" + std::string(text) + "' is not a number");
  EXPECT_EQ(refusal("x,y\n1,1e400\n"), "A.csv, line 2, column 2 (y): '1e400' is too large for a double");
  EXPECT_EQ(refusal("x,y\n-1e99999,1\n"), "A.csv, line 2, column 1 (x): '-1e99999' is too large for a double");
  EXPECT_EQ(refusal("x,y\n1,nan\n"), "A.csv, line 2, column 2 (y): the value is NaN");
  EXPECT_EQ(refusal("x,y\n-inf,1\n"), "A.csv, line 2, column 1 (x): the value is infinity");
}

TEST_F(CsvFile, MalformedTextIsRefused) {
  EXPECT_EQ(refusal(""), "A.csv has no rows: it is empty");
  EXPECT_EQ(refusal("\n\n"), "A.csv has no rows: it is empty");
  EXPECT_EQ(refusal("\xef\xbb\xbf"), "A.csv has no rows: it is empty");
  EXPECT_EQ(refusal("x,y\n\n"), "A.csv has no rows below its header");
  EXPECT_EQ(refusal("x,y\n1,2\n3\n"), "A.csv, line 3: the number of fields is 1, and 2 in the first line");
  EXPECT_EQ(refusal("1,2\n3,4,5\n"), "A.csv, line 2: the number of fields is 3, and 2 in the first line");
  EXPECT_EQ(refusal("1,2\n\n3,4\n"), "A.csv, line 2: the line is empty");
  EXPECT_EQ(refusal("\n1,2\n"), "A.csv, line 1: the line is empty");
  EXPECT_EQ(refusal("1,2\n\"3,4\n5,6\n"), "A.csv, line 2: the quoted field 1 has no end");
  EXPECT_EQ(refusal("1,2\n\"3\"4,5\n"), "A.csv, line 2: there is text after the closing quote of field 1");
  EXPECT_EQ(refusal("x,y\n1,2\"\n"), "A.csv, line 2: field 2 has a quote inside; quotes surround a whole field");
  EXPECT_EQ(refusal("1,2\n3," + std::string(5000, '4')), "A.csv, line 2: field 2 is longer than 4096 bytes");
  EXPECT_EQ(refusal("1,2\n3,\"" + std::string(5000, '4') + "\""),
            "A.csv, line 2: the quoted field 2 is longer than 4096 bytes");
  EXPECT_EQ(read("1," + std::string(4000, '0') + "4"), (Values{1, 4})) << "a long number";
}

TEST_F(CsvFile, FilesThatCannotBeOpened) {
  EXPECT_THAT(message_of([&] { return open_csv(directory / "none.csv"); }), HasSubstr("No such file"));
  EXPECT_THAT(message_of([&] { return open_csv(directory.path()); }), HasSubstr("it is not a regular file"));
  ASSERT_EQ(::mkfifo((directory / "fifo").c_str(), 0600), 0);
  EXPECT_THAT(message_of([&] { return open_csv(directory / "fifo"); }), HasSubstr("it is not a regular file"));
}

TEST_F(CsvFile, AFileThatChangesWhileItIsReadIsRefused) {
  auto const path = write("1,2\n3,4\n5,6\n");
  auto const info = open_csv(path);
  auto const read_again = [&](std::string const& text) {
    write(text);
    MemoryOutput<double> output({3, 2, 2});
    return message_of<DataError>([&] { return read_csv_into(info, output, 1_MiB), 0; });
  };
  EXPECT_EQ(read_again("1,2\n3,4\n"), path + " became shorter while it was read");
  EXPECT_EQ(read_again("1,2\n3,4\n5,6\n7,8\n"), path + " became longer while it was read");
}

TEST_F(CsvFile, NeedsMemoryForOneRowOfTiles) {
  std::string text;
  Values expected;
  for (int i = 0; i < 50; ++i) {
    for (int j = 0; j < 9; ++j) {
      expected.push_back(i * 100 + j);
      text += std::to_string(i * 100 + j) + (j < 8 ? "," : "\n");
    }
  }
  auto const least = csv_memory({50, 9, 4}, ScalarType::Float64);
  EXPECT_EQ(least, 3U * 4096U);
  for (auto const memory : {least, 2 * least, 100 * least}) EXPECT_EQ(read(text, {}, 4, memory), expected) << memory;
  EXPECT_THAT(message_of([&] { return read(text, {}, 4, least - 1); }),
              HasSubstr("a row of tiles of 4 x 9 elements needs 12.0 KiB, more than the memory limit of 12.0 KiB"));
  MemoryOutput<double> other({50, 8, 4});
  EXPECT_THAT(message_of([&] { return read_csv_into(open_csv(directory / "A.csv"), other, 1_MiB), 0; }),
              HasSubstr("has 50 x 9 elements, and the output 50 x 8"));
}

TEST_F(CsvFile, RoundsToSinglePrecision) {
  auto const info = open_csv(write("x,y\n0.1,2\n3,1e39\n"));
  MemoryOutput<float> output({2, 2, 2});
  EXPECT_EQ(message_of<DataError>([&] { return read_csv_into(info, output, 1_MiB), 0; }),
            info.path + ", line 3, column 2 (y): the number is too large for single precision");
  auto const small = open_csv(write("x,y\n0.1,2\n3,1e38\n"));
  read_csv_into(small, output, 1_MiB);
  EXPECT_THAT(output.values, ElementsAre(0.1F, 2.0F, 3.0F, 1e38F));
}

TEST(CsvNames, OfFilesAndLists) {
  EXPECT_TRUE(is_csv_name("a/b.csv") && is_csv_name("B.CSV") && is_csv_name("x.tsv"));
  EXPECT_FALSE(is_csv_name("csv") || is_csv_name("a.csv.h5") || is_csv_name("a.txt"));
  EXPECT_EQ(split_csv_line("x,1,3-5"), (Names{"x", "1", "3-5"}));
  EXPECT_EQ(split_csv_line("\"a,b\",\"c\"\"d\""), (Names{"a,b", "c\"d"}));
  EXPECT_EQ(split_csv_line(""), Names{""});
  EXPECT_THAT(message_of([] { return split_csv_line("\"a,b"); }), HasSubstr("a quote has no end"));
}

}  // namespace
}  // namespace granary::csv_file_test
