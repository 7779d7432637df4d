// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/error.hpp>

#include <string>
#include <utility>

namespace granary::test {

/// The message of the Exception that a call throws; empty when it throws nothing.
template <class Exception = InvalidArgument, class Call>
[[nodiscard]] std::string message_of(Call&& call) {
  try {
    static_cast<void>(std::forward<Call>(call)());
  } catch (Exception const& error) {
    return error.what();
  }
  return {};
}

}  // namespace granary::test
