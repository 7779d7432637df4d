// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/files/matrix_sink.hpp>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <complex>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/files/matrix_file.hpp>
#include <granary/detail/linalg/files/matrix_source.hpp>
#include <granary/detail/linalg/files/open_matrix_source.hpp>
#include <granary/detail/linalg/generators/spd_generator.hpp>
#include <granary/detail/outofcore/io_engine_choice.hpp>

#include "tests/support/io_support.hpp"
#include "tests/support/matrix_file_support.hpp"
#include "tests/support/message_of.hpp"

namespace granary {

using namespace detail;

namespace {

using test::entry;
using test::message_of;

class MatrixSinkTest : public ::testing::Test {
 protected:
  // Writes the tiles of the part in a scrambled order, each full of entries, also above the diagonal.
  template <class T>
  void write_tiles(MatrixSink& sink, MatrixPart part) {
    auto const& t = sink.tiling();
    auto const count = t.tile_rows() * t.tile_cols();
    std::uint64_t step = 7;
    while (count % step == 0) ++step;
    for (std::uint64_t k = 0; k < count; ++k) {
      auto const slot = k * step % count;
      auto const i = t.row_of(slot);
      auto const j = t.col_of(slot);
      if ((part == MatrixPart::Lower && j > i) || (part == MatrixPart::Upper && j < i)) continue;
      test::AlignedMemory tile(sink.tile_bytes(slot));
      for (std::uint64_t r = 0; r < t.rows_in(i); ++r) {
        for (std::uint64_t c = 0; c < t.cols_in(j); ++c)
          tile.as<T>()[r * t.cols_in(j) + c] = test::element<T>(t.first(i) + r, t.first(j) + c);
      }
      test::write(sink, slot, tile);
    }
  }

  template <class T>
  void round_trip(std::uint64_t rows, std::uint64_t cols, std::uint64_t tile, MatrixPart part) {
    auto const path = directory / "L.h5";
    {
      MatrixSink sink(io, path,
                      {.rows = rows, .cols = cols, .tile = tile, .scalar_type = scalar_type_of<T>, .part = part});
      write_tiles<T>(sink, part);
      EXPECT_FALSE(std::filesystem::exists(path)) << "before commit";
      sink.commit();
    }
    constexpr std::uint64_t width = std::is_floating_point_v<T> ? 1 : 2;
    auto const values = test::read_hdf5(path, "/L", rows * cols * width, scalar_type_of<T>);
    ASSERT_EQ(values.size(), rows * cols * width);
    for (std::uint64_t i = 0; i < rows; ++i) {
      for (std::uint64_t j = 0; j < cols; ++j) {
        bool const zero = (part == MatrixPart::Lower && j > i) || (part == MatrixPart::Upper && j < i);
        auto const expected = zero ? std::complex<double>{} : std::complex<double>(test::element<T>(i, j));
        auto const* found = values.data() + (i * cols + j) * width;
        ASSERT_EQ(std::complex<double>(found[0], width == 2 ? found[1] : 0), expected)
            << rows << " x " << cols << ", " << tile << ": " << i << ", " << j;
      }
    }
    std::filesystem::remove(path);
    EXPECT_TRUE(directory.empty());
  }

  test::TemporaryDirectory directory;
  std::shared_ptr<AsyncFileIo> io = make_async_file_io();
};

TEST_F(MatrixSinkTest, OtherProgramsReadTheMatrix) {
  for (auto const part : {MatrixPart::Lower, MatrixPart::Upper, MatrixPart::All}) {
    round_trip<double>(128, 128, 32, part);
    round_trip<double>(150, 150, 64, part);
    round_trip<float>(100, 100, 64, part);
    round_trip<double>(50, 50, 7, part);
    round_trip<float>(20, 20, 64, part);
    round_trip<double>(1, 1, 1, part);
  }
}

TEST_F(MatrixSinkTest, RectangularMatricesHaveTrapezoids) {
  for (auto const part : {MatrixPart::Lower, MatrixPart::Upper, MatrixPart::All}) {
    round_trip<double>(150, 70, 32, part);
    round_trip<float>(70, 150, 32, part);
    round_trip<double>(100, 3, 16, part);
    round_trip<double>(3, 100, 16, part);
    round_trip<float>(5, 3, 64, part);
  }
}

TEST_F(MatrixSinkTest, ComplexMatrices) {
  for (auto const part : {MatrixPart::Lower, MatrixPart::Upper, MatrixPart::All}) {
    round_trip<std::complex<float>>(70, 70, 32, part);
    round_trip<std::complex<double>>(70, 40, 32, part);
    round_trip<std::complex<double>>(40, 3, 16, part);
  }
}

TEST_F(MatrixSinkTest, ATileOfANarrowMatrixIsReadBack) {
  MatrixSink sink(io, directory / "B.h5", {.rows = 40, .cols = 3, .tile = 16, .part = MatrixPart::All});
  write_tiles<double>(sink, MatrixPart::All);
  EXPECT_EQ(io->bytes_written(), 40U * 3 * sizeof(double));
  for (std::uint64_t const slot : {1, 2}) {
    test::AlignedMemory tile(sink.tile_bytes(slot));
    EXPECT_EQ(tile.size(), (slot == 1 ? 16U : 8U) * 3 * sizeof(double));
    test::read(sink, slot, tile);
    for (std::uint64_t r = 0; r < sink.tiling().rows_in(slot); ++r) {
      for (std::uint64_t c = 0; c < 3; ++c) EXPECT_EQ(tile.as<double>()[r * 3 + c], entry(slot * 16 + r, c));
    }
  }
  EXPECT_EQ(io->bytes_read(), 24U * 3 * sizeof(double));
}

TEST_F(MatrixSinkTest, AVectorHasOneDimension) {
  auto const path = directory / "b.h5";
  {
    MatrixSink sink(io, path, {.rows = 100, .cols = 1, .tile = 32, .part = MatrixPart::All, .dimensions = 1});
    write_tiles<double>(sink, MatrixPart::All);
    sink.commit();
  }
  auto const info = open_matrix_file(path);
  EXPECT_EQ(info.dimensions, 1U);
  EXPECT_EQ(info.arrangement, MatrixFileInfo::Arrangement::Chunked);
  EXPECT_EQ(test::read_hdf5(path, "/L", 100), test::entries(100, 1));
  EXPECT_EQ(
      message_of([&] { return MatrixSink(io, path, {.rows = 100, .cols = 2, .tile = 32, .dimensions = 1}).place(); }),
      "a matrix of 2 columns cannot be an array of 1 dimensions");
  EXPECT_EQ(
      message_of([&] { return MatrixSink(io, path, {.rows = 100, .cols = 1, .tile = 32, .dimensions = 3}).place(); }),
      "a matrix of 1 columns cannot be an array of 3 dimensions");
}

TEST_F(MatrixSinkTest, NamesOfColumnsAreReadBack) {
  auto const path = directory / "B.h5";
  // More than fits into the header of an HDF5 object.
  std::vector<std::string> names;
  for (int c = 0; c < 9000; ++c) names.push_back("column " + std::to_string(c));
  names[1] = "";
  names[2] = "\xc3\xa9t\xc3\xa9";
  MatrixSinkOptions const options{
      .rows = 2, .cols = names.size(), .tile = 64, .part = MatrixPart::All, .columns = names};
  {
    MatrixSink sink(io, path, options);
    write_tiles<double>(sink, MatrixPart::All);
    sink.commit();
  }
  EXPECT_EQ(open_matrix_file(path).columns, names);
  EXPECT_EQ(test::read_hdf5(path, "/L", 2 * names.size()), test::entries(2, names.size()));
  auto wrong = options;
  wrong.cols = 3;
  EXPECT_EQ(message_of([&] { return MatrixSink(io, path, wrong).place(); }), "there are 9000 names for 3 columns");
}

TEST_F(MatrixSinkTest, VectorsStandBesideTheMatrix) {
  std::vector<std::int64_t> const pivots{3, 1, 2, std::int64_t{1} << 40};
  {
    MatrixSink sink(io, directory / "LU.h5",
                    {.rows = 100, .cols = 60, .tile = 32, .part = MatrixPart::All, .dataset = "LU"});
    sink.add_vector("pivots", pivots);
    write_tiles<double>(sink, MatrixPart::All);
    sink.add_vector("group/empty", {});
    EXPECT_THROW(sink.add_vector("pivots", pivots), InvalidArgument);
    EXPECT_THROW(sink.add_vector("LU", pivots), InvalidArgument);
    EXPECT_THROW(sink.add_vector("", pivots), InvalidArgument);
    sink.commit();
    EXPECT_THROW(sink.add_vector("more", pivots), InternalError);
  }
  auto const found = test::read_hdf5(directory / "LU.h5", "/pivots", 4);
  EXPECT_EQ(found, std::vector<double>(pivots.begin(), pivots.end()));
  auto const matrix = test::read_hdf5(directory / "LU.h5", "/LU", 6000);
  EXPECT_EQ(matrix[99 * 60 + 59], entry(99, 59));
  EXPECT_EQ(open_matrix_file(directory / "LU.h5").name(), (directory / "LU.h5") + ":/LU") << "the only matrix";
}

TEST_F(MatrixSinkTest, TilesAreReadBackAndReplaced) {
  MatrixSink sink(io, directory / "L.h5", {.rows = 100, .cols = 100, .tile = 32});
  test::AlignedMemory tile(sink.tile_bytes(0));
  test::AlignedMemory back(sink.tile_bytes(0));
  for (double const value : {1.0, 2.0}) {
    std::fill(tile.as<double>(), tile.as<double>() + 32 * 32, value);
    test::write(sink, 4, tile);
    test::read(sink, 4, back);
    EXPECT_EQ(back.as<double>()[1000], value);
  }
  EXPECT_EQ(sink.describe(4), "tile (1, 0) of " + (directory / "L.h5") + ":/L");
}

TEST_F(MatrixSinkTest, IsRemovedUnlessCommitted) {
  {
    MatrixSink sink(io, directory / "L.h5", {.rows = 100, .cols = 100, .tile = 32});
    EXPECT_FALSE(directory.empty());
  }
  EXPECT_TRUE(directory.empty());
}

TEST_F(MatrixSinkTest, ReplacesAFileOnlyAtCommit) {
  auto const path = directory / "L.h5";
  std::ofstream(path) << "old";
  {
    MatrixSink sink(io, path, {.rows = 10, .cols = 10, .tile = 4});
    EXPECT_EQ(std::filesystem::file_size(path), 3U);
  }
  EXPECT_EQ(std::filesystem::file_size(path), 3U);
  MatrixSink sink(io, path, {.rows = 10, .cols = 10, .tile = 4});
  sink.commit();
  EXPECT_EQ(open_matrix_file(path).rows, 10U);
}

TEST_F(MatrixSinkTest, WritesTheFileThatALinkNames) {
  auto const target = directory / "target.h5";
  std::ofstream(target) << "old";
  std::filesystem::create_symlink(target, directory / "link.h5");
  MatrixSink sink(io, directory / "link.h5", {.rows = 10, .cols = 10, .tile = 4});
  sink.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(directory / "link.h5"));
  EXPECT_EQ(open_matrix_file(target).rows, 10U);
}

TEST_F(MatrixSinkTest, ChunksAreTilesAtComputedAlignedOffsets) {
  write_random_spd(directory / "A.h5", 300, 64, 1, ScalarType::Float64);
  auto const info = open_matrix_file(directory / "A.h5");
  EXPECT_EQ(info.arrangement, MatrixFileInfo::Arrangement::Chunked);
  EXPECT_EQ(info.chunk_rows, 64U);
  EXPECT_EQ(info.name(), (directory / "A.h5") + ":/A");
}

TEST_F(MatrixSinkTest, WhatIsNotWrittenTakesNoSpace) {
  constexpr std::uint64_t n = 4096;
  MatrixSink sink(io, directory / "L.h5", {.rows = n, .cols = n, .tile = 256});
  sink.commit();
  struct stat status {};
  ASSERT_EQ(::stat((directory / "L.h5").c_str(), &status), 0);
  EXPECT_LT(static_cast<std::uint64_t>(status.st_blocks) * 512, n * n * 8 * 6 / 10);
}

TEST_F(MatrixSinkTest, RefusesWrongSlotsSizesAndUses) {
  MatrixSink sink(io, directory / "L.h5", {.rows = 100, .cols = 100, .tile = 32});
  test::AlignedMemory tile(sink.tile_bytes(0));
  EXPECT_THROW(test::write(sink, 1, tile), InternalError) << "above the diagonal";
  EXPECT_THROW(test::write(sink, 15, tile), InternalError) << "larger than the last tile";
  EXPECT_THROW(test::write(sink, 16, tile), InternalError);
  EXPECT_THROW(test::write(sink, 0, test::AlignedMemory(8)), InternalError);
  sink.commit();
  EXPECT_THROW(sink.commit(), InternalError);
  EXPECT_THROW(test::write(sink, 0, tile), InternalError);
  EXPECT_THROW(MatrixSink(io, directory / "M.h5", {.rows = 0, .cols = 0, .tile = 32}), InvalidArgument);
  EXPECT_THROW(MatrixSink(io, directory / "M.h5", {.rows = 10, .cols = 0, .tile = 4}), InvalidArgument);
  EXPECT_THROW(MatrixSink(io, directory / "M.h5", {.rows = 10, .cols = 10, .tile = 0}), InvalidArgument);
  EXPECT_THROW(MatrixSink(io, directory / "M.h5", {.rows = 50000, .cols = 50000, .tile = 32768}), InvalidArgument)
      << "chunks of 8 GiB";
  for (std::string const name : {"", "/", "group/", "."})
    EXPECT_THROW(MatrixSink(io, directory / "M.h5", {.rows = 10, .cols = 10, .tile = 4, .dataset = name}),
                 InvalidArgument);
}

TEST_F(MatrixSinkTest, OutputsThatCannotBe) {
  auto const path = directory / "A.h5";
  std::ofstream(path) << "x";
  std::filesystem::create_symlink(path, directory / "link.h5");
  std::filesystem::create_hard_link(path, directory / "hard.h5");
  auto const message = [&](std::string const& output) {
    return message_of<InvalidArgument>([&] { check_output(output, {directory / "none", path}); });
  };
  EXPECT_EQ(message(path), "the output " + path + " is the same file as the input " + path);
  EXPECT_NE(message(directory / "link.h5"), "");
  EXPECT_NE(message(directory / "hard.h5"), "");
  EXPECT_EQ(message(directory / "new.h5"), "");
  EXPECT_EQ(message(""), "the name of an output is empty");
  EXPECT_EQ(message(directory.path()), "the output " + directory.path() + " is a directory");
  EXPECT_EQ(message("/nowhere/L.h5"), "cannot write the output /nowhere/L.h5: /nowhere: No such file or directory");
  EXPECT_THROW(MatrixSink(io, "/nowhere/L.h5", {.rows = 10, .cols = 10, .tile = 4}), InvalidArgument);
}

TEST(RandomSpd, FileAndSourceHoldTheSameMatrix) {
  test::TemporaryDirectory directory;
  constexpr std::uint64_t n = 100;
  constexpr std::uint64_t tile = 32;
  write_random_spd(directory / "A.h5", n, tile, 42, ScalarType::Float64);
  auto const values = test::read_hdf5(directory / "A.h5", "/A", n * n);
  auto const file =
      open_matrix_source(open_matrix_file(directory / "A.h5"), tile, MatrixPart::All, make_async_file_io());
  auto const random = make_random_spd_source(n, tile, 42, ScalarType::Float64);
  EXPECT_EQ(random->describe(1), "tile (0, 1) of random:100:42");
  for (std::uint64_t slot = 0; slot < 16; ++slot) {
    test::AlignedMemory a(file->tile_bytes(slot));
    test::AlignedMemory b(random->tile_bytes(slot));
    test::read(*file, slot, a);
    test::read(*random, slot, b);
    EXPECT_TRUE(std::equal(a.data(), a.data() + a.size(), b.data()));
  }
  for (std::uint64_t i = 0; i < n; ++i) {
    double others = 0;
    for (std::uint64_t j = 0; j < n; ++j) {
      ASSERT_EQ(values[i * n + j], spd_entry(n, 42, j, i));
      if (i != j) others += std::abs(values[i * n + j]);
    }
    EXPECT_GT(values[i * n + i], others);
  }
  EXPECT_NE(spd_entry(n, 42, 1, 0), spd_entry(n, 43, 1, 0));
  EXPECT_THROW((void)make_random_spd_source(0, tile, 1, ScalarType::Float64), InvalidArgument);
}

}  // namespace
}  // namespace granary
