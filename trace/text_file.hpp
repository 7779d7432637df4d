// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace granary {

/// A text that is written to a file as it grows, in large pieces.
class TextFile {
 public:
  /// Replaces the file. Throws IoError, as the functions below do, when it cannot be written.
  explicit TextFile(std::string path);

  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(m_text), format, std::forward<Args>(args)...);
    if (m_text.size() >= piece) flush();
  }
  void write(std::string_view text) {
    m_text.append(text.data(), text.data() + text.size());
    if (m_text.size() >= piece) flush();
  }
  /// The file is complete. Without it, it ends where the last piece did.
  void close();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  static constexpr std::size_t piece = std::size_t{1} << 20U;

  void flush();
  [[noreturn]] void fail() const;

  std::string m_path;
  std::unique_ptr<std::FILE, Close> m_file;
  fmt::memory_buffer m_text;  // not written yet
  std::uint64_t m_written = 0;
};

}  // namespace granary

#pragma GCC visibility pop
