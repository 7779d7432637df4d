// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/files/npy_sink.hpp>

#include <unistd.h>

#include <bit>
#include <cerrno>
#include <string>
#include <utility>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/data/strided_shape.hpp>
#include <granary/detail/linalg/files/dead_run.hpp>
#include <granary/detail/linalg/files/line_extents.hpp>

namespace granary {

using namespace detail;

namespace {

// The alignment of numpy. The rows of tiles are short, so writes go through the page cache and need no aligned start.
constexpr std::uint64_t first_byte = 128;

char const* kind_of(ScalarType type) {
  switch (type) {
    case ScalarType::Float32:
      return "f4";
    case ScalarType::Float64:
      return "f8";
    case ScalarType::Complex64:
      return "c8";
    case ScalarType::Complex128:
      return "c16";
  }
  return "";
}

}  // namespace

NpySink::NpySink(std::shared_ptr<AsyncFileIo> io, std::string const& path, TileGrid const& tiling, ScalarType type,
                 unsigned dimensions)
    : MatrixOutput(tiling, type), m_io(std::move(io)), m_output(path) {
  if (dimensions == 1 && tiling.cols != 1)
    throw InvalidArgument("a matrix of " + std::to_string(tiling.cols) + " columns cannot be an array of 1 dimensions");
  detail::warn_of_dead_run(m_output);
  auto const bytes = tiling.rows * tiling.cols * size_of(type);
  m_output.require_space(first_byte + bytes, first_byte + bytes);
  write_header(dimensions);
  m_file = File::open_for_update(m_output.partial_path());
  m_output.require_same(m_file->descriptor(false));
  m_file->reserve(first_byte, bytes);
}

void NpySink::write_header(unsigned dimensions) const {
  auto const& t = tiling();
  std::string text = std::string("{'descr': '") + (std::endian::native == std::endian::little ? '<' : '>') +
                     kind_of(scalar_type()) + "', 'fortran_order': False, 'shape': (" + std::to_string(t.rows) + "," +
                     (dimensions == 1 ? std::string() : " " + std::to_string(t.cols)) + "), }";
  constexpr std::size_t length = first_byte - 10;
  text.resize(length - 1, ' ');
  text += '\n';
  m_output.append(std::string("\x93NUMPY\x01\0", 8) + static_cast<char>(length & 0xff) +
                  static_cast<char>(length >> 8) + text);
  auto const end = first_byte + t.rows * t.cols * size_of(scalar_type());
  if (::ftruncate(m_output.descriptor(), static_cast<off_t>(end)) != 0)
    throw IoError("cannot write", m_output.path(), first_byte, errno);
}

std::vector<IoExtent> NpySink::extents_of(std::uint64_t slot, std::byte* memory, Bytes bytes) const {
  auto const& t = tiling();
  auto const i = t.row_of(slot);
  auto const j = t.col_of(slot);
  if (i >= t.tile_rows() || bytes != tile_bytes(slot) || !m_file)
    throw InternalError(describe(slot) + " cannot be read or written as " + std::to_string(bytes) + " bytes");
  auto const size = size_of(scalar_type());
  MatrixShape const matrix{t.rows, t.cols, t.cols, TileLayout::RowMajor};
  return detail::line_extents(first_byte + matrix.offset(t.first(i), t.first(j)) * size,
                              matrix.part(t.rows_in(i), t.cols_in(j)).bytes(size), memory);
}

void NpySink::read_async(std::uint64_t slot, std::byte* destination, Bytes bytes, IoCompletion done) {
  m_io->submit(IoDirection::Read, m_file, extents_of(slot, destination, bytes), std::move(done));
}

void NpySink::write_async(std::uint64_t slot, std::byte const* source, Bytes bytes, IoCompletion done) {
  // IoExtent serves both directions; a write does not modify the source.
  m_io->submit(IoDirection::Write, m_file, extents_of(slot, const_cast<std::byte*>(source), bytes), std::move(done));
}

std::string NpySink::describe(std::uint64_t slot) const {
  return "tile (" + std::to_string(tiling().row_of(slot)) + ", " + std::to_string(tiling().col_of(slot)) + ") of " +
         m_output.path();
}

void NpySink::commit() {
  if (!m_file) throw InternalError(m_output.path() + " was committed already");
  m_file->sync();
  m_output.commit();
  m_file->drop_cache(0, 0);
  m_file.reset();
}

}  // namespace granary
