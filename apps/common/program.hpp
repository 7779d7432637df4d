// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <string>

#include "apps/common/signals.hpp"

namespace granary::app {

/// Calls `start`, before signals are watched, and `body`, and returns the exit status of main(). 0: success. 1:
/// failure, including a matrix that is not positive definite or singular, and output that cannot be printed. 2: bad
/// input. 128 + number: ended by a signal, or, as if by SIGPIPE, because the reader of standard output has ended.
/// Prints an error as one line, `name: message`. Writing to a closed pipe, and beyond the file size limit (SIGXFSZ),
/// are errors of the write.
int run_program(std::string const& name, std::function<void(SignalWatch&)> const& body,
                std::function<void()> const& start = {});

}  // namespace granary::app
