// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>

namespace granary::detail {

/// A file that is read and written at offsets, bypassing the page cache if the file system allows it.
///
/// It holds two descriptors of the same file: a direct one (O_DIRECT; absent if refused) for offsets, lengths and
/// addresses that are multiples of `io_alignment`, and a buffered one for all others.
class GRANARY_EXPORT File {
 public:
  /// Throws InvalidArgument if the file cannot be opened.
  [[nodiscard]] static std::shared_ptr<File const> open_for_reading(std::string const& path);
  /// Opens an existing file to read and write it; throws InvalidArgument if it cannot be opened.
  [[nodiscard]] static std::shared_ptr<File const> open_for_update(std::string const& path);
  /// An unlinked temporary file in `directory`, removed when it is closed or the process ends. Throws InvalidArgument
  /// if the directory does not exist or cannot be written.
  [[nodiscard]] static std::shared_ptr<File const> create_unlinked(std::string const& directory);

  File(File const&) = delete;
  File& operator=(File const&) = delete;
  ~File();

  [[nodiscard]] std::string const& name() const { return m_name; }
  [[nodiscard]] bool has_direct() const { return m_direct >= 0; }
  /// The direct descriptor, or the buffered one if there is no direct one.
  [[nodiscard]] int descriptor(bool direct) const { return direct && m_direct >= 0 ? m_direct : m_buffered; }

  /// Flushes all written data to the disk; throws IoError.
  void sync() const;
  /// Drops the clean pages that overlap [offset, offset + bytes) from the page cache; `bytes` 0 means to the end.
  void drop_cache(std::uint64_t offset, Bytes bytes) const;
  /// Starts to write the file's dirty pages to the disk; does not wait.
  void start_writing_back() const;
  /// Allocates space for [offset, offset + bytes), which reads as zeros until it is written. Does nothing if the file
  /// system does not support it; throws IoError if the disk is full.
  void reserve(std::uint64_t offset, Bytes bytes) const;

 private:
  File(std::string name, int buffered, int direct);
  static std::shared_ptr<File const> open(std::string const& path, int flags);

  std::string m_name;
  int m_buffered;
  int m_direct;
};

}  // namespace granary::detail
