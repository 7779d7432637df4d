// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace granary::bench {

/// Seconds of a vendor's factorization of a matrix in host memory.
struct VendorTimes {
  double to_device = 0;
  double factor = 0;
  double to_host = 0;
};

/// Copies the column-major n x n matrix (ld = n, pinned for speed) to device 0, factors it there with cuSOLVER or
/// rocSOLVER and copies it back. T is float or double; potrf uses the lower triangle, getrf pivots. Throws DeviceError
/// with the vendor's message, or if this build has no vendor's solver.
template <class T>
VendorTimes vendor_potrf(std::int64_t n, T* a);
template <class T>
VendorTimes vendor_getrf(std::int64_t n, T* a);

}  // namespace granary::bench
