// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/model/codelet.hpp>
#include <granary/linalg/kernels/tile_kernels.hpp>

namespace granary::detail {

/// The parameters of the task that is running; it was submitted with a P.
template <class P>
[[nodiscard]] P const& parameters_of(KernelCall const& call) {
  return *static_cast<P const*>(call.parameters);
}

/// The tile of the access of that number, which the task reads.
template <class T>
[[nodiscard]] TileView<T const> input_tile(KernelCall const& call, std::size_t access, int rows, int cols, int leading,
                                           Layout layout) {
  return {reinterpret_cast<T const*>(call.data[access]), rows, cols, leading, layout};
}

/// The tile of the access of that number, which the task writes.
template <class T>
[[nodiscard]] TileView<T> output_tile(KernelCall const& call, std::size_t access, int rows, int cols, int leading,
                                      Layout layout) {
  return {reinterpret_cast<T*>(call.data[access]), rows, cols, leading, layout};
}

}  // namespace granary::detail
