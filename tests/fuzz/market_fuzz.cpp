// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads Matrix Market files: headers, and the entries of small matrices.
#include <granary/detail/linalg/files/matrix_file_info.hpp>
#include <granary/detail/linalg/files/matrix_market.hpp>

#include "tests/fuzz/no_output.hpp"
#include "tests/fuzz/target.hpp"

namespace granary::fuzz {
namespace {

void read_entries(MatrixMarketInfo const& info) {
  constexpr std::uint64_t most_elements = 4096;
  if (detail::matrix_bytes(info.path, info.rows, info.cols, info.scalar_type) >
      most_elements * size_of(info.scalar_type))
    return;
  for (std::uint64_t const tile : {3, 64}) {
    NoOutput output({info.rows, info.cols, tile}, info.scalar_type);
    read_matrix_market(info, output, 128 << 10);
  }
}

}  // namespace

std::vector<std::string> seeds() {
  return {"%%MatrixMarket matrix array real general\n% a comment\n2 3\n1\n2.5\n-3e2\n4\n5\n6\n",
          "%%MatrixMarket matrix coordinate real symmetric\n4 4 3\n1 1 1.0\n3 2 -2\n4 4 1e-3\n",
          "%%MatrixMarket matrix coordinate complex hermitian\n3 3 2\n1 1 1 0\n3 1 2 -1\n",
          "%%MatrixMarket matrix array complex skew-symmetric\n3 3\n1 2\n3 4\n5 6\n",
          "%%MatrixMarket matrix coordinate integer general\n9 7 2\n\n9 7 -12\n1 1 +3\n",
          "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n"};
}

std::vector<std::string> words() {
  return {"%%MatrixMarket",
          "matrix",
          "vector",
          "array",
          "coordinate",
          "real",
          "complex",
          "pattern",
          "general",
          "hermitian",
          "skew-symmetric",
          "\n",
          "\n%",
          " ",
          "\t",
          "\r\n",
          "\x1b[2J",
          "inf",
          "NaN",
          "+",
          "1 1 1\n",
          std::string(1, '\0'),
          std::string(5000, '7')};
}

}  // namespace granary::fuzz

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace granary;
  static fuzz::MemoryFile const file;
  file.write(fuzz::text_of(data, size));
  static_cast<void>(is_matrix_market(file.path()));
  fuzz::refuses_or(size, [&] { fuzz::read_entries(open_matrix_market(file.path())); });
  return 0;
}
