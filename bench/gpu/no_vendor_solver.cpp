// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/gpu/vendor_solver.hpp"

#include <granary/detail/core/base/error.hpp>

namespace granary::bench {

template <class T>
VendorTimes vendor_times(Operation, std::int64_t, T*) {
  throw DeviceError("this build has no vendor's solver to compare with");
}
template VendorTimes vendor_times<float>(Operation, std::int64_t, float*);
template VendorTimes vendor_times<double>(Operation, std::int64_t, double*);

}  // namespace granary::bench
