// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/kokkos_compat.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/kernels/device/vendor_blas.hpp>

#if defined(GRANARY_HAVE_CUDA)
#include <cublas_v2.h>
#include <cusolverDn.h>
#else
#include <rocblas/rocblas.h>
#include <rocsolver/rocsolver.h>
static_assert(ROCBLAS_VERSION_MAJOR >= 4,
              "granary needs rocBLAS 4 (ROCm 6) or newer, whose trmm writes to a separate matrix");
#endif

#include <memory>
#include <string>
#include <type_traits>

namespace granary::kernels {

namespace {

using Complex64 = Kokkos::complex<float>;
using Complex128 = Kokkos::complex<double>;

#if defined(GRANARY_HAVE_CUDA)
using VendorComplex64 = cuComplex;
using VendorComplex128 = cuDoubleComplex;

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
using BlasHandle = cublasHandle_t;
using SolverHandle = cusolverDnHandle_t;

void open(BlasHandle& handle, detail::DeviceExecutionSpace const& space) {
  check(cublasCreate(&handle), "creating a handle");
  check(cublasSetStream(handle, space.cuda_stream()), "setting the lane's stream");
}
void open(SolverHandle& handle, detail::DeviceExecutionSpace const& space) {
  check(cusolverDnCreate(&handle), "creating a handle");
  check(cusolverDnSetStream(handle, space.cuda_stream()), "setting the lane's stream");
}
void close(BlasHandle handle) { cublasDestroy(handle); }
void close(SolverHandle handle) { cusolverDnDestroy(handle); }

#define GRANARY_BLAS(P, p, name) cublas##P##name
#else
using VendorComplex64 = rocblas_float_complex;
using VendorComplex128 = rocblas_double_complex;

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

// rocSOLVER uses the lane's workspace, which its handle gets before each call. rocBLAS keeps its own workspace: with a
// shared handle it would free and allocate that again, and synchronize the whole device.
using BlasHandle = rocblas_handle;
using SolverHandle = rocblas_handle;

void open(rocblas_handle& handle, detail::DeviceExecutionSpace const& space) {
  check(rocblas_create_handle(&handle), "creating a handle");
  check(rocblas_set_stream(handle, space.hip_stream()), "setting the lane's stream");
}
void close(rocblas_handle handle) { rocblas_destroy_handle(handle); }

// Enqueues a factorization in the workspace and returns 0; the bytes that it needs if the workspace is too small.
template <class Function>
std::size_t solve(rocblas_handle solver, char const* name, std::span<std::byte> workspace, Function const& function) {
  std::size_t needed = 0;
  check(rocblas_start_device_memory_size_query(solver), "querying the workspace size");
  auto const asked = function();
  check(rocblas_stop_device_memory_size_query(solver, &needed), "querying the workspace size");
  if (asked != rocblas_status_size_increased && asked != rocblas_status_size_unchanged) check(asked, name);
  if (needed > workspace.size()) return needed;
  check(rocblas_set_workspace(solver, workspace.data(), workspace.size()), "setting the lane's workspace");
  check(function(), name);
  return 0;
}

#define GRANARY_BLAS(P, p, name) rocblas_##p##name
#endif

// The vendor library's scalar with T's size and meaning.
template <class T>
using VendorScalar = std::conditional_t<std::is_same_v<T, Complex64>, VendorComplex64,
                                        std::conditional_t<std::is_same_v<T, Complex128>, VendorComplex128, T>>;

template <class T>
auto const* vendor(T const* address) {
  return reinterpret_cast<VendorScalar<T> const*>(address);
}
template <class T>
auto* vendor(T* address) requires(!std::is_const_v<T>) {
  return reinterpret_cast<VendorScalar<T>*>(address);
}

// The inner dimension of op(A) op(B), for an A with so many rows and columns.
int inner_of(Op op, int rows, int cols) { return op == Op::NoTrans ? cols : rows; }

}  // namespace

struct VendorBlas::Handles {
  BlasHandle blas = nullptr;
  SolverHandle solver = nullptr;

  explicit Handles(detail::DeviceExecutionSpace const& space) {
    try {
      open(blas, space);
      open(solver, space);
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
    if (solver != nullptr) close(solver);
    if (blas != nullptr) close(blas);
  }
};

VendorBlas::VendorBlas(detail::LaneStorage& storage, void const* instance)
    : m_handles(storage
                    .get<std::unique_ptr<Handles>>([instance] {
                      return std::make_unique<Handles>(*static_cast<detail::DeviceExecutionSpace const*>(instance));
                    })
                    .get()) {}

#define GRANARY_DEFINE_VENDOR_BLAS(T, P, p, hemm_of, herk_of)                                                          \
  template <>                                                                                                          \
  void VendorBlas::gemm(Op op_a, Op op_b, T alpha, Block<T const> a, Block<T const> b, T beta, Block<T> c) const {     \
    check(GRANARY_BLAS(P, p, gemm)(m_handles->blas, flag(op_a), flag(op_b), c.rows, c.cols,                            \
                                   inner_of(op_a, a.rows, a.cols), vendor(&alpha), vendor(a.data), a.ld,               \
                                   vendor(b.data), b.ld, vendor(&beta), vendor(c.data), c.ld),                         \
          "gemm");                                                                                                     \
  }                                                                                                                    \
  template <>                                                                                                          \
  void VendorBlas::syrk(Uplo uplo, Op op, T alpha, Block<T const> a, T beta, Block<T> c) const {                       \
    check(GRANARY_BLAS(P, p, syrk)(m_handles->blas, flag(uplo), flag(op), c.rows, inner_of(op, a.rows, a.cols),        \
                                   vendor(&alpha), vendor(a.data), a.ld, vendor(&beta), vendor(c.data), c.ld),         \
          "syrk");                                                                                                     \
  }                                                                                                                    \
  template <>                                                                                                          \
  void VendorBlas::herk(Uplo uplo, Op op, detail::RealOf<T> alpha, Block<T const> a, detail::RealOf<T> beta,           \
                        Block<T> c) const {                                                                            \
    check(GRANARY_BLAS(P, p, herk_of)(m_handles->blas, flag(uplo), flag(op), c.rows, inner_of(op, a.rows, a.cols),     \
                                      &alpha, vendor(a.data), a.ld, &beta, vendor(c.data), c.ld),                      \
          "herk");                                                                                                     \
  }                                                                                                                    \
  template <>                                                                                                          \
  void VendorBlas::hemm(Side side, Uplo uplo, T alpha, Block<T const> a, Block<T const> b, T beta, Block<T> c) const { \
    check(                                                                                                             \
        GRANARY_BLAS(P, p, hemm_of)(m_handles->blas, flag(side), flag(uplo), c.rows, c.cols, vendor(&alpha),           \
                                    vendor(a.data), a.ld, vendor(b.data), b.ld, vendor(&beta), vendor(c.data), c.ld),  \
        "hemm");                                                                                                       \
  }                                                                                                                    \
  template <>                                                                                                          \
  void VendorBlas::trsm(Side side, Uplo uplo, Op op, Diag diag, T alpha, Block<T const> a, Block<T> b) const {         \
    check(GRANARY_BLAS(P, p, trsm)(m_handles->blas, flag(side), flag(uplo), flag(op), flag(diag), b.rows, b.cols,      \
                                   vendor(&alpha), vendor(a.data), a.ld, vendor(b.data), b.ld),                        \
          "trsm");                                                                                                     \
  }                                                                                                                    \
  template <>                                                                                                          \
  void VendorBlas::trmm(Side side, Uplo uplo, Op op, Diag diag, T alpha, Block<T const> a, Block<T> b) const {         \
    check(GRANARY_BLAS(P, p, trmm)(m_handles->blas, flag(side), flag(uplo), flag(op), flag(diag), b.rows, b.cols,      \
                                   vendor(&alpha), vendor(a.data), a.ld, vendor(b.data), b.ld, vendor(b.data), b.ld),  \
          "trmm");                                                                                                     \
  }

#if defined(GRANARY_HAVE_CUDA)
#define GRANARY_DEFINE_VENDOR_LAPACK(T, P, p)                                                                    \
  template <>                                                                                                    \
  std::size_t VendorBlas::potrf(Uplo uplo, Block<T> a, int* info, std::span<std::byte> workspace) const {        \
    int needed = 0;                                                                                              \
    check(cusolverDn##P##potrf_bufferSize(m_handles->solver, flag(uplo), a.rows, vendor(a.data), a.ld, &needed), \
          "potrf's size");                                                                                       \
    auto const bytes = static_cast<std::size_t>(needed) * sizeof(T);                                             \
    if (bytes > workspace.size()) return bytes;                                                                  \
    check(cusolverDn##P##potrf(m_handles->solver, flag(uplo), a.rows, vendor(a.data), a.ld,                      \
                               vendor(reinterpret_cast<T*>(workspace.data())), needed, info),                    \
          "potrf");                                                                                              \
    return 0;                                                                                                    \
  }                                                                                                              \
  template <>                                                                                                    \
  std::size_t VendorBlas::getrf(Block<T> a, int* pivots, int* info, std::span<std::byte> workspace) const {      \
    int needed = 0;                                                                                              \
    check(cusolverDn##P##getrf_bufferSize(m_handles->solver, a.rows, a.cols, vendor(a.data), a.ld, &needed),     \
          "getrf's size");                                                                                       \
    auto const bytes = static_cast<std::size_t>(needed) * sizeof(T);                                             \
    if (bytes > workspace.size()) return bytes;                                                                  \
    check(cusolverDn##P##getrf(m_handles->solver, a.rows, a.cols, vendor(a.data), a.ld,                          \
                               vendor(reinterpret_cast<T*>(workspace.data())), pivots, info),                    \
          "getrf");                                                                                              \
    return 0;                                                                                                    \
  }
#else
#define GRANARY_DEFINE_VENDOR_LAPACK(T, P, p)                                                               \
  template <>                                                                                               \
  std::size_t VendorBlas::potrf(Uplo uplo, Block<T> a, int* info, std::span<std::byte> workspace) const {   \
    return solve(m_handles->solver, "potrf", workspace, [&] {                                               \
      return rocsolver_##p##potrf(m_handles->solver, flag(uplo), a.rows, vendor(a.data), a.ld, info);       \
    });                                                                                                     \
  }                                                                                                         \
  template <>                                                                                               \
  std::size_t VendorBlas::getrf(Block<T> a, int* pivots, int* info, std::span<std::byte> workspace) const { \
    return solve(m_handles->solver, "getrf", workspace, [&] {                                               \
      return rocsolver_##p##getrf(m_handles->solver, a.rows, a.cols, vendor(a.data), a.ld, pivots, info);   \
    });                                                                                                     \
  }
#endif

GRANARY_DEFINE_VENDOR_BLAS(float, S, s, symm, syrk)
GRANARY_DEFINE_VENDOR_BLAS(double, D, d, symm, syrk)
GRANARY_DEFINE_VENDOR_BLAS(Complex64, C, c, hemm, herk)
GRANARY_DEFINE_VENDOR_BLAS(Complex128, Z, z, hemm, herk)
GRANARY_DEFINE_VENDOR_LAPACK(float, S, s)
GRANARY_DEFINE_VENDOR_LAPACK(double, D, d)
GRANARY_DEFINE_VENDOR_LAPACK(Complex64, C, c)
GRANARY_DEFINE_VENDOR_LAPACK(Complex128, Z, z)
#undef GRANARY_DEFINE_VENDOR_BLAS
#undef GRANARY_DEFINE_VENDOR_LAPACK
#undef GRANARY_BLAS

}  // namespace granary::kernels
