// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/units.hpp>
#include <granary/core/runtime/config.hpp>

#pragma GCC visibility push(default)

namespace granary {

/// What a process with a limit of addresses (RLIMIT_AS, ulimit -v) may still take.
struct AddressSpace {
  Bytes limit = 0;
  Bytes used = 0;  ///< by the process as it stands

  [[nodiscard]] Bytes left() const { return limit > used ? limit - used : 0; }
};

/// `limit` is `unbounded` where there is none.
[[nodiscard]] AddressSpace find_address_space();

/// Addresses that a runtime takes beside its data: stacks of its threads, and where BLAS is OpenBLAS the 128 MiB that
/// it takes for each thread that calls it, without which it waits for ever. An estimate; workers and lanes are known.
[[nodiscard]] Bytes addresses_beside_data(RuntimeOptions const& options, bool openblas);

/// Throws InvalidArgument, naming the numbers and what to change, when complete options need more addresses than are
/// left.
void check_address_space(RuntimeOptions const& options, AddressSpace const& space, bool openblas);

}  // namespace granary

#pragma GCC visibility pop
