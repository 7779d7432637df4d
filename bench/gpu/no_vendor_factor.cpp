// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/gpu/vendor_factor.hpp"

#include <granary/core/base/error.hpp>

namespace granary::bench {

template <class T>
VendorTimes vendor_potrf(std::int64_t, T*) {
  throw DeviceError("this build has no vendor's solver to compare with");
}
template <class T>
VendorTimes vendor_getrf(std::int64_t n, T* a) {
  return vendor_potrf(n, a);
}
template VendorTimes vendor_potrf<float>(std::int64_t, float*);
template VendorTimes vendor_potrf<double>(std::int64_t, double*);
template VendorTimes vendor_getrf<float>(std::int64_t, float*);
template VendorTimes vendor_getrf<double>(std::int64_t, double*);

}  // namespace granary::bench
