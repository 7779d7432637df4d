// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/model/codelet.hpp>
#include <granary/detail/linalg/data/narrow.hpp>
#include <granary/detail/linalg/data/scalar.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>
#include <granary/detail/linalg/kernels/device/device_kernels.hpp>
#include <granary/detail/linalg/kernels/tile_kernels.hpp>

/// Common parts of the kernels of tile tasks.
namespace granary::detail {

/// The parameters of the running task, which was submitted with a P.
template <class P>
[[nodiscard]] P const& parameters_of(KernelCall const& call) {
  return *static_cast<P const*>(call.parameters);
}

/// Leading dimension of the tile of the access with that number, at its current location.
template <class T>
[[nodiscard]] int leading_of(KernelCall const& call, std::size_t access, TileShape const& shape) {
  Bytes const pitch = call.pitch(access);
  return pitch > 0 ? to_int32(pitch / sizeof(T), "a leading dimension") : shape.ld;
}

/// The tile of the access with that number, which the task reads.
template <class T>
[[nodiscard]] TileView<T const> input_tile(KernelCall const& call, std::size_t access, TileShape const& shape) {
  return {reinterpret_cast<T const*>(call.data[access]), shape.rows, shape.cols, leading_of<T>(call, access, shape),
          shape.layout};
}

/// The tile of the access with that number, which the task writes.
template <class T>
[[nodiscard]] TileView<T> output_tile(KernelCall const& call, std::size_t access, TileShape const& shape) {
  return {reinterpret_cast<T*>(call.data[access]), shape.rows, shape.cols, leading_of<T>(call, access, shape),
          shape.layout};
}

using kernels::DeviceLane;

/// The kernel that enqueues on its device worker's lane. The template arguments of Run must be explicit: nvcc does not
/// deduce them.
template <void (*Run)(KernelCall const&, DeviceLane const&)>
void on_lane(KernelCall const& call) {
  Run(call, DeviceLane(call));
}

/// The codelet of a tile operation on scalars T. Its kernel for host workers launches no Kokkos kernels; `check`
/// belongs to the kernel for devices.
template <class T>
[[nodiscard]] Codelet tile_codelet(char const* name, Kernel kernel, Kernel on_device = nullptr, Check check = nullptr) {
  return {.name = name,
          .kernels = {kernel, on_device},
          .launches_kokkos_kernels = false,
          .variant = precision_letter<T>,
          .expand = nullptr,
          .check = check};
}

[[nodiscard]] inline Access read(TileRef const& tile) { return {tile.data, AccessMode::Read}; }
[[nodiscard]] inline Access write(TileRef const& tile) { return {tile.data, AccessMode::Write}; }
[[nodiscard]] inline Access read_write(TileRef const& tile) { return {tile.data, AccessMode::ReadWrite}; }

/// Flops of `fmas` fused multiply-adds.
template <class T>
[[nodiscard]] double flops_of(double fmas) {
  return fmas * flops_per_fma<T>;
}

}  // namespace granary::detail
