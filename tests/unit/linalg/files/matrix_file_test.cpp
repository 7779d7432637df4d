// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/files/matrix_file.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/files/matrix_market.hpp>
#include <granary/detail/linalg/files/matrix_source.hpp>
#include <granary/detail/linalg/files/vector_file.hpp>

#include "tests/support/io_support.hpp"
#include "tests/support/matrix_file_support.hpp"
#include "tests/support/message_of.hpp"

namespace granary {
namespace {

using test::entries;
using test::message_of;

class MatrixFile : public ::testing::Test {
 protected:
  template <class Exception>
  std::string message(std::string const& name) {
    return message_of<Exception>([&] { (void)open_matrix_file(directory / name); });
  }
  static std::string header(std::string const& dictionary) {
    return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(dictionary.size()) + '\0' + dictionary;
  }
  void write_bytes(std::string const& name, std::string const& bytes) {
    std::ofstream(directory / name, std::ios::binary) << bytes;
  }

  test::TemporaryDirectory directory;
};

TEST_F(MatrixFile, FindsTheDataset) {
  auto const path = directory / "A.h5";
  test::write_hdf5(path, {4, 5}, entries(4, 5), {.dataset = "A"});
  EXPECT_EQ(open_matrix_file(path).name(), path + ":/A");
  EXPECT_EQ(open_matrix_file(path + ":/A").dataset, "/A");
  EXPECT_EQ(open_matrix_file(path + ":A").dataset, "/A");
  test::write_hdf5(path, {7}, entries(1, 7), {.dataset = "v"}, true);
  EXPECT_EQ(open_matrix_file(path).dataset, "/A") << "the only one of two dimensions";
}

TEST_F(MatrixFile, AColonMayBePartOfTheName) {
  auto const path = directory / "A:1.h5";
  test::write_hdf5(path, {4, 5}, entries(4, 5));
  EXPECT_EQ(open_matrix_file(path).name(), path + ":/A");
  EXPECT_EQ(open_matrix_file(path + ":/A").name(), path + ":/A");
}

TEST_F(MatrixFile, ListsTheDatasetsThereAre) {
  auto const path = directory / "A.h5";
  test::write_hdf5(path, {4, 4}, entries(4, 4), {.dataset = "A"});
  test::write_hdf5(path, {4, 4}, entries(4, 4), {.dataset = "B"}, true);
  EXPECT_EQ(message<InvalidArgument>("A.h5:/C"), path + " has no dataset /C; it has /A, /B");
  EXPECT_EQ(message<InvalidArgument>("A.h5"), path + " holds several matrices: name one of /A, /B after a colon");
  EXPECT_EQ(message<InvalidArgument>("A.h5:"), "there is no dataset name after the colon of " + path + ":");
}

TEST_F(MatrixFile, MissingUnreadableOrForeign) {
  EXPECT_EQ(message<InvalidArgument>("none.h5"),
            "cannot open " + (directory / "none.h5") + ": No such file or directory");
  EXPECT_EQ(message<InvalidArgument>("none.h5:/A"),
            "cannot open " + (directory / "none.h5") + ": No such file or directory");
  EXPECT_NE(message<InvalidArgument>("").find("not a regular file"), std::string::npos);
  write_bytes("text.h5", "this is text");
  EXPECT_EQ(message<DataError>("text.h5"), (directory / "text.h5") + " is neither an HDF5 nor a .npy file");
  write_bytes("empty.h5", "");
  EXPECT_EQ(message<DataError>("empty.h5"), (directory / "empty.h5") + " is neither an HDF5 nor a .npy file");
}

TEST_F(MatrixFile, TruncatedHdf5) {
  test::write_hdf5(directory / "A.h5", {100, 100}, entries(100, 100));
  std::filesystem::resize_file(directory / "A.h5", 40000);
  auto const text = message<DataError>("A.h5");
  EXPECT_NE(text.find("truncated"), std::string::npos) << text;
  EXPECT_NE(text.find(directory / "A.h5"), std::string::npos) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos);
  // HDF5 believes the length that the file's first bytes state.
  std::fstream file(directory / "A.h5", std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(40).write("\x40\x9c\0\0\0\0\0\0", 8);
  file.close();
  // From 1.14 on it looks again when it opens the dataset.
  EXPECT_THAT(message<DataError>("A.h5"),
              ::testing::AnyOf((directory / "A.h5") +
                                   ":/A is truncated: it has 80000 bytes from byte 2048 on, and its file has 40000",
                               ::testing::StartsWith("cannot open " + (directory / "A.h5") + ":/A: ")));
}

TEST_F(MatrixFile, TypesThatAreNotRealFloating) {
  test::write_hdf5(directory / "i.h5", {4, 4}, entries(4, 4), {.file_type = H5T_NATIVE_INT});
  EXPECT_EQ(message<DataError>("i.h5"),
            (directory / "i.h5") + ":/A holds integers of 4 bytes; real and complex float and double can be read");
  test::write_hdf5(directory / "l.h5", {4, 4}, entries(4, 4), {.file_type = H5T_NATIVE_LDOUBLE});
  EXPECT_NE(message<DataError>("l.h5").find("holds floating-point numbers of 16 bytes"), std::string::npos);
  auto const record = [&](char const* first, char const* second, hid_t member) {
    auto const size = H5Tget_size(member);
    detail::Hdf5Id const type(H5Tcreate(H5T_COMPOUND, 2 * size), H5Tclose);
    H5Tinsert(type.get(), first, 0, member);
    H5Tinsert(type.get(), second, size, member);
    test::write_hdf5(directory / "c.h5", {4, 4}, {}, {.file_type = type.get(), .skip_writing = true});
  };
  record("r", "i", H5T_NATIVE_DOUBLE);
  EXPECT_EQ(open_matrix_file(directory / "c.h5").scalar_type, ScalarType::Complex128);
  record("r", "i", H5T_NATIVE_INT);
  EXPECT_NE(message<DataError>("c.h5").find("holds records other than {r, i} of 8 bytes"), std::string::npos);
  record("x", "y", H5T_NATIVE_DOUBLE);
  EXPECT_NE(message<DataError>("c.h5").find("holds records other than {r, i} of 16 bytes"), std::string::npos);
}

TEST_F(MatrixFile, NotAMatrix) {
  test::write_hdf5(directory / "t.h5", {2, 3, 4}, entries(4, 6));
  EXPECT_EQ(message<DataError>("t.h5:/A"), (directory / "t.h5") + ":/A has 3 dimensions; a matrix has 2, a vector 1");
  EXPECT_EQ(message<DataError>("t.h5"), (directory / "t.h5") + " holds no dataset of one or two dimensions; it has /A");
  test::write_hdf5(directory / "v.h5", {0}, {}, {.skip_writing = true});
  EXPECT_EQ(message<DataError>("v.h5"), (directory / "v.h5") + ":/A is empty: it has 0 x 1 elements");
  test::write_hdf5(directory / "e.h5", {0, 3}, {}, {.skip_writing = true});
  EXPECT_EQ(message<DataError>("e.h5"), (directory / "e.h5") + ":/A is empty: it has 0 x 3 elements");
}

TEST_F(MatrixFile, AVectorIsAMatrixOfOneColumn) {
  auto const path = directory / "v.h5";
  test::write_hdf5(path, {16}, entries(4, 4));
  auto const info = open_matrix_file(path);
  EXPECT_EQ(info.name(), path + ":/A") << "the only dataset";
  EXPECT_EQ(info.dimensions, 1U);
  EXPECT_EQ(info.rows, 16U);
  EXPECT_EQ(info.cols, 1U);
  test::write_hdf5(path, {7}, entries(1, 7), {.dataset = "B"}, true);
  EXPECT_EQ(message<InvalidArgument>("v.h5"), path + " holds several matrices: name one of /A, /B after a colon");
  EXPECT_EQ(list_matrices(path).matrices.size(), 2U);
  write_bytes("v.npy", header("{'descr': '<f8', 'fortran_order': True, 'shape': (3,)}") + std::string(24, '\0'));
  auto const npy = open_matrix_file(directory / "v.npy");
  EXPECT_EQ(npy.dimensions, 1U);
  EXPECT_EQ(npy.rows, 3U);
  EXPECT_EQ(npy.cols, 1U);
}

TEST_F(MatrixFile, NamesOfColumnsAreAnAttribute) {
  auto const path = directory / "A.h5";
  auto const names = [&](hid_t type, std::vector<hsize_t> const& extents, void const* values) {
    test::write_hdf5(path, {4, 3}, entries(4, 3));
    {
      detail::Hdf5Lock const lock;
      detail::Hdf5Id const file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
      detail::Hdf5Id const dataset(H5Dopen2(file.get(), "A", H5P_DEFAULT), H5Dclose);
      detail::Hdf5Id const space(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), H5Sclose);
      detail::Hdf5Id const attribute(H5Acreate2(dataset.get(), "columns", type, space.get(), H5P_DEFAULT, H5P_DEFAULT),
                                     H5Aclose);
      EXPECT_GE(H5Awrite(attribute.get(), type, values), 0);
    }
    return open_matrix_file(path).columns;
  };
  using Names = std::vector<std::string>;
  detail::Hdf5Id const fixed(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(fixed.get(), 4);
  detail::Hdf5Id const variable(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(variable.get(), H5T_VARIABLE);
  H5Tset_cset(variable.get(), H5T_CSET_UTF8);
  std::array<char const*, 3> const texts{"x", "", "a longer name"};
  EXPECT_EQ(names(variable.get(), {3}, texts.data()), (Names{"x", "", "a longer name"}));
  EXPECT_EQ(names(fixed.get(), {3}, "x\0\0\0ab\0\0four"), (Names{"x", "ab", "four"}));
  // Other programs may have an attribute of this name with another meaning.
  EXPECT_EQ(names(variable.get(), {2}, texts.data()), Names{});
  EXPECT_EQ(names(variable.get(), {3, 1}, texts.data()), Names{});
  EXPECT_EQ(names(H5T_NATIVE_INT, {3}, "123412341234"), Names{});
}

TEST_F(MatrixFile, TextFilesAreToBeConverted) {
  for (std::string const name : {"A.csv", "A.tsv", "A.mtx"}) {
    write_bytes(name, "1,2\n");
    EXPECT_EQ(message<DataError>(name), (directory / name) + " is neither an HDF5 nor a .npy file; convert it first: " +
                                            "granary-matrix convert " + (directory / name) + " A.h5");
  }
}

TEST_F(MatrixFile, LinksThatLeadNowhere) {
  auto const path = directory / "A.h5";
  test::write_hdf5(path, {4, 4}, entries(4, 4));
  auto const links = directory / "links.h5";
  {
    detail::Hdf5Lock const lock;
    detail::Hdf5Id const file(H5Fcreate(links.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    auto const external = [&](char const* target, char const* object, char const* name) {
      EXPECT_GE(H5Lcreate_external(target, object, file.get(), name, H5P_DEFAULT, H5P_DEFAULT), 0);
    };
    external("gone.h5", "/A", "/A");
    external("A.h5", "/B", "/B");
    external("A.h5", "/A", "/good");
    external("fifo", "/A", "/pipe");
    EXPECT_GE(H5Lcreate_soft("/none", file.get(), "/C", H5P_DEFAULT, H5P_DEFAULT), 0);
    EXPECT_GE(H5Lcreate_soft("/good", file.get(), "/chain", H5P_DEFAULT, H5P_DEFAULT), 0);
  }
  EXPECT_EQ(open_matrix_file(links + ":/good").rows, 4U);
  EXPECT_EQ(open_matrix_file(links + ":/chain").rows, 4U);
  EXPECT_THAT(message<DataError>("links.h5:/A"),
              ::testing::StartsWith("cannot open " + links + ":/A, an external link to /A of gone.h5: "));
  EXPECT_THAT(message<DataError>("links.h5:/B"),
              ::testing::StartsWith("cannot open " + links + ":/B, an external link to /B of A.h5: "));
  EXPECT_THAT(message<DataError>("links.h5:/A"), ::testing::Not(::testing::HasSubstr("no reason")));
  EXPECT_THAT(message<DataError>("links.h5:/C"),
              ::testing::StartsWith("cannot open " + links + ":/C, a soft link to /none: "));
  EXPECT_THAT(message<DataError>("links.h5:/C/D"),
              ::testing::StartsWith("cannot open " + links + ":/C/D, a soft link to /none: "));
  ASSERT_EQ(::mkfifo((directory / "fifo").c_str(), 0600), 0);
  for (std::string const object : {"/pipe", "/pipe/B"}) {
    EXPECT_EQ(message<DataError>("links.h5:" + object),
              "cannot open " + links + ":" + object + ", an external link to /A of fifo: it is not a regular file");
  }
  EXPECT_EQ(message<DataError>("links.h5"),
            links +
                " holds no dataset of one or two dimensions; name one of its links after a "
                "colon: /A, /B, /C, /chain, /good, /pipe");
  EXPECT_TRUE(list_matrices(links).matrices.empty());
  EXPECT_THAT(list_matrices(links).others,
              ::testing::ElementsAre(links + ":/A is an external link to /A of gone.h5",
                                     links + ":/B is an external link to /B of A.h5",
                                     links + ":/C is a soft link to /none", links + ":/chain is a soft link to /good",
                                     links + ":/good is an external link to /A of A.h5",
                                     links + ":/pipe is an external link to /A of fifo"));
}

TEST_F(MatrixFile, NpyErrors) {
  auto const path = directory / "A.npy";
  test::write_npy(path, 10, 10, entries(10, 10));
  EXPECT_EQ(message<InvalidArgument>("A.npy:/A"), path + " is a .npy file: it has no datasets such as /A");
  std::filesystem::resize_file(path, 500);
  EXPECT_EQ(message<DataError>("A.npy"), path + " is truncated: it has 500 bytes of 928");
  std::filesystem::resize_file(path, 60);
  EXPECT_EQ(message<DataError>("A.npy"), path + " is truncated: it has 60 bytes, and its header alone has 128");
  std::filesystem::resize_file(path, 8);
  EXPECT_EQ(message<DataError>("A.npy"), path + " is truncated: it has 8 bytes, and its header alone has 10");
  test::write_npy(path, 10, 10, entries(10, 10), {.descriptor = "<i8"});
  EXPECT_EQ(message<DataError>("A.npy"),
            path + " holds elements of type '<i8'; real and complex float and double can be read");
  test::write_npy(path, 10, 10, entries(10, 10), {.version = 9});
  EXPECT_EQ(message<DataError>("A.npy"), path + " has .npy version 9; 1 to 3 can be read");
  for (std::string const dictionary :
       {"", "{", "{'descr': '<f8'}", "{'descr': '<f8', 'fortran_order': False, 'shape': (x, 3)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-3, 3)}", "{'descr'"}) {
    write_bytes("A.npy", header(dictionary));
    EXPECT_EQ(message<DataError>("A.npy"), "the header of " + path + " is not a well-formed .npy header") << dictionary;
  }
  for (std::string const shape : {"(99999999999999999999, 3)", "(2147483648, 3)", "(3, 2147483648)"}) {
    write_bytes("A.npy", header("{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + "}"));
    EXPECT_EQ(message<DataError>("A.npy"), path + " has the shape " + shape + "; extents are at most 2147483647");
  }
  write_bytes("A.npy", header("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3)}"));
  EXPECT_EQ(message<DataError>("A.npy"), path + " holds an empty matrix of 0 x 3 elements");
  write_bytes("A.npy", header("{'descr': '<f8', 'fortran_order': 1, 'shape': (3, 3)}"));
  EXPECT_EQ(message<DataError>("A.npy"), "the fortran_order of " + path + " is 1, neither True nor False");
  write_bytes("A.npy", std::string("\x93NUMPY\x02\x00\x00\x00\x02\x00", 12));
  EXPECT_EQ(message<DataError>("A.npy"), "the header of " + path + " has 131072 bytes; up to 65536 are read");
  write_bytes("A.npy", header("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 1, 1)}"));
  EXPECT_EQ(message<DataError>("A.npy"), path + " has 3 dimensions; a matrix has 2, a vector 1");
  write_bytes("A.npy", header("{'descr': '<f8', 'fortran_order': False, 'shape': (3,)}"));
  EXPECT_NE(message<DataError>("A.npy").find("is truncated"), std::string::npos);
  write_bytes("A.npy", header("{'descr': '', 'fortran_order': False, 'shape': (3, 3)}"));
  EXPECT_NE(message<DataError>("A.npy").find("holds elements of type ''"), std::string::npos);
  write_bytes("A.npy", header("{'descr': '\x1b[31m', 'fortran_order': False, 'shape': (3, 3)}"));
  EXPECT_NE(message<DataError>("A.npy").find("holds elements of type '\\x1b[31m'"), std::string::npos);
  write_bytes("A.npy", header("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (3, 3)}"));
  EXPECT_NE(message<DataError>("A.npy").find("records"), std::string::npos);
}

TEST_F(MatrixFile, NpyHeadersThatPython2Wrote) {
  write_bytes("A.npy", header("{'descr': '<f8', 'fortran_order': False, 'shape': (2L, 3L), }") + std::string(48, '\0'));
  auto const info = open_matrix_file(directory / "A.npy");
  EXPECT_EQ(info.rows, 2U);
  EXPECT_EQ(info.cols, 3U);
  write_bytes("A.npy", header("{'descr': '<f8', 'fortran_order': False, 'shape': (2l, 3L), }") + std::string(48, '\0'));
  EXPECT_NE(message<DataError>("A.npy"), "");
}

TEST_F(MatrixFile, TooLargeToBeCounted) {
  auto const text = std::string("{'descr': '<c16', 'fortran_order': False, 'shape': (1073741824, 1073741824)}");
  write_bytes("A.npy", std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(text.size()) + '\0' + text);
  EXPECT_EQ(message<DataError>("A.npy"),
            (directory / "A.npy") +
                " has 1073741824 x 1073741824 elements of 16 bytes, more than the maximum of 2^63 - 1 bytes");

  hsize_t const extent = hsize_t{1} << 33U;
  for (hsize_t const chunk : {0, 64}) {
    test::write_hdf5(directory / "A.h5", {extent, extent}, {}, {.chunk = {chunk, chunk}, .skip_writing = true});
    auto const expected =
        (directory / "A.h5") +
        ":/A has 8589934592 x 8589934592 elements of 8 bytes, more than the maximum of 2^63 - 1 bytes";
    EXPECT_EQ(message<DataError>("A.h5"), expected);
    EXPECT_EQ(list_matrices(directory / "A.h5").others, std::vector{expected});
  }

  write_bytes("A.mtx", "%%MatrixMarket matrix coordinate complex general\n2147483647 2147483647 0\n");
  EXPECT_NE(message_of<DataError>([&] {
              (void)open_matrix_market(directory / "A.mtx");
            }).find("more than the maximum of 2^63 - 1"),
            std::string::npos);
}

TEST_F(MatrixFile, AVectorThatIsLongerThanItCanBeIsNotRead) {
  auto const path = directory / "v.h5";
  test::write_hdf5(path, {16}, entries(4, 4), {.file_type = H5T_NATIVE_LLONG});
  EXPECT_EQ(read_vector(path, "/A", 16).size(), 16U);
  EXPECT_EQ(message_of<DataError>([&] { (void)read_vector(path, "/A", 15); }),
            path + ":/A has 16 entries; at most 15 are expected");
  // It would take 8 TiB.
  test::write_hdf5(path, {hsize_t{1} << 40U}, {}, {.file_type = H5T_NATIVE_LLONG, .skip_writing = true});
  EXPECT_NE(message_of<DataError>([&] { (void)read_vector(path, "/A", 1000); }).find("at most 1000"),
            std::string::npos);
}

TEST_F(MatrixFile, APipeIsNotOpened) {
  ASSERT_EQ(::mkfifo((directory / "pipe").c_str(), 0600), 0);
  ::alarm(60);  // nobody writes
  EXPECT_NE(message<InvalidArgument>("pipe").find("not a regular file"), std::string::npos);
  EXPECT_FALSE(is_matrix_market(directory / "pipe"));
  ::alarm(0);
}

TEST_F(MatrixFile, ReadingErrorsPrintNothing) {
  ::testing::internal::CaptureStderr();
  test::write_hdf5(directory / "A.h5", {4, 4}, entries(4, 4));
  EXPECT_THROW((void)open_matrix_file((directory / "A.h5") + ":/missing/group"), InvalidArgument);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace granary
