// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/files/matrix_source.hpp>

#include <utility>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/files/finite_check.hpp>

namespace granary::detail {

MatrixSource::MatrixSource(TileGrid const& tiling, ScalarType type, MatrixPart part, std::string name,
                           std::vector<std::string> columns)
    : m_tiling(tiling), m_type(type), m_part(part), m_name(std::move(name)), m_columns(std::move(columns)) {
  if (tiling.tile == 0) throw InvalidArgument("the tile size must be at least 1");
  check_size(tiling, size_of(type));
}

void MatrixSource::read_async(std::uint64_t slot, std::byte* destination, Bytes bytes, IoCompletion done) {
  if (slot >= m_tiling.tile_rows() * m_tiling.tile_cols() || bytes != tile_bytes(slot)) {
    throw InternalError("slot " + std::to_string(slot) + " of " + m_name + " cannot be read as " +
                        std::to_string(bytes) + " bytes");
  }
  start_read(slot, destination, [this, slot, destination, done = std::move(done)](std::exception_ptr error) {
    if (!error) error = check_finite(m_tiling, slot, destination, m_type, m_part, m_name, m_columns);
    done(std::move(error));
  });
}

void MatrixSource::write_async(std::uint64_t slot, std::byte const*, Bytes, IoCompletion) {
  throw InternalError(describe(slot) + " is read-only");
}

std::string MatrixSource::describe(std::uint64_t slot) const {
  return "tile (" + std::to_string(m_tiling.row_of(slot)) + ", " + std::to_string(m_tiling.col_of(slot)) + ") of " +
         m_name;
}

}  // namespace granary::detail
