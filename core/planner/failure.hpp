// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/ids.hpp>

#include <exception>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// One thing that went wrong, in the order of submission of the tasks concerned; a failed write-back concerns no task
/// and comes last.
struct Failure {
  TaskId task = {};  ///< invalid when no task is concerned
  std::string what;  ///< "task 'gemm' 17", "write-back of 'A(3,2)'"
  std::exception_ptr error;
  std::vector<std::string> poisoned;  ///< names of the data that it left without a value
};

}  // namespace granary

#pragma GCC visibility pop
