// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/runtime/setup/options.hpp>

#include <string>

namespace granary {

/// The address space, or the part of it for data, that a limited process (RLIMIT_AS, RLIMIT_DATA) has left.
struct GRANARY_EXPORT AddressSpace {
  Bytes limit = 0;
  Bytes used = 0;  ///< by the process now
  std::string of = "address space (ulimit -v)";

  [[nodiscard]] Bytes left() const { return limit > used ? limit - used : 0; }
};

/// The limit that leaves least; `limit` is `unbounded` if there is none.
[[nodiscard]] GRANARY_EXPORT AddressSpace find_address_space();

/// An estimate of the address space that a runtime needs besides its data: stacks of its threads and, if BLAS is
/// OpenBLAS, the 128 MiB per calling thread without which OpenBLAS waits forever. Workers and lanes must be filled in.
[[nodiscard]] GRANARY_EXPORT Bytes addresses_beside_data(RuntimeOptions const& options, bool openblas);

/// Throws InvalidArgument, with the numbers and the remedies, when complete options need more address space than is
/// left.
GRANARY_EXPORT void check_address_space(RuntimeOptions const& options, AddressSpace const& space, bool openblas);

}  // namespace granary
