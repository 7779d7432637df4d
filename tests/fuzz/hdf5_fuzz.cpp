// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads well-formed HDF5 files with random contents, some of them truncated. The first two bytes of an input state the
// end of the file; the rest is make_hdf5's program. hdf5_bytes_fuzz.cpp changes random bytes.
#include <filesystem>

#include "tests/fuzz/hdf5_make.hpp"
#include "tests/fuzz/hdf5_reads.hpp"

namespace granary::fuzz {
namespace {

struct Scratch {
  std::string path = scratch_file();
  ~Scratch() { ::unlink(path.c_str()); }
};

}  // namespace

std::vector<std::string> seeds() {
  std::vector<std::string> programs(16, std::string(48, '\0'));
  for (std::size_t p = 0; p < programs.size(); ++p) {
    for (std::size_t i = 2; i < programs[p].size(); ++i)
      programs[p][i] = static_cast<char>((p * 37 + i * i * p) & 0x7fU);
  }
  return programs;
}

std::vector<std::string> words() { return {"\x4", "\x5", "\x7", std::string(3, '\0'), "\x2\x2", "\xf"}; }

}  // namespace granary::fuzz

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace granary;
  if (size < 2) return 0;
  static fuzz::Scratch const scratch;
  fuzz::make_hdf5(scratch.path, fuzz::text_of(data + 2, size - 2));
  // A quarter of them is truncated.
  if (data[0] % 4 == 1) {
    auto const bytes = std::filesystem::file_size(scratch.path);
    if (bytes < (1U << 24U)) std::filesystem::resize_file(scratch.path, bytes * data[1] / 256);
  }
  fuzz::read_hdf5(scratch.path, 65536);
  return 0;
}
