// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>

#include <cstdint>
#include <exception>
#include <string>
#include <vector>

namespace granary::detail {

/// A failure, in the order of submission of the tasks; a failed write-back belongs to no task and comes last.
struct GRANARY_EXPORT Failure {
  TaskId task = {};  ///< invalid if no task failed
  /// Of the task in the order of submission; after all others if no task failed.
  std::uint64_t position = 0xffffffffffffffffU;
  std::string what = {};  ///< "task 'gemm' 17", "write-back of 'A(3,2)'"
  /// A wait throws this; it is a TaskError, too, if the application submitted the task and the type is known.
  std::exception_ptr error = {};
  std::vector<std::string> poisoned = {};  ///< names of the data that lost their value
  /// Their ids in the same order (Data::id()), since names may not be unique. After a datum was released its id may be
  /// reused.
  std::vector<DataId> poisoned_data = {};
  /// Of a task, with the line of its submission if the application submitted it.
  TaskOrigin origin = {};
  DataId write_back_of = {};  ///< the datum that could not be written to its home, or invalid
};

}  // namespace granary::detail
