// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compressed chunks that are larger than tiles: each is unpacked once, in whatever order the tiles are read.
#include <granary/detail/linalg/files/unpacked_chunks.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include <granary/detail/linalg/files/matrix_source.hpp>
#include <granary/detail/linalg/files/open_matrix_source.hpp>
#include <granary/detail/linalg/runtime/file_matrix.hpp>
#include <granary/detail/linalg/runtime/norm.hpp>
#include <granary/detail/outofcore/io_engine_choice.hpp>

#include "tests/support/file_size_limit.hpp"
#include "tests/support/io_support.hpp"
#include "tests/support/matrix_file_support.hpp"

namespace granary::unpacked_chunks_test {

using namespace detail;

namespace {

using test::unpacked_chunks;

class UnpackedChunks : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<MatrixSource> open(std::uint64_t tile, MatrixPart part, std::string const& temporary) {
    return open_matrix_source(open_matrix_file(directory / "A.h5"), tile, part, io, temporary);
  }
  // Reads the tiles of the part by columns of tiles, and compares.
  static void expect_tiles(MatrixSource& source, MatrixPart part) {
    auto const& t = source.tiling();
    for (std::uint64_t j = 0; j < t.tile_cols(); ++j) {
      for (std::uint64_t i = 0; i < t.tile_rows(); ++i) {
        if (!holds(part, i, j)) continue;
        test::AlignedMemory memory(source.tile_bytes(t.slot(i, j)));
        test::read(source, t.slot(i, j), memory);
        for (std::uint64_t e = 0; e < t.elements_in(i, j); ++e) {
          auto const row = t.first(i) + e / t.cols_in(j);
          auto const col = t.first(j) + e % t.cols_in(j);
          ASSERT_EQ(memory.as<double>()[e], test::entry(row, col)) << row << ", " << col;
        }
      }
    }
  }

  test::TemporaryDirectory directory;
  test::TemporaryDirectory scratch;
  std::shared_ptr<AsyncFileIo> io = make_async_file_io();
};

// Two chunks of 18 MiB, one below the other: HDF5's cache holds one of them.
TEST_F(UnpackedChunks, EachIsUnpackedOnceWhereTilesCrossThem) {
  constexpr hsize_t chunk = 1536;
  test::write_counted_hdf5(directory / "A.h5", 2 * chunk, chunk, chunk);
  auto const source = open(500, MatrixPart::All, scratch.path());
  expect_tiles(*source, MatrixPart::All);
  EXPECT_EQ(unpacked_chunks, 2U);
  expect_tiles(*source, MatrixPart::All);
  EXPECT_EQ(unpacked_chunks, 2U) << "as tiles that are read again after an eviction";
  EXPECT_EQ(io->bytes_written(), 2 * chunk * chunk * sizeof(double));
  EXPECT_TRUE(scratch.empty());
}

TEST_F(UnpackedChunks, AMatrixForTasksUsesTheScratchDirectory) {
  constexpr hsize_t chunk = 1536;
  test::write_counted_hdf5(directory / "A.h5", 2 * chunk, chunk, chunk);
  Runtime runtime(
      {.workers = 1U, .devices = "none", .host_memory = 8_MiB, .scratch = scratch.path(), .models = models_off});
  auto const a = open_matrix<double>(runtime, directory / "A.h5", "", {.tile = 512});
  EXPECT_EQ(lange(runtime, Norm::Max, a), test::entry(2 * chunk - 1, chunk - 1));
  EXPECT_EQ(unpacked_chunks, 2U);
}

TEST_F(UnpackedChunks, EveryShapeAndPart) {
  for (auto const [rows, cols, chunk, tile] : {std::array<hsize_t, 4>{100, 100, 33, 10},
                                               {100, 100, 40, 7},
                                               {64, 64, 32, 16},
                                               {50, 90, 50, 30},
                                               {7, 5, 3, 2}}) {
    for (auto const part : {MatrixPart::All, MatrixPart::Lower, MatrixPart::Upper}) {
      test::write_hdf5(directory / "A.h5", {rows, cols}, test::entries(rows, cols),
                       {.chunk = {chunk, std::max<hsize_t>(chunk / 2, 1)}, .gzip = true});
      expect_tiles(*open(tile, part, scratch.path()), part);
    }
  }
}

TEST_F(UnpackedChunks, ADiskThatIsFullLeavesTheTilesToHdf5) {
  test::write_counted_hdf5(directory / "A.h5", 200, 200, 100);
  auto const source = open(30, MatrixPart::All, scratch.path());
  test::FileSizeLimit const limit(4096);
  expect_tiles(*source, MatrixPart::All);
}

TEST_F(UnpackedChunks, ADirectoryThatCannotBeWrittenLeavesThemToo) {
  test::write_counted_hdf5(directory / "A.h5", 200, 200, 100);
  expect_tiles(*open(30, MatrixPart::All, directory / "nowhere"), MatrixPart::All);
  test::FileSizeLimit const limit(4096);  // below the size of the unpacked tiles
  expect_tiles(*open(30, MatrixPart::All, scratch.path()), MatrixPart::All);
  EXPECT_EQ(io->bytes_written(), 0U);
}

}  // namespace
}  // namespace granary::unpacked_chunks_test
