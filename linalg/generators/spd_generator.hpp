// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/files/matrix_source.hpp>
#include <granary/detail/linalg/generators/random_entries.hpp>

namespace granary {

/// A source of spd_entry's matrix without a file: `random:N:SEED` of open_generated.
[[nodiscard]] GRANARY_EXPORT std::unique_ptr<detail::MatrixSource> make_random_spd_source(std::uint64_t n,
                                                                                          std::uint64_t tile,
                                                                                          std::uint64_t seed,
                                                                                          ScalarType type);

/// Writes spd_entry's matrix, both triangles, as an HDF5 file with chunks of tile x tile; needs memory for two tiles.
/// Throws like MatrixSink.
///
/// ```cpp
/// granary::write_random_spd("A.h5", /*n=*/256, /*tile=*/64, /*seed=*/1, granary::ScalarType::Float64);
/// auto const file = granary::open_matrix_file("A.h5");
/// assert(file.rows == 256 && file.chunk_rows == 64);
/// assert(granary::spd_entry(256, 1, 7, 9) == granary::spd_entry(256, 1, 9, 7));  // any element, without the file
/// ```
GRANARY_EXPORT void write_random_spd(std::string const& path, std::uint64_t n, std::uint64_t tile, std::uint64_t seed,
                                     ScalarType type, std::string const& dataset = "A");

}  // namespace granary
