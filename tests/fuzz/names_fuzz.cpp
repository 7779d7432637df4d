// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parses values of command lines: generated matrices, sizes, policies with options.
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/linalg/generators/generators.hpp>
#include <granary/detail/policies/registry.hpp>

#include "tests/fuzz/target.hpp"

namespace granary::fuzz {

std::vector<std::string> seeds() {
  return {"random:5:3",
          "general:3x4:7",
          "spd:6:1e6:2",
          "hilbert:9:0.1",
          "laplacian:3x3:2.5:1e-3",
          "laplacian:7:1",
          "512MiB",
          "1.5 GB",
          "darts:threshold=0.5",
          "heteroprio:a=b:c=d",
          "lru"};
}

std::vector<std::string> words() {
  return {":",    "x",          "=",        "KiB", "TB",  "random:", "general:",
          "spd:", "laplacian:", "hilbert:", "e",   "inf", "darts:",  "\x1b"};
}

}  // namespace granary::fuzz

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace granary;
  std::string const text(fuzz::text_of(data, size));
  fuzz::refuses_or(size, [&] {
    auto const matrix = parse_generated(text);
    if (parse_generated(matrix.name()).name() != matrix.name()) fuzz::fail("a matrix has two names");
    // It starts a thread.
    if (size % 16 == 0 && matrix.rows <= 64 && matrix.cols <= 64) static_cast<void>(open_generated(matrix, 16));
  });
  fuzz::refuses_or(size, [&] {
    if (parse_bytes(text) >= Bytes{1} << 63U) fuzz::fail("a size is too large");
  });
  fuzz::refuses_or(size, [&] { static_cast<void>(make_scheduler(text)); });
  fuzz::refuses_or(size, [&] { static_cast<void>(make_eviction(text)); });
  return 0;
}
