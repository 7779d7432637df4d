// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/kokkos_compat.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/kernels/device/vendor_blas.hpp>
#include <granary/detail/linalg/kernels/device/vendor_scalar.hpp>

#include <rocblas/rocblas.h>
#include <rocsolver/rocsolver.h>

#include <memory>
#include <string>
#include <type_traits>

static_assert(ROCBLAS_VERSION_MAJOR >= 4,
              "granary needs rocBLAS 4 (ROCm 6) or newer, whose trmm writes to a separate matrix");

namespace granary::kernels {

namespace {

void check(rocblas_status status, char const* call) {
  if (status == rocblas_status_success) return;
  throw DeviceError(std::string("rocBLAS or rocSOLVER error in ") + call + ": " + rocblas_status_to_string(status));
}

rocblas_operation flag(Op op) {
  return op == Op::NoTrans ? rocblas_operation_none
         : op == Op::Trans ? rocblas_operation_transpose
                           : rocblas_operation_conjugate_transpose;
}
rocblas_fill flag(Uplo uplo) { return uplo == Uplo::Lower ? rocblas_fill_lower : rocblas_fill_upper; }
rocblas_side flag(Side side) { return side == Side::Left ? rocblas_side_left : rocblas_side_right; }
rocblas_diagonal flag(Diag diag) { return diag == Diag::Unit ? rocblas_diagonal_unit : rocblas_diagonal_non_unit; }

template <class T>
auto const* vendor(T const* address) {
  return reinterpret_cast<VendorScalar<T, rocblas_float_complex, rocblas_double_complex> const*>(address);
}
template <class T>
auto* vendor(T* address) requires(!std::is_const_v<T>) {
  return reinterpret_cast<VendorScalar<T, rocblas_float_complex, rocblas_double_complex>*>(address);
}

}  // namespace

// rocSOLVER uses the lane's workspace, which its handle gets before each call. rocBLAS keeps its own workspace: with a
// shared handle it would free and allocate that again, and synchronize the whole device.
struct VendorBlas::Handles {
  rocblas_handle blas = nullptr;
  rocblas_handle solver = nullptr;

  explicit Handles(hipStream_t stream) {
    try {
      for (auto* handle : {&blas, &solver}) {
        check(rocblas_create_handle(handle), "creating a handle");
        check(rocblas_set_stream(*handle, stream), "setting the lane's stream");
      }
    } catch (...) {
      destroy();
      throw;
    }
  }
  ~Handles() { destroy(); }
  Handles(Handles const&) = delete;
  Handles& operator=(Handles const&) = delete;

  // Enqueues a factorization in the workspace; returns false if the workspace is too small.
  template <class Function>
  bool solve(char const* name, std::span<std::byte> workspace, Function const& function) const {
    std::size_t needed = 0;
    check(rocblas_start_device_memory_size_query(solver), "querying the workspace size");
    auto const asked = function(solver);
    check(rocblas_stop_device_memory_size_query(solver, &needed), "querying the workspace size");
    if (asked != rocblas_status_size_increased && asked != rocblas_status_size_unchanged) check(asked, name);
    if (needed > workspace.size()) return false;
    check(rocblas_set_workspace(solver, workspace.data(), workspace.size()), "setting the lane's workspace");
    check(function(solver), name);
    return true;
  }

 private:
  void destroy() noexcept {
    if (solver != nullptr) rocblas_destroy_handle(solver);
    if (blas != nullptr) rocblas_destroy_handle(blas);
  }
};

VendorBlas::VendorBlas(LaneStorage& storage, void const* instance)
    : m_handles(storage
                    .get<std::unique_ptr<Handles>>([instance] {
                      auto const& space = *static_cast<DeviceExecutionSpace const*>(instance);
                      return std::make_unique<Handles>(space.hip_stream());
                    })
                    .get()) {}

#define GRANARY_DEFINE_VENDOR_BLAS(T, P, hemm_of, herk_of)                                                             \
  template <>                                                                                                          \
  void VendorBlas::gemm(Op op_a, Op op_b, T alpha, Block<T const> a, Block<T const> b, T beta, Block<T> c) const {     \
    check(rocblas_##P##gemm(m_handles->blas, flag(op_a), flag(op_b), c.rows, c.cols, inner_of(op_a, a.rows, a.cols),   \
                            vendor(&alpha), vendor(a.data), a.ld, vendor(b.data), b.ld, vendor(&beta), vendor(c.data), \
                            c.ld),                                                                                     \
          "gemm");                                                                                                     \
  }                                                                                                                    \
  template <>                                                                                                          \
  void VendorBlas::syrk(Uplo uplo, Op op, T alpha, Block<T const> a, T beta, Block<T> c) const {                       \
    check(rocblas_##P##syrk(m_handles->blas, flag(uplo), flag(op), c.rows, inner_of(op, a.rows, a.cols),               \
                            vendor(&alpha), vendor(a.data), a.ld, vendor(&beta), vendor(c.data), c.ld),                \
          "syrk");                                                                                                     \
  }                                                                                                                    \
  template <>                                                                                                          \
  void VendorBlas::herk(Uplo uplo, Op op, RealOf<T> alpha, Block<T const> a, RealOf<T> beta, Block<T> c) const {       \
    check(rocblas_##P##herk_of(m_handles->blas, flag(uplo), flag(op), c.rows, inner_of(op, a.rows, a.cols), &alpha,    \
                               vendor(a.data), a.ld, &beta, vendor(c.data), c.ld),                                     \
          "herk");                                                                                                     \
  }                                                                                                                    \
  template <>                                                                                                          \
  void VendorBlas::hemm(Side side, Uplo uplo, T alpha, Block<T const> a, Block<T const> b, T beta, Block<T> c) const { \
    check(rocblas_##P##hemm_of(m_handles->blas, flag(side), flag(uplo), c.rows, c.cols, vendor(&alpha),                \
                               vendor(a.data), a.ld, vendor(b.data), b.ld, vendor(&beta), vendor(c.data), c.ld),       \
          "hemm");                                                                                                     \
  }                                                                                                                    \
  template <>                                                                                                          \
  void VendorBlas::trsm(Side side, Uplo uplo, Op op, Diag diag, T alpha, Block<T const> a, Block<T> b) const {         \
    check(rocblas_##P##trsm(m_handles->blas, flag(side), flag(uplo), flag(op), flag(diag), b.rows, b.cols,             \
                            vendor(&alpha), vendor(a.data), a.ld, vendor(b.data), b.ld),                               \
          "trsm");                                                                                                     \
  }                                                                                                                    \
  template <>                                                                                                          \
  void VendorBlas::trmm(Side side, Uplo uplo, Op op, Diag diag, T alpha, Block<T const> a, Block<T> b) const {         \
    check(rocblas_##P##trmm(m_handles->blas, flag(side), flag(uplo), flag(op), flag(diag), b.rows, b.cols,             \
                            vendor(&alpha), vendor(a.data), a.ld, vendor(b.data), b.ld, vendor(b.data), b.ld),         \
          "trmm");                                                                                                     \
  }                                                                                                                    \
  template <>                                                                                                          \
  bool VendorBlas::potrf(Uplo uplo, Block<T> a, int* info, std::span<std::byte> workspace) const {                     \
    return m_handles->solve("potrf", workspace, [&](rocblas_handle handle) {                                           \
      return rocsolver_##P##potrf(handle, flag(uplo), a.rows, vendor(a.data), a.ld, info);                             \
    });                                                                                                                \
  }                                                                                                                    \
  template <>                                                                                                          \
  bool VendorBlas::getrf(Block<T> a, int* pivots, int* info, std::span<std::byte> workspace) const {                   \
    return m_handles->solve("getrf", workspace, [&](rocblas_handle handle) {                                           \
      return rocsolver_##P##getrf(handle, a.rows, a.cols, vendor(a.data), a.ld, pivots, info);                         \
    });                                                                                                                \
  }

GRANARY_DEFINE_VENDOR_BLAS(float, s, symm, syrk)
GRANARY_DEFINE_VENDOR_BLAS(double, d, symm, syrk)
GRANARY_DEFINE_VENDOR_BLAS(Complex64, c, hemm, herk)
GRANARY_DEFINE_VENDOR_BLAS(Complex128, z, hemm, herk)
#undef GRANARY_DEFINE_VENDOR_BLAS

}  // namespace granary::kernels
