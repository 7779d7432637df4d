// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/files/open_matrix_source.hpp>

#include <algorithm>
#include <utility>

#include <granary/detail/linalg/files/source_kinds.hpp>

namespace granary {

using namespace detail;

std::unique_ptr<MatrixSource> open_matrix_source(MatrixFileInfo const& info, std::uint64_t tile, MatrixPart part,
                                                 std::shared_ptr<AsyncFileIo> io, std::string const& scratch) {
  using Arrangement = MatrixFileInfo::Arrangement;
  if (info.arrangement == Arrangement::Contiguous) return make_contiguous_source(info, tile, part, std::move(io));
  bool const chunk_is_tile =
      info.chunk_rows == std::min(tile, info.rows) && info.chunk_cols == std::min(tile, info.cols);
  bool const one_chunk = info.chunk_rows == info.rows && info.chunk_cols == info.cols;
  if (info.arrangement == Arrangement::Chunked && (chunk_is_tile || one_chunk)) {
    if (auto chunks = map_chunks(info)) {
      if (chunk_is_tile) return make_chunk_source(info, std::move(*chunks), tile, part, std::move(io));
      auto contiguous = info;
      contiguous.first_byte = chunks->at(0);
      return make_contiguous_source(contiguous, tile, part, std::move(io));
    }
  }
  return make_hdf5_source(info, tile, part, std::move(io), scratch);
}

}  // namespace granary
