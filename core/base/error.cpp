// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/printable.hpp>

#include <system_error>

namespace granary {

Error::Error(std::string const& what) : std::runtime_error(printable_lines(what)) {}

IoError::IoError(std::string const& operation, std::string file, std::uint64_t offset, int error_number)
    : Error(operation + " " + file + " at byte " + std::to_string(offset) + ": " +
            std::generic_category().message(error_number)),
      m_file(std::move(file)),
      m_offset(offset),
      m_error_number(error_number) {}

IoError::IoError(std::string const& operation, std::string file, int error_number)
    : Error(operation + " " + file + ": " + std::generic_category().message(error_number)),
      m_file(std::move(file)),
      m_offset(0),
      m_error_number(error_number) {}

bool is_device_lost(std::exception_ptr const& error) {
  try {
    std::rethrow_exception(error);
  } catch (DeviceLost const&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace granary
