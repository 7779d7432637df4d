// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace granary::bench {

/// The measured operations: factorizations, and the inverse from a Cholesky factor. Both of Cholesky use the lower
/// triangle.
enum class Operation { Potrf, Getrf, Potri };

/// Seconds of a vendor's solver for a matrix in host memory.
struct VendorTimes {
  double to_device = 0;
  double solver = 0;
  double to_host = 0;
};

/// Copies the column-major n x n matrix A (ld = n, pinned for speed) to device 0, overwrites it there with its factors
/// or, after its factorization, which is not timed, with its inverse, by cuSOLVER or rocSOLVER, and copies it back. T
/// is float or double. Throws DeviceError with the vendor's message, or if this build has no vendor's solver.
template <class T>
VendorTimes vendor_times(Operation operation, std::int64_t n, T* a);

}  // namespace granary::bench
