// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <string>

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/files/matrix_file_info.hpp>
#include <granary/detail/linalg/files/matrix_source.hpp>
#include <granary/detail/outofcore/async_file_io.hpp>

namespace granary {

/// Opens a matrix to be read in tiles of `tile` x `tile` elements. Contiguous datasets, .npy files, and unfiltered
/// chunks of native type with the tile size are read directly from the file; everything else by HDF5 on a separate
/// thread, with a cache of 16 MiB, or of one compressed chunk if that is larger. With a directory `scratch`, each
/// compressed chunk that extends beyond a tile is unpacked once, into an unlinked file there, if there is room for four
/// times the matrix. Without, it is unpacked again when a tile that overlaps it is read after others that do not: see
/// MatrixSource::read_together. Throws InvalidArgument for a tile size of 0, DataError if the file became unreadable or
/// has compressed chunks over 32 MiB.
[[nodiscard]] GRANARY_EXPORT std::unique_ptr<detail::MatrixSource> open_matrix_source(
    detail::MatrixFileInfo const& info, std::uint64_t tile, MatrixPart part, std::shared_ptr<detail::AsyncFileIo> io,
    std::string const& scratch = {});

}  // namespace granary
