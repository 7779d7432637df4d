// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/files/matrix_market.hpp>

#include <gtest/gtest.h>

#include <complex>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/files/npy_sink.hpp>
#include <granary/detail/linalg/generators/generators.hpp>
#include <granary/detail/outofcore/io_engine_choice.hpp>

#include "tests/support/io_support.hpp"
#include "tests/support/message_of.hpp"

namespace granary {
namespace {

using Complex = std::complex<double>;
using test::message_of;

/// A matrix in memory, of Complex128.
class MemoryOutput final : public detail::MatrixOutput {
 public:
  MemoryOutput(detail::TileGrid const& grid, ScalarType type = ScalarType::Complex128)
      : detail::MatrixOutput(grid, type), values(grid.rows * grid.cols) {}

  void read_async(std::uint64_t, std::byte*, Bytes, detail::IoCompletion) override {}
  void write_async(std::uint64_t slot, std::byte const* source, Bytes, detail::IoCompletion done) override {
    auto const& t = tiling();
    auto const* tile = reinterpret_cast<Complex const*>(source);
    ++writes;
    for (std::uint64_t r = 0; r < t.rows_in(t.row_of(slot)); ++r) {
      for (std::uint64_t c = 0; c < t.cols_in(t.col_of(slot)); ++c)
        values[(t.first(t.row_of(slot)) + r) * t.cols + t.first(t.col_of(slot)) + c] =
            tile[r * t.cols_in(t.col_of(slot)) + c];
    }
    done(nullptr);
  }
  [[nodiscard]] std::string describe(std::uint64_t) const override { return "memory"; }
  void commit() override {}

  std::vector<Complex> values;
  std::uint64_t writes = 0;
};

class MatrixMarket : public ::testing::Test {
 protected:
  std::string write(std::string const& text) {
    std::ofstream(directory / "A.mtx") << text;
    return directory / "A.mtx";
  }
  std::vector<Complex> read(std::string const& text, std::uint64_t tile = 2, Bytes memory = 1_MiB) {
    auto const info = open_matrix_market(write(text));
    MemoryOutput output({info.rows, info.cols, tile});
    read_matrix_market(info, output, memory);
    EXPECT_EQ(output.writes, output.tiling().tile_rows() * output.tiling().tile_cols());
    return output.values;
  }
  std::string refusal(std::string const& text, Bytes memory = 1_MiB) {
    auto const start = (directory / "A.mtx") + ", line ";
    auto const message = message_of<DataError>([&] { (void)read(text, 2, memory); });
    return message.starts_with(start) ? message.substr(start.size()) : message;
  }

  test::TemporaryDirectory directory;
};

using Values = std::vector<Complex>;

TEST_F(MatrixMarket, ReadsArraysAndLists) {
  EXPECT_EQ(read("%%MatrixMarket matrix array real general\n% a comment\n\n2 3\n1\n2\n3\n4.5\n-5e-1\n+6\n"),
            (Values{1, 3, -.5, 2, 4.5, 6}));
  EXPECT_EQ(read("%%matrixmarket MATRIX Coordinate Real General\r\n2 3 3\r\n2 3 7\r\n1 1 1\r\n2 3 1\r\n"),
            (Values{1, 0, 0, 0, 0, 8}))
      << "entries of the same place are added";
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate integer general\n1 2 0\n"), (Values{0, 0}));
  EXPECT_EQ(read("%%MatrixMarket matrix array complex general\n1 2\n1 2\n 3\t-4 \n"),
            (Values{Complex(1, 2), Complex(3, -4)}));
  EXPECT_EQ(read("%%MatrixMarket matrix array real general\n1 1\n1e-400\n"), Values{0}) << "too small for a double";
}

TEST_F(MatrixMarket, ReadsWhatFortranAndEditorsWrite) {
  EXPECT_EQ(read("%%MatrixMarket matrix array real general\n2 1\n1.5D2\n-2d-1\n"), (Values{150, -.2}));
  std::string const marked = "\xef\xbb\xbf%%MatrixMarket matrix array real general\n1 1\n7\n";
  EXPECT_EQ(read(marked), Values{7});
  EXPECT_TRUE(is_matrix_market(write(marked)));
  EXPECT_EQ(refusal("%%MatrixMarket matrix array real general\n1 1\nd2\n"), "3: 'd2' is not an entry of this matrix");
  EXPECT_EQ(refusal("%%MatrixMarket matrix array real general\n1 1\n1D2D3\n"),
            "3: '1D2D3' is not an entry of this matrix");
}

TEST_F(MatrixMarket, MirrorsTheTriangleThatIsStored) {
  // With room for one tile the text is read again for each.
  for (Bytes const memory : {4_KiB, 12_KiB, 1_MiB}) {
    EXPECT_EQ(read("%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n", 2, memory),
              (Values{1, 2, 3, 2, 4, 5, 3, 5, 6}));
    EXPECT_EQ(read("%%MatrixMarket matrix coordinate complex hermitian\n3 3 2\n3 1 1 2\n2 2 5 0\n", 2, memory),
              (Values{0, 0, Complex(1, -2), 0, 5, 0, Complex(1, 2), 0, 0}));
    EXPECT_EQ(read("%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n", 2, memory),
              (Values{0, -1, -2, 1, 0, -3, 2, 3, 0}));
    EXPECT_EQ(read("%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n3 2 1\n", 2, memory),
              (Values{0, 0, 0, 0, 0, -1, 0, 1, 0}));
  }
}

TEST_F(MatrixMarket, WhatIsWrittenIsReadBackInAnyMemory) {
  for (auto const type : {ScalarType::Float64, ScalarType::Complex128}) {
    auto const source = open_generated("general:45x31:4", 8, type);
    auto const path = directory / "G.mtx";
    write_matrix_market(*source, path, market_memory(source->tiling(), type));
    auto const info = open_matrix_market(path);
    EXPECT_EQ(info.scalar_type, type);
    auto const complex = open_generated("general:45x31:4", 64, type);
    test::AlignedMemory tile(complex->tile_bytes(0));
    test::read(*complex, 0, tile);
    for (Bytes const memory : {4_KiB, 20_KiB, 24_KiB, 50_KiB, 1_MiB}) {
      MemoryOutput output({45, 31, 8});
      read_matrix_market(info, output, memory);
      for (std::uint64_t i = 0; i < 45; ++i) {
        for (std::uint64_t j = 0; j < 31; ++j) {
          auto const expected =
              type == ScalarType::Complex128 ? tile.as<Complex>()[i * 31 + j] : Complex(tile.as<double>()[i * 31 + j]);
          ASSERT_EQ(output.values[i * 31 + j], expected) << memory << ": " << i << ", " << j;
        }
      }
    }
  }
}

TEST_F(MatrixMarket, MemoryIsRespected) {
  auto const source = open_generated("general:45x31:4", 8);
  EXPECT_EQ(message_of<InvalidArgument>([&] { write_matrix_market(*source, directory / "G.mtx", 1000); }),
            "a tile column of 45 x 8 elements needs 24.0 KiB, more than the memory limit of 1000 B");
  EXPECT_TRUE(directory.empty());
  EXPECT_EQ(
      message_of<InvalidArgument>([&] { (void)read("%%MatrixMarket matrix array real general\n1 1\n1\n", 2, 1000); }),
      "a tile of 1 x 1 elements needs 4.0 KiB, more than the memory limit of 1000 B");
}

TEST_F(MatrixMarket, HeadersThatCannotBeRead) {
  EXPECT_FALSE(is_matrix_market(write("text")));
  EXPECT_FALSE(is_matrix_market(directory / "none.mtx"));
  EXPECT_TRUE(is_matrix_market(write("%%MatrixMarket")));
  EXPECT_THROW((void)open_matrix_market(directory / "none.mtx"), InvalidArgument);
  EXPECT_THROW((void)open_matrix_market(directory.path()), InvalidArgument);
  std::string const start = "%%MatrixMarket matrix ";
  EXPECT_EQ(refusal("text"), "1: a Matrix Market file starts with a line %%MatrixMarket");
  EXPECT_EQ(refusal(""), "1: a Matrix Market file starts with a line %%MatrixMarket");
  EXPECT_EQ(refusal("%%MatrixMarket vector array real general\n"), "1: the file holds a 'vector', not a matrix");
  EXPECT_EQ(refusal(start + "dense real general\n"), "1: the format is 'dense', neither array nor coordinate");
  EXPECT_EQ(refusal(start + "coordinate pattern general\n"),
            "1: the element type is 'pattern', not real, integer or complex");
  EXPECT_EQ(refusal(start + "array real diagonal\n"),
            "1: the symmetry is 'diagonal', not general, symmetric, skew-symmetric or hermitian");
  EXPECT_EQ(refusal(start + "array real general\n% only comments\n"), "3: the file ends before its size line");
  for (std::string const rows : {"x", "-2", "2.0", "2147483648", "99999999999999999999"}) {
    EXPECT_EQ(refusal(start + "array real general\n" + rows + " 2\n"),
              "2: the number of rows is '" + rows + "', not a whole number up to 2147483647");
  }
  EXPECT_EQ(refusal(start + "array real general\n2 x\n"),
            "2: the number of columns is 'x', not a whole number up to 2147483647");
  EXPECT_EQ(refusal(start + "array real general\n2\n"), "2: the size line has no number of columns");
  EXPECT_EQ(refusal(start + "array real general\n2 2 2\n"), "2: the size line '2 2 2' has more than 2 numbers");
  EXPECT_EQ(refusal(start + "coordinate real general\n2 2\n"), "2: the size line has no number of entries");
  EXPECT_EQ(refusal(start + "coordinate real general\n2 2 2 2\n"),
            "2: the size line '2 2 2 2' has more than 3 numbers");
  EXPECT_EQ(refusal(start + "array real general\n0 2\n"), "2: the matrix is empty: it has 0 x 2 elements");
  EXPECT_EQ(refusal(start + "array real symmetric\n2 3\n"), "2: a matrix that is symmetric is square, not 2 x 3");
}

TEST_F(MatrixMarket, EntriesThatCannotBeRead) {
  std::string const array = "%%MatrixMarket matrix array real general\n2 2\n";
  std::string const list = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n";
  for (Bytes const memory : {4_KiB, 1_MiB}) {
    EXPECT_EQ(refusal(array + "1\n2\n3\n", memory), "6: the file ends after 3 of 4 entries");
    EXPECT_EQ(refusal(array + "1\n2\n3\n4\n5\n", memory), "7: there is text after the last of 4 entries");
    EXPECT_EQ(refusal(array + "1\n2 2\n3\n4\n", memory), "4: '2 2' is not an entry of this matrix");
    EXPECT_EQ(refusal(array + "1\n1e999\n3\n4\n", memory), "4: the matrix holds infinity");
    EXPECT_EQ(refusal(array + "1\n-inf\n3\n4\n", memory), "4: the matrix holds infinity");
    EXPECT_EQ(refusal(array + "1\nNaN\n3\n4\n", memory), "4: the matrix holds NaN");
    EXPECT_EQ(refusal(list, memory), "4: the file ends after 1 of 2 entries");
    EXPECT_EQ(refusal(list + "0 1 5\n", memory), "4: index 0 is not from 1 to 2");
    EXPECT_EQ(refusal(list + "1 3 5\n", memory), "4: index 3 is not from 1 to 2");
    EXPECT_EQ(refusal(list + "1 5\n", memory), "4: index 5 is not from 1 to 2");
    EXPECT_EQ(refusal(list + "1 2\n", memory), "4: '1 2' is not an entry of this matrix");
    EXPECT_EQ(refusal(list + "1 2 x\n", memory), "4: '1 2 x' is not an entry of this matrix");
  }
  EXPECT_EQ(refusal("%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n"),
            "3: entry (1, 2) is above the diagonal, but the file holds the lower triangle");
  EXPECT_EQ(refusal("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 2 1\n"),
            "3: entry (2, 2) is on the diagonal of a skew-symmetric matrix");
  EXPECT_EQ(refusal(array + std::string(5000, '1') + "\n"), "3: the line is longer than 4096 characters");
}

TEST_F(MatrixMarket, AComplexMatrixIsNotMadeReal) {
  auto const info = open_matrix_market(write("%%MatrixMarket matrix array complex general\n1 1\n1 2\n"));
  NpySink sink(detail::make_async_file_io(), directory / "B.npy", {1, 1, 1}, ScalarType::Float64);
  EXPECT_THROW(read_matrix_market(info, sink, 1_MiB), InvalidArgument);
  NpySink wide(detail::make_async_file_io(), directory / "C.npy", {1, 2, 1}, ScalarType::Complex128);
  EXPECT_THROW(read_matrix_market(info, wide, 1_MiB), InvalidArgument);
}

}  // namespace
}  // namespace granary
