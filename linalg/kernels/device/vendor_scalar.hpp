// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/linalg/kernels/kernel_choice.hpp>

#include <type_traits>

namespace granary::kernels {

using Complex64 = Kokkos::complex<float>;
using Complex128 = Kokkos::complex<double>;

/// The scalar of a vendor's library that has T's size and meaning, given its complex ones.
template <class T, class Vendor64, class Vendor128>
using VendorScalar = std::conditional_t<std::is_same_v<T, Complex64>, Vendor64,
                                        std::conditional_t<std::is_same_v<T, Complex128>, Vendor128, T>>;

/// What is summed over in op(A) op(B), of an A with so many rows and columns.
[[nodiscard]] inline int inner_of(Op op, int rows, int cols) { return op == Op::NoTrans ? cols : rows; }

}  // namespace granary::kernels
