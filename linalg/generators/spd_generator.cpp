// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/generators/spd_generator.hpp>

#include <granary/detail/linalg/files/copy_matrix.hpp>
#include <granary/detail/linalg/files/matrix_sink.hpp>
#include <granary/detail/linalg/generators/generators.hpp>
#include <granary/detail/outofcore/io_engine_choice.hpp>

namespace granary {

std::unique_ptr<detail::MatrixSource> make_random_spd_source(std::uint64_t n, std::uint64_t tile, std::uint64_t seed,
                                                             ScalarType type) {
  return open_generated({.kind = GeneratedMatrix::Kind::Dominant, .rows = n, .cols = n, .seed = seed}, tile, type);
}

void write_random_spd(std::string const& path, std::uint64_t n, std::uint64_t tile, std::uint64_t seed, ScalarType type,
                      std::string const& dataset) {
  auto const source = make_random_spd_source(n, tile, seed, type);
  detail::MatrixSink sink(
      detail::make_async_file_io(), path,
      {.rows = n, .cols = n, .tile = tile, .scalar_type = type, .part = MatrixPart::All, .dataset = dataset});
  copy_matrix(*source, sink, 2 * round_up(sink.largest_tile_bytes(), detail::io_alignment));
  sink.commit();
}

}  // namespace granary
