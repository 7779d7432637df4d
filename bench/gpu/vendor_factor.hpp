// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace granary::bench {

/// Seconds that a vendor's factorization of a matrix in host memory took.
struct VendorTimes {
  double to_device = 0;
  double factor = 0;
  double to_host = 0;
};

/// Moves the column-major n x n matrix (ld = n, pinned for speed) to device 0, factors it there by cuSOLVER or
/// rocSOLVER and moves it back. T is float or double; potrf works on the lower triangle, getrf pivots. Throws
/// DeviceError with the runtime's words, or where there is no vendor's solver in this build.
template <class T>
VendorTimes vendor_potrf(std::int64_t n, T* a);
template <class T>
VendorTimes vendor_getrf(std::int64_t n, T* a);

}  // namespace granary::bench
