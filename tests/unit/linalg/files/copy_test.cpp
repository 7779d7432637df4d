// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/files/copy_matrix.hpp>

#include <gtest/gtest.h>

#include <complex>
#include <limits>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/files/matrix_file.hpp>
#include <granary/detail/linalg/files/matrix_sink.hpp>
#include <granary/detail/linalg/files/npy_sink.hpp>
#include <granary/detail/linalg/files/open_matrix_source.hpp>
#include <granary/detail/outofcore/io_engine_choice.hpp>

#include "tests/support/io_support.hpp"
#include "tests/support/matrix_file_support.hpp"
#include "tests/support/message_of.hpp"

namespace granary {

using namespace detail;

namespace {

using test::message_of;

class CopyMatrix : public ::testing::Test {
 protected:
  // Copies a .npy file of doubles, or of complex ones, into one of T and compares.
  template <class T>
  void copy_npy(std::uint64_t rows, std::uint64_t cols, std::uint64_t tile, bool complex, Bytes memory) {
    test::write_npy(directory / "A.npy", rows, cols,
                    complex ? test::complex_entries(rows, cols) : test::entries(rows, cols),
                    {.descriptor = complex ? "<c16" : "<f8"});
    auto const source = open("A.npy", tile);
    std::filesystem::remove(directory / "B.npy");
    NpySink sink(io, directory / "B.npy", source->tiling(), scalar_type_of<T>);
    copy_matrix(*source, sink, memory);
    EXPECT_FALSE(std::filesystem::exists(directory / "B.npy")) << "before commit";
    sink.commit();
    auto const copy = open("B.npy", tile);
    ASSERT_EQ(copy->scalar_type(), scalar_type_of<T>);
    auto const& t = copy->tiling();
    for (std::uint64_t slot = 0; slot < t.tile_rows() * t.tile_cols(); ++slot) {
      test::AlignedMemory memory_of_tile(copy->tile_bytes(slot));
      test::read(*copy, slot, memory_of_tile);
      for (std::uint64_t r = 0; r < t.rows_in(t.row_of(slot)); ++r) {
        for (std::uint64_t c = 0; c < t.cols_in(t.col_of(slot)); ++c) {
          auto const i = t.first(t.row_of(slot)) + r;
          auto const j = t.first(t.col_of(slot)) + c;
          T const expected = complex ? T(test::element<T>(i, j)) : T(static_cast<float>(test::entry(i, j)));
          ASSERT_EQ(memory_of_tile.as<T>()[r * t.cols_in(t.col_of(slot)) + c], expected);
        }
      }
    }
  }
  [[nodiscard]] std::unique_ptr<MatrixSource> open(std::string const& name, std::uint64_t tile) {
    return open_matrix_source(open_matrix_file(directory / name), tile, MatrixPart::All, io);
  }

  test::TemporaryDirectory directory;
  std::shared_ptr<AsyncFileIo> io = make_async_file_io();
};

// Chunks of 18 MiB, which HDF5's usual cache does not keep, with 3 x 3 tiles each.
TEST_F(CopyMatrix, ACompressedChunkIsUnpackedOnce) {
  constexpr hsize_t chunk = 1536;
  test::write_counted_hdf5(directory / "A.h5", chunk, 2 * chunk, chunk);
  auto const source = open("A.h5", chunk / 3);
  NpySink sink(io, directory / "B.npy", source->tiling(), ScalarType::Float64);
  copy_matrix(*source, sink, 16_MiB);
  EXPECT_EQ(test::unpacked_chunks, 2U);
  test::AlignedMemory tile(source->tile_bytes(4));
  test::read(*source, 4, tile);
  EXPECT_EQ(tile.as<double>()[1], test::entry(0, 2 * chunk / 3 * 2 + 1));
}

TEST_F(CopyMatrix, WidensAndRounds) {
  // Every entry is exact in float.
  copy_npy<double>(70, 45, 16, false, 1_MiB);
  copy_npy<float>(70, 45, 16, false, 4_KiB);
  copy_npy<std::complex<float>>(45, 70, 16, false, 8_KiB);
  copy_npy<std::complex<double>>(45, 70, 64, false, 1_MiB);
  copy_npy<std::complex<double>>(45, 70, 7, true, 1_MiB);
  copy_npy<std::complex<float>>(3, 1, 7, true, 1_MiB);
}

TEST_F(CopyMatrix, RefusesWhatCannotBe) {
  test::write_npy(directory / "A.npy", 20, 30, test::complex_entries(20, 30), {.descriptor = "<c16"});
  auto const source = open("A.npy", 16);
  NpySink narrow(io, directory / "B.npy", source->tiling(), ScalarType::Float64);
  EXPECT_EQ(message_of<InvalidArgument>([&] { copy_matrix(*source, narrow, 1_MiB); }),
            "a complex matrix cannot be written as a real one");
  NpySink other(io, directory / "C.npy", {20, 30, 8}, ScalarType::Complex128);
  EXPECT_THROW(copy_matrix(*source, other, 1_MiB), InvalidArgument);
  NpySink fitting(io, directory / "D.npy", source->tiling(), ScalarType::Complex128);
  EXPECT_EQ(message_of<InvalidArgument>([&] { copy_matrix(*source, fitting, 4095); }),
            "a tile of 16 x 16 elements needs 4.0 KiB, more than the memory limit of 4.0 KiB");
  EXPECT_NO_THROW(copy_matrix(*source, fitting, 4096));
}

TEST_F(CopyMatrix, EndsAtTheFirstErrorAndWhenItIsTold) {
  auto values = test::entries(64, 64);
  values[20 * 64 + 40] = std::numeric_limits<double>::quiet_NaN();
  test::write_npy(directory / "A.npy", 64, 64, values);
  auto const source = open("A.npy", 8);
  {
    NpySink sink(io, directory / "B.npy", source->tiling(), ScalarType::Float64);
    EXPECT_EQ(message_of<DataError>([&] { copy_matrix(*source, sink, 1_MiB); }),
              (directory / "A.npy") + " holds NaN at (20, 40)");
    int calls = 0;
    EXPECT_THROW(copy_matrix(*source, sink, 1_MiB,
                             [&] {
                               if (++calls == 3) throw Error("enough");
                             }),
                 Error);
    EXPECT_EQ(calls, 3);
  }
  EXPECT_FALSE(std::filesystem::exists(directory / "B.npy"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1) << "nothing is left behind";
}

TEST_F(CopyMatrix, ANpySinkKnowsItsSlots) {
  NpySink sink(io, directory / "B.npy", {20, 30, 16}, ScalarType::Float64);
  test::AlignedMemory tile(sink.tile_bytes(3));
  EXPECT_EQ(tile.size(), 4U * 14 * sizeof(double));
  EXPECT_EQ(sink.describe(3), "tile (1, 1) of " + (directory / "B.npy"));
  EXPECT_THROW(test::write(sink, 4, tile), InternalError);
  EXPECT_THROW(test::write(sink, 0, test::AlignedMemory(8)), InternalError);
  tile.as<double>()[17] = 5;
  test::write(sink, 3, tile);
  test::AlignedMemory back(sink.tile_bytes(3));
  test::read(sink, 3, back);
  EXPECT_EQ(back.as<double>()[17], 5);
  sink.commit();
  EXPECT_THROW(sink.commit(), InternalError);
  EXPECT_THROW(NpySink(io, directory / "C.npy", {0, 30, 16}, ScalarType::Float64), InvalidArgument);
  EXPECT_THROW(NpySink(io, "/nowhere/C.npy", {20, 30, 16}, ScalarType::Float64), InvalidArgument);
}

}  // namespace
}  // namespace granary
