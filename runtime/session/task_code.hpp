// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/codelet.hpp>
#include <granary/detail/core/model/machine.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <string>

namespace granary::detail {

// Names of the tasks of one body; those beyond share one.
inline constexpr std::size_t most_task_names = 4096;

// The numbers of which an element consists.
enum class Numbers { Other, Integers, Singles, Doubles };

// How RuntimeOptions::check compares the elements of an access.
struct GRANARY_EXPORT ComparedElement {
  Bytes bytes = 0;  // 0: not, else equal bytes are equal elements, and a body that writes leaves none as it was
  Numbers numbers = Numbers::Other;
};

// The code that was compiled for a task.
struct GRANARY_EXPORT TaskCode {
  std::array<Kernel, worker_kinds> kernels;  // by kind of worker
  std::string const& variant;                // see Codelet
  bool launches_kokkos_kernels;
  bool external = false;  // no worker runs it
  bool restartable = false;
  ResultBytes result_bytes = nullptr;
  // For RuntimeOptions::check: the bytes of the body, with which the parameters begin, and by access its elements.
  std::size_t size = 0;
  std::span<ComparedElement const> elements = {};
  Kernel checked = nullptr;  // of the body, where `kernels` check it
};

}  // namespace granary::detail
