// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/files/hdf5_storage.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/files/matrix_file.hpp>
#include <granary/detail/linalg/files/matrix_source.hpp>
#include <granary/detail/linalg/files/open_matrix_source.hpp>
#include <granary/detail/linalg/files/vector_file.hpp>
#include <granary/detail/outofcore/io_engine_choice.hpp>

#include "tests/support/io_support.hpp"
#include "tests/support/matrix_file_support.hpp"
#include "tests/support/message_of.hpp"

namespace granary {
namespace {

using detail::Hdf5Id;
using test::entries;
using test::entry;

constexpr hsize_t side = 8;

// A dataset A of side x side numbers; `prepare` sets its layout.
void create(std::string const& path, std::function<void(hid_t)> const& prepare, hsize_t most_rows = side) {
  detail::Hdf5Lock const lock;
  Hdf5Id const file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
  Hdf5Id const properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  prepare(properties.get());
  hsize_t const extents[2] = {side, side};
  hsize_t const most[2] = {most_rows, side};
  Hdf5Id const space(H5Screate_simple(2, extents, most), H5Sclose);
  Hdf5Id const dataset(
      H5Dcreate2(file.get(), "A", H5T_NATIVE_DOUBLE, space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT),
      H5Dclose);
  ASSERT_TRUE(dataset.valid());
}

// Rows from `first` on, as many as the source has, come from the dataset A of `file`.
void map_rows(hid_t properties, char const* file, hsize_t first, hsize_t rows, char const* dataset = "A") {
  hsize_t const extents[2] = {side, side};
  hsize_t const part[2] = {rows, side};
  hsize_t const start[2] = {first, 0};
  Hdf5Id const whole(H5Screate_simple(2, extents, nullptr), H5Sclose);
  Hdf5Id const source(H5Screate_simple(2, part, nullptr), H5Sclose);
  H5Sselect_hyperslab(whole.get(), H5S_SELECT_SET, start, nullptr, part, nullptr);
  EXPECT_GE(H5Pset_virtual(properties, whole.get(), file, dataset, source.get()), 0);
}

// Every fourth row is a block of the source, whose name has a number.
void map_blocks(hid_t properties, char const* file) {
  hsize_t const extents[2] = {side, side};
  hsize_t const most[2] = {H5S_UNLIMITED, side};
  hsize_t const part[2] = {4, side};
  hsize_t const start[2] = {0, 0};
  hsize_t const count[2] = {H5S_UNLIMITED, 1};
  Hdf5Id const whole(H5Screate_simple(2, extents, most), H5Sclose);
  Hdf5Id const source(H5Screate_simple(2, part, nullptr), H5Sclose);
  H5Sselect_hyperslab(whole.get(), H5S_SELECT_SET, start, part, count, part);
  EXPECT_GE(H5Pset_virtual(properties, whole.get(), file, "A", source.get()), 0);
}

class Hdf5Storage : public ::testing::Test {
 protected:
  std::string message(std::string const& name = "A.h5") {
    return test::message_of<DataError>([&] { (void)open_matrix_file(directory / name); });
  }
  // For a dataset A that is opened with a prefix, as those of HDF5's variables of the environment.
  std::string message_with(std::string const& path, herr_t (*set)(hid_t, char const*), std::string const& prefix) {
    detail::Hdf5Lock const lock;
    Hdf5Id const access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
    set(access.get(), prefix.c_str());
    Hdf5Id const file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    Hdf5Id const dataset(H5Dopen2(file.get(), "A", access.get()), H5Dclose);
    return test::message_of<DataError>([&] { detail::require_complete(dataset.get(), "A"); });
  }
  // Two sources of four rows each.
  void write_sources() {
    auto const values = entries(side, side);
    auto const half = values.begin() + side * side / 2;
    test::write_hdf5(directory / "top.h5", {side / 2, side}, {values.begin(), half});
    test::write_hdf5(directory / "low.h5", {side / 2, side}, {half, values.end()});
  }
  void write_virtual(std::string const& name = "A.h5") {
    create(directory / name, [](hid_t properties) {
      map_rows(properties, "top.h5", 0, side / 2);
      map_rows(properties, "low.h5", side / 2, side / 2);
    });
  }
  void expect_entries(std::string const& name = "A.h5") {
    auto const source =
        open_matrix_source(open_matrix_file(directory / name), side, MatrixPart::All, detail::make_async_file_io());
    test::AlignedMemory memory(source->tile_bytes(0));
    test::read(*source, 0, memory);
    for (std::uint64_t k = 0; k < side * side; ++k) ASSERT_EQ(memory.as<double>()[k], entry(k / side, k % side));
  }

  test::TemporaryDirectory directory;
};

TEST_F(Hdf5Storage, AVirtualDatasetIsReadFromItsSources) {
  write_sources();
  write_virtual();
  expect_entries();
}

TEST_F(Hdf5Storage, ASourceThatIsMissingOrUnreadableIsRefused) {
  write_sources();
  write_virtual();
  auto const start = (directory / "A.h5") + ":/A is a virtual dataset, and its source low.h5:A ";
  auto const low = directory / "low.h5";
  ::unlink(low.c_str());
  EXPECT_EQ(message(), start + "is missing: HDF5 would read it as the fill value");
  std::ofstream(low) << "text";
  EXPECT_THAT(message(), ::testing::StartsWith(start + "cannot be opened: "));
  test::write_hdf5(low, {side / 2, side}, entries(side / 2, side), {.dataset = "B"});
  EXPECT_EQ(message(), start + "is missing: HDF5 would read it as the fill value");
  ::unlink(low.c_str());
  ASSERT_EQ(::mkfifo(low.c_str(), 0600), 0);
  EXPECT_EQ(message(), start + "is not in a regular file");
  EXPECT_THAT(list_matrices(directory / "A.h5").others, ::testing::ElementsAre(start + "is not in a regular file"));
}

TEST_F(Hdf5Storage, SourcesOfSourcesAreExamined) {
  write_sources();
  write_virtual("middle.h5");
  create(directory / "A.h5", [](hid_t properties) { map_rows(properties, "middle.h5", 0, side); });
  expect_entries();
  ::unlink((directory / "top.h5").c_str());
  EXPECT_THAT(message(), ::testing::HasSubstr("its source top.h5:A is missing"));
}

TEST_F(Hdf5Storage, SourcesThatLeadInACircleAreRefused) {
  create(directory / "A.h5", [](hid_t properties) { map_rows(properties, ".", 0, side); });
  EXPECT_THAT(message(), ::testing::HasSubstr("more than 16 levels of sources"));
}

TEST_F(Hdf5Storage, SourcesAreFoundWhereHdf5FindsThem) {
  test::TemporaryDirectory other;
  write_sources();
  write_virtual();
  write_virtual(".hidden.h5");
  std::filesystem::rename(directory / ".hidden.h5", other / "moved.h5");
  EXPECT_THAT(test::message_of<DataError>([&] { (void)open_matrix_file(other / "moved.h5"); }),
              ::testing::HasSubstr("top.h5:A is missing"));
  EXPECT_EQ(message_with(other / "moved.h5", H5Pset_virtual_prefix, "/nowhere:" + (directory / "")), "");
  // Behind a link: the sources lie beside the file that it leads to.
  std::filesystem::create_symlink(directory / "A.h5", other / "link.h5");
  EXPECT_EQ(test::message_of<DataError>([&] { (void)open_matrix_file(other / "link.h5"); }), "");
}

TEST_F(Hdf5Storage, BlocksWithANumberEndWhereOneIsMissing) {
  create(
      directory / "A.h5", [](hid_t properties) { map_blocks(properties, "s%b.h5"); }, H5S_UNLIMITED);
  EXPECT_THAT(message(), ::testing::HasSubstr("its source s0.h5:A is missing"));
  for (std::string const name : {"s0.h5", "s1.h5", "s2.h5"})
    test::write_hdf5(directory / name, {4, side}, entries(4, side));
  EXPECT_EQ(open_matrix_file(directory / "A.h5").rows, 12U);
  ::unlink((directory / "s1.h5").c_str());
  EXPECT_THAT(message(), ::testing::HasSubstr("its source s1.h5:A is missing, but s2.h5:A is there"));
}

TEST_F(Hdf5Storage, ElementsThatNoSourceHoldsNeedAFillValue) {
  write_sources();
  auto const map_top = [](hid_t properties) { map_rows(properties, "top.h5", 0, side / 2); };
  create(directory / "A.h5", map_top);
  EXPECT_EQ(message(), "") << "HDF5's fill value is 0";
  create(directory / "A.h5", [&](hid_t properties) {
    map_top(properties);
    H5Pset_fill_value(properties, H5T_NATIVE_DOUBLE, nullptr);
  });
  EXPECT_THAT(message(), ::testing::EndsWith("/A is a virtual dataset without a fill value, and its sources hold 32 of "
                                             "its 64 elements"));
}

TEST_F(Hdf5Storage, ExternalFilesAreExamined) {
  auto const raw = directory / "raw.bin";
  auto const values = entries(side, side);
  auto const write_raw = [&](std::size_t numbers) {
    std::ofstream(raw, std::ios::binary)
        .write("start", 5)
        .write(reinterpret_cast<char const*>(values.data()), static_cast<std::streamsize>(numbers * sizeof(double)));
  };
  create(directory / "A.h5",
         [&](hid_t properties) { H5Pset_external(properties, raw.c_str(), 5, side * side * sizeof(double)); });
  auto const whole = (directory / "A.h5") + ":/A";
  EXPECT_EQ(message(), "cannot read " + whole + ": its external file " + raw + ": No such file or directory");
  write_raw(side * side);
  expect_entries();
  write_raw(side * side - 1);
  EXPECT_EQ(message(),
            whole + " is truncated: 512 bytes from byte 5 on are in its external file " + raw + ", which has 509");
  ::unlink(raw.c_str());
  create(directory / "A.h5",
         [&](hid_t properties) { H5Pset_external(properties, "beside.bin", 0, side * side * sizeof(double)); });
  EXPECT_EQ(message_with(directory / "A.h5", H5Pset_efile_prefix, "${ORIGIN}"),
            "cannot read A: its external file " + (directory / "beside.bin") + ": No such file or directory");
  create(directory / "A.h5",
         [&](hid_t properties) { H5Pset_external(properties, raw.c_str(), 5, side * side * sizeof(double)); });
  ASSERT_EQ(::mkfifo(raw.c_str(), 0600), 0);
  EXPECT_EQ(message(), "cannot read " + whole + ": its external file " + raw + " is not a regular file");
}

TEST_F(Hdf5Storage, UnwrittenElementsNeedAFillValue) {
  auto const no_fill_value = [](hid_t properties) { H5Pset_fill_value(properties, H5T_NATIVE_DOUBLE, nullptr); };
  auto const never_filled = [](hid_t properties) { H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER); };
  auto const chunked = [](hid_t properties) {
    hsize_t const chunk[2] = {3, side};
    H5Pset_chunk(properties, 2, chunk);
  };
  auto const path = directory / "A.h5";
  for (std::function<void(hid_t)> const& unfilled : {std::function<void(hid_t)>(no_fill_value), {never_filled}}) {
    create(path, unfilled);
    EXPECT_EQ(message(), path + ":/A was never written, and has no fill value");
    create(path, [&](hid_t properties) {
      unfilled(properties);
      chunked(properties);
    });
    EXPECT_EQ(message(), path +
                             ":/A was not written completely: it has 0 of its 3 chunks, and no fill value for the "
                             "others");
    {
      detail::Hdf5Lock const lock;
      Hdf5Id const file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
      Hdf5Id const dataset(H5Dopen2(file.get(), "A", H5P_DEFAULT), H5Dclose);
      auto const values = entries(side, side);
      ASSERT_GE(H5Dwrite(dataset.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    }
    expect_entries();
  }
  create(path, chunked);
  EXPECT_EQ(message(), "") << "HDF5's fill value is 0";
}

TEST_F(Hdf5Storage, AFilterThatIsMissingIsNamed) {
  auto const path = directory / "A.h5";
  // Writes the only chunk as if the filters in `mask` had been skipped.
  auto const write = [&](std::uint32_t mask) {
    create(path, [](hid_t properties) {
      hsize_t const chunk[2] = {side, side};
      H5Pset_chunk(properties, 2, chunk);
      H5Pset_filter(properties, 32000, H5Z_FLAG_OPTIONAL, 0, nullptr);
    });
    detail::Hdf5Lock const lock;
    Hdf5Id const file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
    Hdf5Id const dataset(H5Dopen2(file.get(), "A", H5P_DEFAULT), H5Dclose);
    hsize_t const first[2] = {0, 0};
    auto const values = entries(side, side);
    ASSERT_GE(H5Dwrite_chunk(dataset.get(), H5P_DEFAULT, mask, first, values.size() * sizeof(double), values.data()),
              0);
  };
  write(0);
  EXPECT_THAT(message(), ::testing::StartsWith(path + ":/A needs the filter 32000 '"));
  EXPECT_THAT(message(), ::testing::HasSubstr("', which this HDF5 does not have: install its plugin"));
  write(1);
  expect_entries();
}

TEST_F(Hdf5Storage, VectorsAreExamined) {
  auto const path = directory / "A.h5";
  {
    detail::Hdf5Lock const lock;
    Hdf5Id const file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    Hdf5Id const properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_external(properties.get(), "none", 0, 24);
    hsize_t const extent = 3;
    Hdf5Id const space(H5Screate_simple(1, &extent, nullptr), H5Sclose);
    Hdf5Id const vector(
        H5Dcreate2(file.get(), "v", H5T_NATIVE_INT64, space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT),
        H5Dclose);
  }
  EXPECT_THAT(test::message_of<DataError>([&] { (void)read_vector(path, "/v", 3); }),
              ::testing::HasSubstr("its external file none: No such file"));
}

}  // namespace
}  // namespace granary
