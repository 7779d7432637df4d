// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/kokkos_compat.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/kernels/device/vendor_blas.hpp>
#include <granary/detail/linalg/kernels/device/vendor_scalar.hpp>

#include <cublas_v2.h>
#include <cusolverDn.h>

#include <memory>
#include <string>
#include <type_traits>

namespace granary::kernels {

namespace {

void check(cublasStatus_t status, char const* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw DeviceError(std::string("cuBLAS error in ") + call + ": " + cublasGetStatusString(status));
}
void check(cusolverStatus_t status, char const* call) {
  if (status == CUSOLVER_STATUS_SUCCESS) return;
  throw DeviceError(std::string("cuSOLVER error in ") + call + ": status " + std::to_string(static_cast<int>(status)));
}

cublasOperation_t flag(Op op) { return op == Op::NoTrans ? CUBLAS_OP_N : op == Op::Trans ? CUBLAS_OP_T : CUBLAS_OP_C; }
cublasFillMode_t flag(Uplo uplo) { return uplo == Uplo::Lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER; }
cublasSideMode_t flag(Side side) { return side == Side::Left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT; }
cublasDiagType_t flag(Diag diag) { return diag == Diag::Unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT; }

template <class T>
auto const* vendor(T const* address) {
  return reinterpret_cast<VendorScalar<T, cuComplex, cuDoubleComplex> const*>(address);
}
template <class T>
auto* vendor(T* address) requires(!std::is_const_v<T>) {
  return reinterpret_cast<VendorScalar<T, cuComplex, cuDoubleComplex>*>(address);
}

}  // namespace

struct VendorBlas::Handles {
  cublasHandle_t blas = nullptr;
  cusolverDnHandle_t solver = nullptr;

  explicit Handles(cudaStream_t stream) {
    try {
      check(cublasCreate(&blas), "creating a handle");
      check(cublasSetStream(blas, stream), "setting the lane's stream");
      check(cusolverDnCreate(&solver), "creating a handle");
      check(cusolverDnSetStream(solver, stream), "setting the lane's stream");
    } catch (...) {
      destroy();
      throw;
    }
  }
  ~Handles() { destroy(); }
  Handles(Handles const&) = delete;
  Handles& operator=(Handles const&) = delete;

 private:
  void destroy() noexcept {
    if (solver != nullptr) cusolverDnDestroy(solver);
    if (blas != nullptr) cublasDestroy(blas);
  }
};

VendorBlas::VendorBlas(LaneStorage& storage, void const* instance)
    : m_handles(storage
                    .get<std::unique_ptr<Handles>>([instance] {
                      auto const& space = *static_cast<DeviceExecutionSpace const*>(instance);
                      return std::make_unique<Handles>(space.cuda_stream());
                    })
                    .get()) {}

#define GRANARY_DEFINE_VENDOR_BLAS(T, P, hemm_of, herk_of)                                                             \
  template <>                                                                                                          \
  void VendorBlas::gemm(Op op_a, Op op_b, T alpha, Block<T const> a, Block<T const> b, T beta, Block<T> c) const {     \
    check(cublas##P##gemm(m_handles->blas, flag(op_a), flag(op_b), c.rows, c.cols, inner_of(op_a, a.rows, a.cols),     \
                          vendor(&alpha), vendor(a.data), a.ld, vendor(b.data), b.ld, vendor(&beta), vendor(c.data),   \
                          c.ld),                                                                                       \
          "gemm");                                                                                                     \
  }                                                                                                                    \
  template <>                                                                                                          \
  void VendorBlas::syrk(Uplo uplo, Op op, T alpha, Block<T const> a, T beta, Block<T> c) const {                       \
    check(cublas##P##syrk(m_handles->blas, flag(uplo), flag(op), c.rows, inner_of(op, a.rows, a.cols), vendor(&alpha), \
                          vendor(a.data), a.ld, vendor(&beta), vendor(c.data), c.ld),                                  \
          "syrk");                                                                                                     \
  }                                                                                                                    \
  template <>                                                                                                          \
  void VendorBlas::herk(Uplo uplo, Op op, RealOf<T> alpha, Block<T const> a, RealOf<T> beta, Block<T> c) const {       \
    check(cublas##P##herk_of(m_handles->blas, flag(uplo), flag(op), c.rows, inner_of(op, a.rows, a.cols), &alpha,      \
                             vendor(a.data), a.ld, &beta, vendor(c.data), c.ld),                                       \
          "herk");                                                                                                     \
  }                                                                                                                    \
  template <>                                                                                                          \
  void VendorBlas::hemm(Side side, Uplo uplo, T alpha, Block<T const> a, Block<T const> b, T beta, Block<T> c) const { \
    check(cublas##P##hemm_of(m_handles->blas, flag(side), flag(uplo), c.rows, c.cols, vendor(&alpha), vendor(a.data),  \
                             a.ld, vendor(b.data), b.ld, vendor(&beta), vendor(c.data), c.ld),                         \
          "hemm");                                                                                                     \
  }                                                                                                                    \
  template <>                                                                                                          \
  void VendorBlas::trsm(Side side, Uplo uplo, Op op, Diag diag, T alpha, Block<T const> a, Block<T> b) const {         \
    check(cublas##P##trsm(m_handles->blas, flag(side), flag(uplo), flag(op), flag(diag), b.rows, b.cols,               \
                          vendor(&alpha), vendor(a.data), a.ld, vendor(b.data), b.ld),                                 \
          "trsm");                                                                                                     \
  }                                                                                                                    \
  template <>                                                                                                          \
  void VendorBlas::trmm(Side side, Uplo uplo, Op op, Diag diag, T alpha, Block<T const> a, Block<T> b) const {         \
    check(cublas##P##trmm(m_handles->blas, flag(side), flag(uplo), flag(op), flag(diag), b.rows, b.cols,               \
                          vendor(&alpha), vendor(a.data), a.ld, vendor(b.data), b.ld, vendor(b.data), b.ld),           \
          "trmm");                                                                                                     \
  }                                                                                                                    \
  template <>                                                                                                          \
  bool VendorBlas::potrf(Uplo uplo, Block<T> a, int* info, std::span<std::byte> workspace) const {                     \
    int needed = 0;                                                                                                    \
    check(cusolverDn##P##potrf_bufferSize(m_handles->solver, flag(uplo), a.rows, vendor(a.data), a.ld, &needed),       \
          "potrf's size");                                                                                             \
    if (static_cast<std::size_t>(needed) * sizeof(T) > workspace.size()) return false;                                 \
    check(cusolverDn##P##potrf(m_handles->solver, flag(uplo), a.rows, vendor(a.data), a.ld,                            \
                               vendor(reinterpret_cast<T*>(workspace.data())), needed, info),                          \
          "potrf");                                                                                                    \
    return true;                                                                                                       \
  }                                                                                                                    \
  template <>                                                                                                          \
  bool VendorBlas::getrf(Block<T> a, int* pivots, int* info, std::span<std::byte> workspace) const {                   \
    int needed = 0;                                                                                                    \
    check(cusolverDn##P##getrf_bufferSize(m_handles->solver, a.rows, a.cols, vendor(a.data), a.ld, &needed),           \
          "getrf's size");                                                                                             \
    if (static_cast<std::size_t>(needed) * sizeof(T) > workspace.size()) return false;                                 \
    check(cusolverDn##P##getrf(m_handles->solver, a.rows, a.cols, vendor(a.data), a.ld,                                \
                               vendor(reinterpret_cast<T*>(workspace.data())), pivots, info),                          \
          "getrf");                                                                                                    \
    return true;                                                                                                       \
  }

GRANARY_DEFINE_VENDOR_BLAS(float, S, symm, syrk)
GRANARY_DEFINE_VENDOR_BLAS(double, D, symm, syrk)
GRANARY_DEFINE_VENDOR_BLAS(Complex64, C, hemm, herk)
GRANARY_DEFINE_VENDOR_BLAS(Complex128, Z, hemm, herk)
#undef GRANARY_DEFINE_VENDOR_BLAS

}  // namespace granary::kernels
