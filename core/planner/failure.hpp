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
  TaskId task = {};       ///< invalid when no task is concerned
  std::string what = {};  ///< "task 'gemm' 17", "write-back of 'A(3,2)'"
  std::exception_ptr error = {};
  std::vector<std::string> poisoned = {};  ///< names of the data that it left without a value
  /// Their ids, in the same order, where names do not tell data apart: what Data::id() returns. Once a datum was given
  /// up its id may name another one.
  std::vector<DataId> poisoned_data = {};
  DataId write_back_of = {};  ///< the datum that could not be written to its home; else invalid
};

}  // namespace granary

#pragma GCC visibility pop
