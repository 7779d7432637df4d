// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <string>

#include <granary/detail/linalg/files/chunk_map.hpp>
#include <granary/detail/linalg/files/matrix_file_info.hpp>
#include <granary/detail/linalg/files/matrix_source.hpp>
#include <granary/detail/outofcore/async_file_io.hpp>

namespace granary::detail {

/// Reads rows (or columns) of tiles directly from a contiguous matrix.
[[nodiscard]] std::unique_ptr<MatrixSource> make_contiguous_source(MatrixFileInfo const& info, std::uint64_t tile,
                                                                   MatrixPart part, std::shared_ptr<AsyncFileIo> io);

/// Reads chunks that are tiles, cut to the matrix if that is smaller, at their offsets in the file.
[[nodiscard]] std::unique_ptr<MatrixSource> make_chunk_source(MatrixFileInfo const& info, ChunkMap chunks,
                                                              std::uint64_t tile, MatrixPart part,
                                                              std::shared_ptr<AsyncFileIo> io);

/// Reads by HDF5, on one thread. `scratch`: see open_matrix_source.
[[nodiscard]] std::unique_ptr<MatrixSource> make_hdf5_source(MatrixFileInfo const& info, std::uint64_t tile,
                                                             MatrixPart part, std::shared_ptr<AsyncFileIo> io,
                                                             std::string const& scratch);

}  // namespace granary::detail
