// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "contract/facade/program.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace granary::facade_test {

/// What happened in one program, or in many.
struct Totals {
  std::array<std::uint64_t, use_count> uses{};                   ///< accesses of accepted tasks, by Use
  std::array<std::uint64_t, kind_count> kinds{};                 ///< of the data of these accesses
  std::array<std::uint64_t, std::variant_size_v<Step>> steps{};  ///< that were possible
  std::uint64_t in_order = 0;
  std::uint64_t refused = 0;
  std::uint64_t too_large = 0;  ///< tasks that memory was too small for
  std::uint64_t failures = 0;   ///< that waits reported
  std::uint64_t on_cores = 0;   ///< tasks
  std::uint64_t on_devices = 0;
  std::uint64_t host_evictions = 0;
  std::uint64_t device_evictions = 0;
  std::uint64_t to_scratch = 0;  ///< bytes

  void add(Totals const& other);
  template <class OneStep>
  [[nodiscard]] std::uint64_t count() const {
    return steps[Step(OneStep{}).index()];
  }
};

/// Runs the program on a Runtime and on the model. Throws std::runtime_error at the first difference: an element that
/// the application or a task finds, a refusal or a failure that should not be or is missing, a memory limit exceeded.
Totals play(Program const& program);

}  // namespace granary::facade_test
