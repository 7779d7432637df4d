// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads .npy files: headers, and the tiles of small matrices.
#include <granary/detail/linalg/files/matrix_file.hpp>

#include "tests/fuzz/read_tiles.hpp"
#include "tests/fuzz/target.hpp"

namespace granary::fuzz {
namespace {

std::string npy(std::string const& descriptor, bool fortran, std::string const& shape, std::size_t bytes,
                int version = 1) {
  auto text = "{'descr': '" + descriptor + "', 'fortran_order': " + (fortran ? "True" : "False") +
              ", 'shape': " + shape + ", }\n";
  std::string file = "\x93NUMPY";
  file += {static_cast<char>(version), 0, static_cast<char>(text.size()), static_cast<char>(text.size() >> 8U)};
  if (version > 1) file.append(2, 0);
  return file + text + std::string(bytes, '\1');
}

}  // namespace

std::vector<std::string> seeds() {
  return {npy("<f8", false, "(4, 5)", 160),      npy(">f4", true, "(3, 2)", 24), npy("<c16", false, "(2, 2)", 64, 2),
          npy("<c8", true, "(7, 7)", 392),       npy("<f8", false, "(6,)", 48),  npy("<i4", false, "(2, 3)", 24),
          npy("=f8", false, "(70, 3)", 1680, 3), npy("|S9", false, "(1, 1)", 9)};
}

std::vector<std::string> words() {
  return {"'descr'", "'shape'", "'fortran_order'",    "True",    "(", ")", ", ", "'<f8'", "'", ":", "\x1b[31m", "{",
          "}",       "'>c16'",  std::string(4, '\0'), "\xff\xff"};
}

}  // namespace granary::fuzz

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace granary;
  static fuzz::MemoryFile const file;
  file.write(fuzz::text_of(data, size));
  granary::detail::MatrixFileInfo info;
  bool const readable = fuzz::refuses_or(size, [&] { info = granary::open_matrix_file(file.path()); });
  // Other threads read the tiles, which takes much longer.
  if (readable && size % 8 == 0) fuzz::refuses_or(size, [&] { fuzz::read_tiles(info); });
  fuzz::refuses_or(size, [&] { static_cast<void>(granary::open_matrix_file(file.path())); });
  fuzz::refuses_or(size, [&] { static_cast<void>(granary::list_matrices(file.path())); });
  return 0;
}
