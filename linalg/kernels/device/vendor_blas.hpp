// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/model/lane_storage.hpp>
#include <granary/detail/linalg/kernels/device/stand_in_blas.hpp>
#include <granary/detail/linalg/kernels/kernel_choice.hpp>

#include <cstddef>
#include <span>

namespace granary::kernels {

/// BLAS and LAPACK of the device's vendor (cuBLAS and cuSOLVER, rocBLAS and rocSOLVER) on one lane: typed,
/// column-major, in device memory, enqueued on the lane's stream. Each lane has its own handles, created at first use
/// (Kokkos Kernels has one per process, which several streams cannot share). Scalars are passed from the host. Errors
/// of the library are thrown as DeviceError.
class VendorBlas {
 public:
  /// `instance` is the lane's DeviceExecutionSpace.
  VendorBlas(detail::LaneStorage& storage, void const* instance);

  template <class T>
  void gemm(Op op_a, Op op_b, T alpha, Block<T const> a, Block<T const> b, T beta, Block<T> c) const;
  template <class T>
  void syrk(Uplo uplo, Op op, T alpha, Block<T const> a, T beta, Block<T> c) const;
  template <class T>
  void herk(Uplo uplo, Op op, detail::RealOf<T> alpha, Block<T const> a, detail::RealOf<T> beta, Block<T> c) const;
  template <class T>
  void hemm(Side side, Uplo uplo, T alpha, Block<T const> a, Block<T const> b, T beta, Block<T> c) const;
  template <class T>
  void trsm(Side side, Uplo uplo, Op op, Diag diag, T alpha, Block<T const> a, Block<T> b) const;
  template <class T>
  void trmm(Side side, Uplo uplo, Op op, Diag diag, T alpha, Block<T const> a, Block<T> b) const;
  /// If the library needs more than this workspace, enqueues nothing and returns the bytes that it needs; otherwise 0.
  /// `info`, on the device, is LAPACK's.
  template <class T>
  [[nodiscard]] std::size_t potrf(Uplo uplo, Block<T> a, int* info, std::span<std::byte> workspace) const;
  /// The same; `pivots`, counted from 1, on the device.
  template <class T>
  [[nodiscard]] std::size_t getrf(Block<T> a, int* pivots, int* info, std::span<std::byte> workspace) const;

 private:
  struct Handles;
  Handles* m_handles;
};

#if defined(GRANARY_HAVE_CUDA) || defined(GRANARY_HAVE_HIP)
using LaneVendorBlas = VendorBlas;
#else
using LaneVendorBlas = StandInBlas;
#endif

}  // namespace granary::kernels
