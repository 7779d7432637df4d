// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/files/matrix_source.hpp>

#include <gtest/gtest.h>

#include <complex>
#include <limits>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/files/matrix_file.hpp>
#include <granary/detail/linalg/files/open_matrix_source.hpp>
#include <granary/detail/outofcore/io_engine_choice.hpp>

#include "tests/support/io_support.hpp"
#include "tests/support/matrix_file_support.hpp"
#include "tests/support/message_of.hpp"

namespace granary {
namespace {

using Arrangement = detail::MatrixFileInfo::Arrangement;
using test::entries;
using test::Hdf5Layout;
using test::message_of;

// Reads every tile concurrently, and compares. Only the matrix is read, and only the tile is written.
template <class T>
void expect_all_tiles(std::string const& spec, std::uint64_t tile, std::uint64_t rows, std::uint64_t cols) {
  auto const info = open_matrix_file(spec);
  ASSERT_EQ(info.scalar_type, scalar_type_of<T>);
  ASSERT_EQ(info.rows, rows);
  ASSERT_EQ(info.cols, cols);
  auto const io = detail::make_async_file_io();
  auto const source = open_matrix_source(info, tile, MatrixPart::All, io);
  auto const& t = source->tiling();
  auto const slots = t.tile_rows() * t.tile_cols();
  std::vector<test::AlignedMemory> memory;
  std::vector<test::Completion> done(slots);
  for (std::uint64_t slot = 0; slot < slots; ++slot) {
    memory.emplace_back(source->tile_bytes(slot));
    source->read_async(slot, memory.back().data(), source->tile_bytes(slot), done[slot].callback());
  }
  for (std::uint64_t slot = 0; slot < slots; ++slot) {
    ASSERT_NO_THROW(done[slot].get()) << source->describe(slot);
    auto const i = t.row_of(slot);
    auto const j = t.col_of(slot);
    for (std::uint64_t r = 0; r < t.rows_in(i); ++r) {
      for (std::uint64_t c = 0; c < t.cols_in(j); ++c) {
        ASSERT_EQ(memory[slot].as<T>()[r * t.cols_in(j) + c], test::element<T>(i * tile + r, j * tile + c))
            << spec << ", " << source->describe(slot) << ", " << r << ", " << c;
      }
    }
  }
  EXPECT_EQ(io->bytes_read(), rows * cols * sizeof(T)) << spec;
}

class MatrixSourceTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t n = 150;

  void expect_hdf5(Hdf5Layout const& layout, Arrangement arrangement, std::uint64_t tile = 64) {
    auto const path = directory / "A.h5";
    test::write_hdf5(path, {n, n}, entries(n, n), layout);
    EXPECT_EQ(open_matrix_file(path).arrangement, arrangement);
    expect_all_tiles<double>(path, tile, n, n);
  }

  test::TemporaryDirectory directory;
};

TEST_F(MatrixSourceTest, Contiguous) { expect_hdf5({}, Arrangement::Contiguous); }
TEST_F(MatrixSourceTest, ContiguousBehindAUserBlock) { expect_hdf5({.user_block = 512}, Arrangement::Contiguous); }
TEST_F(MatrixSourceTest, ChunksThatAreTiles) { expect_hdf5({.chunk = {64, 64}}, Arrangement::Chunked); }
TEST_F(MatrixSourceTest, ChunksThatAreSmallUnalignedTiles) { expect_hdf5({.chunk = {7, 7}}, Arrangement::Chunked, 7); }
TEST_F(MatrixSourceTest, ChunksBehindAUserBlock) {
  expect_hdf5({.chunk = {64, 64}, .user_block = 512}, Arrangement::ThroughHdf5);
}
TEST_F(MatrixSourceTest, ChunksOfAnotherShape) { expect_hdf5({.chunk = {10, 33}}, Arrangement::Chunked); }
TEST_F(MatrixSourceTest, MoreChunksThanAreLookedUp) { expect_hdf5({.chunk = {3, 3}}, Arrangement::Chunked, 3); }
TEST_F(MatrixSourceTest, OneChunk) { expect_hdf5({.chunk = {n, n}}, Arrangement::Chunked); }
TEST_F(MatrixSourceTest, ATileLargerThanTheMatrix) { expect_hdf5({.chunk = {64, 64}}, Arrangement::Chunked, 200); }
TEST_F(MatrixSourceTest, Gzip) {
  expect_hdf5({.chunk = {20, 20}, .gzip = true, .shuffle = true}, Arrangement::ThroughHdf5);
}
TEST_F(MatrixSourceTest, GzipOfTiles) { expect_hdf5({.chunk = {64, 64}, .gzip = true}, Arrangement::ThroughHdf5); }
TEST_F(MatrixSourceTest, BigEndian) { expect_hdf5({.file_type = H5T_IEEE_F64BE}, Arrangement::ThroughHdf5); }

TEST_F(MatrixSourceTest, BehindALinkIntoAnotherFile) {
  auto const path = directory / "links.h5";
  for (Hdf5Layout const& layout : {Hdf5Layout{}, Hdf5Layout{.chunk = {64, 64}}}) {
    test::write_hdf5(directory / "A.h5", {n, n}, entries(n, n), layout);
    // Long enough for the other file's offsets.
    test::write_hdf5(path, {2 * n, 2 * n}, entries(2 * n, 2 * n), {.dataset = "B"});
    {
      detail::Hdf5Lock const lock;
      detail::Hdf5Id const file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
      ASSERT_GE(H5Lcreate_external("A.h5", "/A", file.get(), "A", H5P_DEFAULT, H5P_DEFAULT), 0);
    }
    EXPECT_EQ(open_matrix_file(path + ":/A").arrangement, Arrangement::ThroughHdf5);
    expect_all_tiles<double>(path + ":/A", 64, n, n);
  }
}

TEST_F(MatrixSourceTest, FloatAndRectangular) {
  test::write_hdf5(directory / "A.h5", {50, 90}, entries(50, 90), {.file_type = H5T_NATIVE_FLOAT});
  expect_all_tiles<float>(directory / "A.h5", 32, 50, 90);
  test::write_hdf5(directory / "B.h5", {50, 90}, entries(50, 90), {.chunk = {16, 16}, .file_type = H5T_NATIVE_FLOAT});
  expect_all_tiles<float>(directory / "B.h5", 16, 50, 90);
}

TEST_F(MatrixSourceTest, VectorsAreColumns) {
  auto const path = directory / "v.h5";
  for (auto const& [layout, arrangement] : {std::pair{Hdf5Layout{}, Arrangement::Contiguous},
                                            {Hdf5Layout{.chunk = {64, 0}}, Arrangement::Chunked},
                                            {Hdf5Layout{.chunk = {50, 0}}, Arrangement::Chunked},
                                            {Hdf5Layout{.chunk = {n, 0}}, Arrangement::Chunked},
                                            {Hdf5Layout{.chunk = {64, 0}, .gzip = true}, Arrangement::ThroughHdf5},
                                            {Hdf5Layout{.file_type = H5T_IEEE_F64BE}, Arrangement::ThroughHdf5}}) {
    test::write_hdf5(path, {n}, entries(n, 1), layout);
    EXPECT_EQ(open_matrix_file(path).arrangement, arrangement);
    expect_all_tiles<double>(path, 64, n, 1);
  }
}

TEST_F(MatrixSourceTest, ADatasetThatWasNeverWrittenReadsAsItsFillValue) {
  for (Hdf5Layout const& layout :
       {Hdf5Layout{.skip_writing = true}, Hdf5Layout{.chunk = {64, 64}, .skip_writing = true}}) {
    test::write_hdf5(directory / "A.h5", {n, n}, {}, layout);
    auto const source =
        open_matrix_source(open_matrix_file(directory / "A.h5"), 64, MatrixPart::All, detail::make_async_file_io());
    test::AlignedMemory memory(source->tile_bytes(4));
    memory.as<double>()[5] = 3;
    test::read(*source, 4, memory);
    EXPECT_EQ(memory.as<double>()[5], 0.0);
  }
}

TEST_F(MatrixSourceTest, Npy) {
  for (int const version : {1, 2, 3}) {
    for (bool const fortran : {false, true}) {
      for (std::string const descriptor : {"<f8", "<f4", ">f8", ">f4"}) {
        auto const path = directory / "A.npy";
        test::write_npy(path, 70, 45, entries(70, 45), {version, fortran, descriptor});
        if (descriptor[2] == '8') {
          expect_all_tiles<double>(path, 32, 70, 45);
        } else {
          expect_all_tiles<float>(path, 32, 70, 45);
        }
      }
    }
  }
}

TEST_F(MatrixSourceTest, ComplexNpy) {
  for (bool const fortran : {false, true}) {
    for (std::string const descriptor : {"<c8", ">c8", "<c16", ">c16"}) {
      auto const path = directory / "A.npy";
      test::write_npy(path, 70, 45, test::complex_entries(70, 45), {1, fortran, descriptor});
      if (descriptor.ends_with("16")) {
        expect_all_tiles<std::complex<double>>(path, 32, 70, 45);
      } else {
        expect_all_tiles<std::complex<float>>(path, 32, 70, 45);
      }
    }
  }
}

TEST_F(MatrixSourceTest, ComplexHdf5) {
  auto const record = [](hid_t real, char const* first, char const* second) {
    auto const size = H5Tget_size(real);
    detail::Hdf5Id type(H5Tcreate(H5T_COMPOUND, 2 * size), H5Tclose);
    H5Tinsert(type.get(), first, 0, real);
    H5Tinsert(type.get(), second, size, real);
    return type;
  };
  auto const values = test::complex_entries(70, 45);
  auto const path = directory / "A.h5";
  auto const expect = [&](detail::Hdf5Id const& type, Hdf5Layout layout, Arrangement arrangement) {
    layout.file_type = type.get();
    test::write_hdf5(path, {70, 45}, values, layout);
    EXPECT_EQ(open_matrix_file(path).arrangement, arrangement);
    if (H5Tget_size(type.get()) == 16) {
      expect_all_tiles<std::complex<double>>(path, 16, 70, 45);
    } else {
      expect_all_tiles<std::complex<float>>(path, 16, 70, 45);
    }
  };
  for (hid_t const real : {H5T_NATIVE_DOUBLE, H5T_NATIVE_FLOAT}) {
    expect(record(real, "r", "i"), {}, Arrangement::Contiguous);
    expect(record(real, "r", "i"), {.chunk = {16, 16}}, Arrangement::Chunked);
    expect(record(real, "r", "i"), {.chunk = {16, 16}, .gzip = true}, Arrangement::ThroughHdf5);
    expect(record(real, "i", "r"), {}, Arrangement::ThroughHdf5);
  }
  expect(record(H5T_IEEE_F64BE, "r", "i"), {}, Arrangement::ThroughHdf5);
}

TEST_F(MatrixSourceTest, ChunksOfAMatrixSmallerThanATile) {
  auto const path = directory / "A.h5";
  test::write_hdf5(path, {90, 5}, entries(90, 5), {.chunk = {16, 5}});
  expect_all_tiles<double>(path, 16, 90, 5);
  test::write_hdf5(path, {5, 90}, entries(5, 90), {.chunk = {5, 16}});
  expect_all_tiles<double>(path, 16, 5, 90);
}

// Tall, wide and one-column matrices in both storage orders: tiles hold their part of the matrix, row-major.
TEST_F(MatrixSourceTest, TilesOfNarrowMatricesAreAsLargeAsTheyAre) {
  for (auto const& [rows, cols] : {std::pair<hsize_t, hsize_t>{200, 1}, {200, 3}, {1, 200}, {3, 200}, {130, 70}}) {
    test::write_hdf5(directory / "A.h5", {rows, cols}, entries(rows, cols));
    expect_all_tiles<double>(directory / "A.h5", 64, rows, cols);
    test::write_hdf5(directory / "C.h5", {rows, cols}, entries(rows, cols),
                     {.chunk = {std::min<hsize_t>(64, rows), std::min<hsize_t>(64, cols)}});
    expect_all_tiles<double>(directory / "C.h5", 64, rows, cols);
    for (bool const fortran : {false, true}) {
      test::write_npy(directory / "A.npy", rows, cols, entries(rows, cols), {.fortran = fortran});
      expect_all_tiles<double>(directory / "A.npy", 64, rows, cols);
      auto const source =
          open_matrix_source(open_matrix_file(directory / "A.npy"), 64, MatrixPart::All, detail::make_async_file_io());
      Bytes sum = 0;
      for (std::uint64_t slot = 0; slot < source->tiling().tile_rows() * source->tiling().tile_cols(); ++slot)
        sum += source->tile_bytes(slot);
      EXPECT_EQ(sum, rows * cols * sizeof(double));
    }
  }
}

TEST_F(MatrixSourceTest, NonFinitePartsOfComplexElements) {
  auto values = test::complex_entries(20, 30);
  values[(7 * 30 + 21) * 2 + 1] = std::numeric_limits<double>::infinity();
  test::write_npy(directory / "A.npy", 20, 30, values, {.descriptor = "<c16"});
  auto const source =
      open_matrix_source(open_matrix_file(directory / "A.npy"), 16, MatrixPart::All, detail::make_async_file_io());
  EXPECT_NO_THROW(test::read(*source, 0, test::AlignedMemory(source->tile_bytes(0))));
  EXPECT_EQ(message_of<DataError>([&] { test::read(*source, 1, test::AlignedMemory(source->tile_bytes(1))); }),
            (directory / "A.npy") + " holds infinity at (7, 21)");
}

TEST_F(MatrixSourceTest, NonFiniteElementsAreNamedWithTheirPlace) {
  auto values = entries(n, n);
  values[140 * n + 70] = std::numeric_limits<double>::quiet_NaN();
  values[70 * n + 69] = -std::numeric_limits<double>::infinity();
  values[3 * n + 5] = std::numeric_limits<double>::quiet_NaN();
  test::write_hdf5(directory / "A.h5", {n, n}, values);
  test::write_npy(directory / "A.npy", n, n, values, {.version = 1, .fortran = true});
  for (std::string const name : {"A.h5", "A.npy"}) {
    auto const info = open_matrix_file(directory / name);
    auto const io = detail::make_async_file_io();
    auto const lower = open_matrix_source(info, 64, MatrixPart::Lower, io);
    auto const upper = open_matrix_source(info, 64, MatrixPart::Upper, io);
    auto const message = [&](detail::MatrixSource& source, std::uint64_t slot) {
      return message_of<DataError>([&] { test::read(source, slot, test::AlignedMemory(source.tile_bytes(slot))); });
    };
    EXPECT_EQ(message(*lower, 7), info.name() + " holds NaN at (140, 70)");
    EXPECT_EQ(message(*lower, 4), info.name() + " holds infinity at (70, 69)");
    EXPECT_EQ(message(*upper, 4), "") << "the other triangle is not looked at";
    EXPECT_EQ(message(*lower, 0), "");
    EXPECT_EQ(message(*upper, 0), info.name() + " holds NaN at (3, 5)");
  }
}

TEST_F(MatrixSourceTest, IsReadOnlyAndKnowsItsSlots) {
  test::write_hdf5(directory / "A.h5", {n, n}, entries(n, n));
  auto const source =
      open_matrix_source(open_matrix_file(directory / "A.h5"), 64, MatrixPart::All, detail::make_async_file_io());
  test::AlignedMemory memory(source->tile_bytes(0));
  EXPECT_EQ(memory.size(), source->largest_tile_bytes());
  EXPECT_THROW(test::write(*source, 0, memory), InternalError);
  EXPECT_THROW(test::read(*source, 9, memory), InternalError);
  EXPECT_THROW(test::read(*source, 8, memory), InternalError) << "a tile at the edge is smaller";
  EXPECT_EQ(source->describe(5), "tile (1, 2) of " + (directory / "A.h5") + ":/A");
}

TEST_F(MatrixSourceTest, AFileThatShrinksWhileItIsReadIsAnError) {
  test::write_npy(directory / "A.npy", n, n, entries(n, n));
  auto const source =
      open_matrix_source(open_matrix_file(directory / "A.npy"), 64, MatrixPart::All, detail::make_async_file_io());
  std::filesystem::resize_file(directory / "A.npy", 100000);
  EXPECT_NO_THROW(test::read(*source, 0, test::AlignedMemory(source->tile_bytes(0))));
  EXPECT_THROW(test::read(*source, 8, test::AlignedMemory(source->tile_bytes(8))), IoError);
}

}  // namespace
}  // namespace granary
