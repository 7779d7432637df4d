// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <hdf5.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include <granary/detail/linalg/files/hdf5_support.hpp>

namespace granary::test {

/// Storage options of a matrix file from another program.
struct Hdf5Layout {
  hsize_t chunk[2] = {0, 0};  ///< {0, 0}: contiguous
  bool gzip = false;
  bool shuffle = false;
  hsize_t user_block = 0;
  hid_t file_type = H5T_NATIVE_DOUBLE;
  std::string dataset = "A";
  bool skip_writing = false;  ///< do not write the dataset after creating it
};

/// Element (i, j) of the test matrices.
inline double entry(std::uint64_t i, std::uint64_t j) {
  return 1000.0 * static_cast<double>(i) + static_cast<double>(j) + 0.25;
}

inline std::vector<double> entries(std::uint64_t rows, std::uint64_t cols) {
  std::vector<double> values(rows * cols);
  for (std::uint64_t i = 0; i < rows; ++i) {
    for (std::uint64_t j = 0; j < cols; ++j) values[i * cols + j] = entry(i, j);
  }
  return values;
}

/// The matrix of complex numbers entry(i, j) - i (entry(i, j) + 0.5): pairs, the real part first.
inline std::vector<double> complex_entries(std::uint64_t rows, std::uint64_t cols) {
  std::vector<double> values;
  for (auto const value : entries(rows, cols)) values.insert(values.end(), {value, -value - 0.5});
  return values;
}

/// Element (i, j) of entries or complex_entries as a T.
template <class T>
T element(std::uint64_t i, std::uint64_t j) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(entry(i, j));
  } else {
    using Real = typename T::value_type;
    return {static_cast<Real>(entry(i, j)), static_cast<Real>(-entry(i, j) - 0.5)};
  }
}

/// Writes a dataset with only the HDF5 library, of pairs if its type is a record; the file is created unless `add` is
/// set.
inline void write_hdf5(std::string const& path, std::vector<hsize_t> const& extents, std::vector<double> const& values,
                       Hdf5Layout const& layout = {}, bool add = false) {
  detail::Hdf5Lock const lock;
  detail::Hdf5Id const creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  if (layout.user_block != 0) H5Pset_userblock(creation.get(), layout.user_block);
  detail::Hdf5Id const file(add ? H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT)
                                : H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.get(), H5P_DEFAULT),
                            H5Fclose);
  detail::Hdf5Id const properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  if (layout.chunk[0] != 0) H5Pset_chunk(properties.get(), static_cast<int>(extents.size()), layout.chunk);
  if (layout.shuffle) H5Pset_shuffle(properties.get());
  if (layout.gzip) H5Pset_deflate(properties.get(), 1);
  detail::Hdf5Id const space(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), H5Sclose);
  detail::Hdf5Id const dataset(H5Dcreate2(file.get(), layout.dataset.c_str(), layout.file_type, space.get(),
                                          H5P_DEFAULT, properties.get(), H5P_DEFAULT),
                               H5Dclose);
  bool const pairs = H5Tget_class(layout.file_type) == H5T_COMPOUND;
  auto const memory = detail::memory_type(pairs ? ScalarType::Complex128 : ScalarType::Float64);
  if (!layout.skip_writing) H5Dwrite(dataset.get(), memory.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
}

/// The chunks of files by `write_counted_hdf5` that HDF5 has unpacked.
inline std::atomic<std::uint64_t> unpacked_chunks = 0;

/// Writes `entries` in square chunks through a filter that changes nothing and counts in `unpacked_chunks`, from 0 on.
inline void write_counted_hdf5(std::string const& path, hsize_t rows, hsize_t cols, hsize_t chunk) {
  detail::Hdf5Lock const lock;
  auto const count = [](unsigned flags, std::size_t, unsigned const*, std::size_t bytes, std::size_t*, void**) {
    if ((flags & H5Z_FLAG_REVERSE) != 0) ++unpacked_chunks;
    return bytes;
  };
  H5Z_class2_t const counting{H5Z_CLASS_T_VERS, 300, 1, 1, "counting", nullptr, nullptr, count};
  H5Zregister(&counting);
  detail::Hdf5Id const file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
  detail::Hdf5Id const properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  hsize_t const extents[2] = {rows, cols};
  hsize_t const chunks[2] = {chunk, chunk};
  H5Pset_chunk(properties.get(), 2, chunks);
  H5Pset_filter(properties.get(), counting.id, 0, 0, nullptr);
  detail::Hdf5Id const space(H5Screate_simple(2, extents, nullptr), H5Sclose);
  detail::Hdf5Id const dataset(
      H5Dcreate2(file.get(), "A", H5T_NATIVE_DOUBLE, space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT),
      H5Dclose);
  auto const values = entries(rows, cols);
  H5Dwrite(dataset.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  unpacked_chunks = 0;
}

/// Reads a whole dataset with only the HDF5 library, as another program would: numbers, or pairs of them.
inline std::vector<double> read_hdf5(std::string const& path, std::string const& name, std::uint64_t numbers,
                                     ScalarType type = ScalarType::Float64) {
  detail::Hdf5Lock const lock;
  std::vector<double> values(numbers);
  detail::Hdf5Id const file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  detail::Hdf5Id const dataset(H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT), H5Dclose);
  auto const memory = detail::memory_type(is_complex_type(type) ? ScalarType::Complex128 : ScalarType::Float64);
  if (H5Dread(dataset.get(), memory.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) values.clear();
  return values;
}

struct NpyLayout {
  int version = 1;
  bool fortran = false;
  std::string descriptor = "<f8";
};

/// Writes a .npy file of `rows` x `cols` elements given in row-major order, as pairs if they are complex.
inline void write_npy(std::string const& path, std::uint64_t rows, std::uint64_t cols,
                      std::vector<double> const& values, NpyLayout const& layout = {}) {
  auto text = "{'descr': '" + layout.descriptor + "', 'fortran_order': " + (layout.fortran ? "True" : "False") +
              ", 'shape': (" + std::to_string(rows) + ", " + std::to_string(cols) + "), }";
  std::size_t const start = layout.version == 1 ? 10 : 12;
  while ((start + text.size() + 1) % 64 != 0) text += ' ';
  text += '\n';
  std::ofstream file(path, std::ios::binary);
  file.write("\x93NUMPY", 6);
  file.put(static_cast<char>(layout.version)).put(0);
  for (std::size_t byte = 0; byte < start - 8; ++byte) file.put(static_cast<char>(text.size() >> (8 * byte) & 0xff));
  file << text;
  std::uint64_t const width = layout.descriptor[1] == 'c' ? 2 : 1;
  bool const single = layout.descriptor.substr(1) == "f4" || layout.descriptor.substr(1) == "c8";
  auto const put = [&](double value) {
    char bytes[8];
    std::size_t const size = single ? 4 : 8;
    auto const narrow = static_cast<float>(value);
    std::memcpy(bytes, size == 4 ? static_cast<void const*>(&narrow) : &value, size);
    if (layout.descriptor[0] == '>') std::reverse(bytes, bytes + size);
    file.write(bytes, static_cast<std::streamsize>(size));
  };
  if (layout.fortran) {
    for (std::uint64_t j = 0; j < cols; ++j) {
      for (std::uint64_t i = 0; i < rows; ++i) {
        for (std::uint64_t k = 0; k < width; ++k) put(values[(i * cols + j) * width + k]);
      }
    }
  } else {
    for (auto const value : values) put(value);
  }
}

}  // namespace granary::test
