// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <string>

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/outofcore/async_file_io.hpp>
#include <granary/detail/outofcore/storage.hpp>

namespace granary::detail {

/// A storage for data without a home: an unlinked temporary file. A slot is a byte offset in it, a multiple of
/// `io_alignment`; the user of the storage assigns the offsets. Values are padded to `io_alignment` in the file.
class GRANARY_EXPORT ScratchStorage final : public Storage {
 public:
  /// Throws InvalidArgument if `directory` does not exist or cannot be written.
  ScratchStorage(std::shared_ptr<AsyncFileIo> io, std::string const& directory);

  void read_async(std::uint64_t slot, std::byte* destination, Bytes bytes, IoCompletion done) override;
  void write_async(std::uint64_t slot, std::byte const* source, Bytes bytes, IoCompletion done) override;
  [[nodiscard]] std::string describe(std::uint64_t slot) const override;

 private:
  std::shared_ptr<AsyncFileIo> m_io;
  std::shared_ptr<File const> m_file;
};

}  // namespace granary::detail
