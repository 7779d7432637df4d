// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fmt/format.h>

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/partial_file.hpp>

#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace granary {

/// A text file that is written in large pieces: next to its path and renamed when it is complete (detail::PartialFile),
/// or directly to a device, a FIFO or a socket.
class GRANARY_EXPORT TextFile {
 public:
  /// Throws InvalidArgument and IoError, as the functions below, when it cannot be written.
  explicit TextFile(std::string path);
  TextFile(TextFile const&) = delete;
  TextFile& operator=(TextFile const&) = delete;
  /// Removes the file unless it was closed.
  ~TextFile();

  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(m_text), format, std::forward<Args>(args)...);
    if (m_text.size() >= piece) flush();
  }
  void write(std::string_view text) {
    m_text.append(text.data(), text.data() + text.size());
    if (m_text.size() >= piece) flush();
  }
  /// Completes and renames the file.
  void close();

 private:
  static constexpr std::size_t piece = std::size_t{1} << 20U;

  void flush();

  std::string m_path;
  std::optional<detail::PartialFile> m_whole;
  int m_special = -1;
  fmt::memory_buffer m_text;  // not written yet
};

}  // namespace granary
