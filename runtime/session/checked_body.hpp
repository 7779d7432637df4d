// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/backends/kokkos_compat.hpp>
#include <granary/detail/core/base/byte_set.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/access.hpp>
#include <granary/detail/core/model/codelet.hpp>
#include <granary/detail/core/model/parameters.hpp>
#include <granary/detail/runtime/session/task_code.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace granary::detail {

// A datum, as RuntimeOptions::check knows it. Its state is protected by the mutex of Checks.
struct CheckedDatum {
  std::string name;
  Bytes bytes = 0;                        // where it is packed
  std::byte* home = nullptr;              // in the application's memory; null: it is in granary's
  ByteSet set = {};                       // of its elements there
  std::shared_ptr<void const> keep = {};  // what owns that memory

  // Of its elements in the application's memory, since `last`. Not known while tasks change them, after waits, and
  // while work that is no task of the façade may change them.
  std::optional<std::size_t> hash = {};
  std::string last = {};      // who left them: "task 'axpy' of main.cpp:12 was submitted"
  std::uint32_t writers = 0;  // submitted tasks that have not ended
};

// Calls function(first, bytes) for each run of the datum's elements: at `packed`, or in the application's memory.
template <class Function>
void for_each_run(CheckedDatum const& datum, std::byte* packed, Function&& function) {
  if (packed != datum.home) return function(packed, datum.bytes);
  datum.set.for_each_run([&](std::uint64_t offset, std::uint64_t bytes) { function(packed + offset, bytes); });
}

// The body of a task that is checked, and what it uses.
struct CheckedBody {
  struct Use {
    std::shared_ptr<CheckedDatum> datum;
    AccessMode mode;
    ComparedElement element;
    std::size_t access;  // of the task

    [[nodiscard]] std::byte* at(KernelCall const& call) const { return call.data[access]; }
  };
  Parameters parameters;
  Kernel kernel;
  ResultBytes result_bytes;
  bool launches_kokkos_kernels;
  bool restartable;
  std::string name;  // with its line
  std::vector<Use> uses = {};
  std::uint64_t number = 0;  // in the order of submission
  bool by_body = false;      // a body submits it

  // True if this use and all others of the same datum have that mode.
  [[nodiscard]] bool only(AccessMode mode, Use const& use) const {
    return std::ranges::all_of(uses, [&](Use const& other) { return other.datum != use.datum || other.mode == mode; });
  }
  // Runs it and its kernels to their end.
  void run(KernelCall const& call) const {
    KernelCall own = call;
    own.parameters = parameters.get();
    kernel(own);
    if (!launches_kokkos_kernels) return;
    static_cast<HostExecutionSpace const*>(call.instance)->fence();
    if (call.team != nullptr) static_cast<TeamExecutionSpace const*>(call.team)->fence();
  }
};

}  // namespace granary::detail
