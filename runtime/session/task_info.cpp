// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/runtime/session/task_info.hpp>

#include <string>

namespace granary {

void detail::rethrow_with(SourceLine const& source_line) {
  auto const submitted = [&](std::exception const& error) {
    return std::string(error.what()) + " (submitted at " + source_line.file + ":" + std::to_string(source_line.line) +
           ")";
  };
  auto const says_where = [&](std::exception const& error) {
    return *source_line.file == '\0' || dynamic_cast<TaskError const*>(&error) != nullptr;
  };
  try {
    throw;
  } catch (MemoryLimitError const& error) {
    if (says_where(error)) throw;
    throw MemoryLimitError(submitted(error));
  } catch (InvalidArgument const& error) {
    if (says_where(error)) throw;
    throw InvalidArgument(submitted(error));
  }
}

}  // namespace granary
