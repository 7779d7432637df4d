// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/signal_watch.hpp>

#include <exception>
#include <functional>
#include <string>

namespace granary::app {

/// The hooks that programs of several processes add.
struct ProgramHooks {
  std::function<void()> start = {};  ///< before signals are watched
  /// True if this process prints an error that ends it with that status.
  std::function<bool(std::exception_ptr const&, int)> prints_failure = {};
  std::function<void()> end = {};  ///< just before the process ends in order
};

/// Calls `start`, and `body`, and returns the exit status of main(). 0: success. 1:
/// failure, including a matrix that is not positive definite or singular, and output that cannot be printed. 2: bad
/// input. 128 + number: ended by a signal, or, as if by SIGPIPE, because the reader of standard output has ended.
/// Prints an error as one line, `name: message`. Writing to a closed pipe, and beyond the file size limit (SIGXFSZ),
/// are errors of the write.
int run_program(std::string const& name, std::function<void(SignalWatch&)> const& body, ProgramHooks const& hooks = {});

}  // namespace granary::app
