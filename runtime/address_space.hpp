// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/units.hpp>
#include <granary/runtime/config.hpp>

#pragma GCC visibility push(default)

namespace granary {

/// The address space that a limited process (RLIMIT_AS, ulimit -v) has left.
struct AddressSpace {
  Bytes limit = 0;
  Bytes used = 0;  ///< by the process now

  [[nodiscard]] Bytes left() const { return limit > used ? limit - used : 0; }
};

/// `limit` is `unbounded` if there is none.
[[nodiscard]] AddressSpace find_address_space();

/// An estimate of the address space that a runtime needs besides its data: stacks of its threads and, if BLAS is
/// OpenBLAS, the 128 MiB per calling thread without which OpenBLAS waits forever. Workers and lanes must be filled in.
[[nodiscard]] Bytes addresses_beside_data(RuntimeOptions const& options, bool openblas);

/// Throws InvalidArgument, with the numbers and the remedies, when complete options need more address space than is
/// left.
void check_address_space(RuntimeOptions const& options, AddressSpace const& space, bool openblas);

}  // namespace granary

#pragma GCC visibility pop
