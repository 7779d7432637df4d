// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/partial_file.hpp>
#include <granary/detail/linalg/files/matrix_output.hpp>
#include <granary/detail/outofcore/async_file_io.hpp>

namespace granary {

/// A matrix that is written tile by tile into a new row-major .npy file: numpy.load shows element (i, j) at [i, j].
/// Elements that are never written are zeros.
class GRANARY_EXPORT NpySink final : public detail::MatrixOutput {
 public:
  /// With one dimension numpy.load shows a vector, [i]; then there is one column. Throws InvalidArgument if the output
  /// cannot be created, another run is writing it, an extent or the tile size is 0, or a vector has several columns;
  /// Error if the disk is full.
  NpySink(std::shared_ptr<detail::AsyncFileIo> io, std::string const& path, detail::TileGrid const& tiling,
          ScalarType type, unsigned dimensions = 2);

  /// `bytes` must be tile_bytes(slot); throws InternalError otherwise, and after commit.
  void read_async(std::uint64_t slot, std::byte* destination, Bytes bytes, detail::IoCompletion done) override;
  /// Like read_async.
  void write_async(std::uint64_t slot, std::byte const* source, Bytes bytes, detail::IoCompletion done) override;
  [[nodiscard]] std::string describe(std::uint64_t slot) const override;
  void commit() override;

 private:
  void write_header(unsigned dimensions) const;
  [[nodiscard]] std::vector<detail::IoExtent> extents_of(std::uint64_t slot, std::byte* memory, Bytes bytes) const;

  std::shared_ptr<detail::AsyncFileIo> m_io;
  detail::PartialFile m_output;
  std::shared_ptr<detail::File const> m_file;
};

}  // namespace granary
