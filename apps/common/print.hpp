// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/say.hpp>

#include <cstdint>
#include <string>

namespace granary::app {

/// Standard output cannot be written: its device is full, or its reader has ended.
class OutputError : public Error {
 public:
  /// errno, or 0 if unknown.
  explicit OutputError(int error_number);
  /// True for a pipe whose reader has ended.
  [[nodiscard]] bool reader_is_gone() const { return m_reader_is_gone; }

 private:
  bool m_reader_is_gone;
};

using detail::say;

/// "once", or "3 times".
[[nodiscard]] std::string times(std::uint64_t count);

/// Flushes standard output; throws OutputError if that or an earlier write failed.
void flush_output();

/// True if this file name means standard output: `-` or /dev/stdout.
[[nodiscard]] bool is_standard_output(std::string const& file);

/// Writes a text to standard output, to a special file such as a device, or to a new file, which replaces an old one
/// only when it is complete. Throws InvalidArgument, Error and IoError.
void write_text(std::string const& file, std::string const& text);

}  // namespace granary::app
