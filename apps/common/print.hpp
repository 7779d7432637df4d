// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/error.hpp>

#include <string>

namespace granary::app {

/// The standard output takes nothing more: its device is full, or nobody reads it any more.
class OutputError : public Error {
 public:
  /// errno, or 0 where it is not known.
  explicit OutputError(int error_number);
  /// A pipe whose reader has ended.
  [[nodiscard]] bool reader_is_gone() const { return m_reader_is_gone; }

 private:
  bool m_reader_is_gone;
};

/// Writes to the standard error, as far as it can be: nobody may read it any more, and no run ends for that.
void say(std::string const& text);

/// Hands what was printed to the system; throws OutputError when that, or an earlier printing, failed.
void flush_output();

/// Whether a text for this file goes to the standard output: `-` or /dev/stdout.
[[nodiscard]] bool is_standard_output(std::string const& file);

/// Writes a text to the standard output, to a special file such as a device, or to a new file that replaces an old one
/// when it is complete. Throws InvalidArgument, Error and IoError.
void write_text(std::string const& file, std::string const& text);

}  // namespace granary::app
