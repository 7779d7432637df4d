// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/files/matrix_file.hpp>
#include <granary/detail/linalg/files/vector_file.hpp>

#include "tests/fuzz/read_tiles.hpp"
#include "tests/fuzz/target.hpp"

namespace granary::fuzz {

/// Reads everything that granary can read from an HDF5 file.
inline void read_hdf5(std::string const& path, std::size_t size) {
  refuses_or(size, [&] { read_tiles(open_matrix_file(path)); });
  detail::MatrixListing listing;
  refuses_or(size, [&] { listing = list_matrices(path); });
  for (auto const& matrix : listing.matrices) {
    refuses_or(size, [&] { read_tiles(matrix); });
  }
  refuses_or(size, [&] { read_tiles(open_matrix_file(path + ":/A")); });
  refuses_or(size, [&] { static_cast<void>(read_vector(path, "/A", 100)); });
  refuses_or(size, [&] { static_cast<void>(read_vector(path, "/pivots", 1U << 20U)); });
}

/// Folder for generated files.
[[nodiscard]] inline std::string scratch_file() {
  auto const directory = std::string(::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
  return directory + "/granary-fuzz-" + std::to_string(::getpid()) + ".h5";
}

}  // namespace granary::fuzz
