// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/kernels/kernel_choice.hpp>

#include <type_traits>

namespace granary::kernels {

using Complex64 = Kokkos::complex<float>;
using Complex128 = Kokkos::complex<double>;

/// The vendor library's scalar with T's size and meaning; the arguments are its complex scalars.
template <class T, class Vendor64, class Vendor128>
using VendorScalar = std::conditional_t<std::is_same_v<T, Complex64>, Vendor64,
                                        std::conditional_t<std::is_same_v<T, Complex128>, Vendor128, T>>;

/// The inner dimension of op(A) op(B), for an A with so many rows and columns.
[[nodiscard]] inline int inner_of(Op op, int rows, int cols) { return op == Op::NoTrans ? cols : rows; }

}  // namespace granary::kernels
