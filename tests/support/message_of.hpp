// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>

#include <exception>
#include <string>
#include <utility>

namespace granary::test {

/// A message without its end ` (submitted at FILE:LINE)` or ` (in TASK, submitted at FILE:LINE)`, if it has one.
[[nodiscard]] inline std::string without_line(std::string const& message) {
  auto const end = message.find(message.find(" (in ") == std::string::npos ? " (submitted at " : " (in ");
  return message.find("submitted at ") == std::string::npos ? message : message.substr(0, end);
}

/// The message of the Exception that a call throws; empty when it throws nothing. Of a TaskError it is that of the
/// exception which the body has thrown.
template <class Exception = InvalidArgument, class Call>
[[nodiscard]] std::string message_of(Call&& call) {
  try {
    static_cast<void>(std::forward<Call>(call)());
  } catch (Exception const& error) {
    auto const* const in_task = dynamic_cast<TaskError const*>(&error);
    if (in_task == nullptr) return error.what();
    try {
      in_task->rethrow_nested();
    } catch (std::exception const& thrown) {
      return thrown.what();
    }
  }
  return {};
}

}  // namespace granary::test
