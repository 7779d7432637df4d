// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/error.hpp>

#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace granary {

/// Starts a thread. If the system refuses, throws Error with the purpose of the thread and the limits that may be the
/// cause.
template <class Body>
[[nodiscard]] std::thread start_thread(std::string const& name, Body&& body) {
  try {
    return std::thread(std::forward<Body>(body));
  } catch (std::system_error const& error) {
    throw Error("cannot start a thread for " + name + ": " + error.code().message() +
                "; raise the limit on threads (ulimit -u) or address space (ulimit -v), or use fewer workers");
  }
}

}  // namespace granary
