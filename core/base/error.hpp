// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/export.hpp>

#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>

namespace granary {

/// Every error that granary reports; what() is one sentence with the names and numbers involved. Names may come from
/// files and command lines, so their control characters are escaped as `\x1b`.
///
/// ```cpp
/// #include <granary/granary.hpp>
/// try {
///   granary::Runtime runtime({.scheduler = "fastest"});
/// } catch (granary::InvalidArgument const& error) {  // the caller's mistake
///   std::puts(error.what());                         // names "fastest" and the known schedulers
/// } catch (granary::Error const& error) {            // all others: files, data, devices, ...
///   std::puts(error.what());
/// }
/// ```
class GRANARY_EXPORT Error : public std::runtime_error {
 public:
  explicit Error(std::string const& what);
};

/// The request is invalid: a malformed size, an unknown name, a matrix that is not square.
class GRANARY_EXPORT InvalidArgument : public Error {
 public:
  using Error::Error;
};

/// A memory limit that is too small for some task.
class GRANARY_EXPORT MemoryLimitError : public InvalidArgument {
 public:
  using InvalidArgument::InvalidArgument;
};

/// A file operation failed; carries the file, the offset in bytes and errno.
class GRANARY_EXPORT IoError : public Error {
 public:
  /// The message reads `<operation> <file> at byte <offset>: <errno text>`.
  IoError(std::string const& operation, std::string file, std::uint64_t offset, int error_number);
  /// Of an operation on the whole file, such as open or rename: `<operation> <file>: <errno text>`, with offset() 0.
  IoError(std::string const& operation, std::string file, int error_number);

  [[nodiscard]] std::string const& file() const { return m_file; }
  [[nodiscard]] std::uint64_t offset() const { return m_offset; }
  [[nodiscard]] int error_number() const { return m_error_number; }

 private:
  std::string m_file;
  std::uint64_t m_offset;
  int m_error_number;
};

/// The content of a file or a View is unsuitable for the operation: a NaN, an infinity, a truncated dataset.
class GRANARY_EXPORT DataError : public Error {
 public:
  using Error::Error;
};

/// A device operation failed.
class GRANARY_EXPORT DeviceError : public Error {
 public:
  using Error::Error;
};

/// A device was lost: nothing can run on it any more, and its memory's content is lost.
class GRANARY_EXPORT DeviceLost : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// Whether the exception is a DeviceLost.
[[nodiscard]] GRANARY_EXPORT bool is_device_lost(std::exception_ptr const& error);

/// The application asked for the end of a run by a std::stop_token.
class GRANARY_EXPORT Stopped : public Error {
 public:
  using Error::Error;
};

/// A bug in granary: a broken invariant.
class GRANARY_EXPORT InternalError : public Error {
 public:
  using Error::Error;
};

}  // namespace granary
