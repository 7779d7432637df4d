// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>

#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace granary {

/// The stack of a new thread: as the system's limit says (ulimit -s) when the process starts, but at least 2 MiB, from
/// the first call on. BLAS and the kernels of tasks need more than the smallest limits allow.
GRANARY_EXPORT Bytes thread_stack();

/// Starts a thread. If the system refuses, throws Error with the purpose of the thread and the limits that may be the
/// cause.
template <class Body>
[[nodiscard]] std::thread start_thread(std::string const& name, Body&& body) {
  thread_stack();
  try {
    return std::thread(std::forward<Body>(body));
  } catch (std::system_error const& error) {
    throw Error("cannot start a thread for " + name + ": " + error.code().message() +
                "; raise the limit on threads (ulimit -u, or the pids limit of the container) or on memory (ulimit -v "
                "and -d), or use fewer workers");
  }
}

}  // namespace granary
