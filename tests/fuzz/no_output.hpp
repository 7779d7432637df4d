// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/files/matrix_output.hpp>

#include "tests/fuzz/target.hpp"

namespace granary::fuzz {

/// An output that keeps nothing.
class NoOutput final : public detail::MatrixOutput {
 public:
  void read_async(std::uint64_t, std::byte*, Bytes, detail::IoCompletion done) override { done(nullptr); }
  void write_async(std::uint64_t slot, std::byte const* source, Bytes bytes, detail::IoCompletion done) override {
    if (slot >= tiling().tile_rows() * tiling().tile_cols()) fail("a tile that is not there is written");
    // Reads the written bytes, for the address sanitizer.
    for (Bytes b = 0; b < bytes; b += 64) m_sum += std::to_integer<unsigned>(source[b]);
    done(nullptr);
  }
  void commit() override {}
  [[nodiscard]] std::string describe(std::uint64_t) const override { return "no output"; }

  NoOutput(detail::TileGrid const& grid, ScalarType type) : detail::MatrixOutput(grid, type) {}

 private:
  unsigned m_sum = 0;
};

}  // namespace granary::fuzz
