// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <string>

#include "apps/common/signals.hpp"

namespace granary::app {

/// What main() does: calls `body` and gives the exit status. 0: all went well; 1: failed, or the matrix does not allow
/// it (not positive definite, singular), or its output cannot be printed; 2: bad input; 128 + number: ended by a
/// signal, or, as if by SIGPIPE, because nobody reads the standard output any more. An error is printed as one line,
/// `name: what went wrong`. Writing to a closed pipe and beyond a limit of the size of files (SIGXFSZ) are errors of
/// the write.
int run_program(std::string const& name, std::function<void(SignalWatch&)> const& body);

}  // namespace granary::app
