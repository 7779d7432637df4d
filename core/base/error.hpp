// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>

#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <typeindex>
#include <vector>

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

/// True if the exception is a DeviceLost.
[[nodiscard]] GRANARY_EXPORT bool is_device_lost(std::exception_ptr const& error);

/// The application asked for the end of a run by a std::stop_token.
class GRANARY_EXPORT Stopped : public Error {
 public:
  using Error::Error;
};

/// RuntimeOptions::check has found a use of data that gives wrong results.
class GRANARY_EXPORT CheckFailed : public Error {
 public:
  using Error::Error;
};

/// A bug in granary: a broken invariant.
class GRANARY_EXPORT InternalError : public Error {
 public:
  using Error::Error;
};

/// A line of a source file. Clang 14 has no std::source_location.
struct GRANARY_EXPORT SourceLine {
  char const* file = "";
  std::uint32_t line = 0;

  /// The line of the call, also as a default argument.
  [[nodiscard]] static constexpr SourceLine current(char const* file = __builtin_FILE(),
                                                    std::uint32_t line = __builtin_LINE()) {
    return {file, line};
  }
};

namespace detail {

/// The task in which an exception was thrown.
struct GRANARY_EXPORT TaskOrigin {
  std::string task = {};               ///< the name that the application gave it
  std::string what = {};               ///< with its position in the order of submission: "task 'gemm' 17"
  std::vector<std::string> data = {};  ///< the names of its data, in the order of its accesses
  SourceLine source_line = {};         ///< of the application, where it was submitted

  /// `task 'gemm' 17 on 'C', 'A', submitted at main.cpp:82`.
  [[nodiscard]] std::string describe() const;
};

}  // namespace detail

/// The other side of an exception that a task of the application has ended with, as waits throw it. The exception still
/// is one of the type that was thrown, so that it is caught as that; its message ends with `describe()`. Its type is
/// derived from both, and `rethrow_nested` throws the original. Exceptions of types that granary does not know arrive
/// as they were thrown (see add_task_error), since a type that is derived from them can only be made where they are
/// known. `Runtime::failures` has the same about all of them. Tasks of linear algebra name the line of the call, see
/// RuntimeCall; algorithms on another Submitter have none, and what their tasks throw arrives as it is.
///
/// ```cpp
/// #include <granary/granary.hpp>
/// struct Check {
///   static constexpr bool launches_kokkos_kernels = false;
///   template <class Exec, class X>
///   void operator()(Exec const&, X) const {
///     throw granary::DataError("a hole in the data");
///   }
/// };
/// granary::Runtime runtime;
/// auto const x = runtime.scalar("x", 0.0);
/// runtime.submit("check", Check{}, read_write(x));
/// try {
///   runtime.wait();
/// } catch (granary::DataError const& error) {  // or granary::TaskError
///   std::puts(error.what());  // a hole in the data (in task 'check' 0 on 'x', submitted at main.cpp:11)
///   auto const& in = dynamic_cast<granary::TaskError const&>(error);
///   assert(in.task() == "check" && in.data()[0] == "x");
/// }
/// ```
class GRANARY_EXPORT TaskError : public std::nested_exception {
 public:
  [[nodiscard]] std::string const& task() const { return m_origin.task; }
  [[nodiscard]] std::vector<std::string> const& data() const { return m_origin.data; }
  /// The line of the application that submitted it.
  [[nodiscard]] SourceLine const& source_line() const { return m_origin.source_line; }
  [[deprecated("use source_line")]] [[nodiscard]] SourceLine const& place() const { return source_line(); }
  [[nodiscard]] std::string describe() const { return m_origin.describe(); }
  /// Of the exception that was thrown.
  [[nodiscard]] std::type_index type() const { return m_type; }

 protected:
  // To be called where the exception is handled.
  TaskError(detail::TaskOrigin origin, std::type_index type);
  TaskError(TaskError const&) = default;
  TaskError& operator=(TaskError const&) = default;
  ~TaskError() override;

 private:
  detail::TaskOrigin m_origin;
  std::type_index m_type;
};

}  // namespace granary
