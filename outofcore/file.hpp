// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <granary/core/base/units.hpp>

#pragma GCC visibility push(default)

namespace granary {

/// A file that is read and written at offsets, past the page cache where the file system allows it.
///
/// It holds two descriptors of the same file: a direct one (O_DIRECT; absent where it is refused) for offsets, lengths
/// and addresses that are multiples of `io_alignment`, and a buffered one for all others.
class File {
 public:
  /// Throws InvalidArgument when the file cannot be opened.
  [[nodiscard]] static std::shared_ptr<File const> open_for_reading(std::string const& path);
  /// Opens a file that exists to read and write it; throws InvalidArgument when it cannot be opened.
  [[nodiscard]] static std::shared_ptr<File const> open_for_update(std::string const& path);
  /// A new file in `directory` that has no name: it is gone when it is closed, or when the process dies. Throws
  /// InvalidArgument when the directory does not exist or cannot be written.
  [[nodiscard]] static std::shared_ptr<File const> create_unlinked(std::string const& directory);

  File(File const&) = delete;
  File& operator=(File const&) = delete;
  ~File();

  [[nodiscard]] std::string const& name() const { return m_name; }
  [[nodiscard]] bool has_direct() const { return m_direct >= 0; }
  /// The direct descriptor, or the buffered one where there is no direct one.
  [[nodiscard]] int descriptor(bool direct) const { return direct && m_direct >= 0 ? m_direct : m_buffered; }
  /// Throws IoError.
  [[nodiscard]] Bytes size() const;

  /// Makes everything that was written durable; throws IoError.
  void sync() const;
  /// Takes the pages that touch [offset, offset + bytes) out of the page cache, as far as they are clean; `bytes` 0
  /// means to the end.
  void drop_cache(std::uint64_t offset, Bytes bytes) const;
  /// Starts to write out what is in the page cache of the file; does not wait.
  void start_writing_back() const;
  /// Takes space for [offset, offset + bytes), which reads as zeros until it is written. Where the file system cannot,
  /// does nothing; throws IoError when the disk is full.
  void reserve(std::uint64_t offset, Bytes bytes) const;

 private:
  File(std::string name, int buffered, int direct);
  static std::shared_ptr<File const> open(std::string const& path, int flags);

  std::string m_name;
  int m_buffered;
  int m_direct;
};

}  // namespace granary

#pragma GCC visibility pop
