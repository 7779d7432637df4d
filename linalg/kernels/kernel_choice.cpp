// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/linalg/kernels/kernel_choice.hpp>

#include <granary/core/backends/kokkos_compat.hpp>
#include <granary/linalg/kernels/blas.hpp>

#if defined(GRANARY_HAVE_KOKKOSKERNELS)
#include <KokkosBlas3_gemm.hpp>
#include <KokkosBlas3_trsm.hpp>
#include <KokkosKernels_config.h>

#include <array>
#endif

// Without a BLAS, Kokkos Kernels would run kernels with team scratch, which Kokkos < 4.0 cannot run on several threads
// concurrently.
#if defined(GRANARY_HAVE_KOKKOSKERNELS) && defined(KOKKOSKERNELS_ENABLE_TPL_BLAS)
#define GRANARY_KERNELS_ON_KOKKOSBLAS 1
#else
#define GRANARY_KERNELS_ON_KOKKOSBLAS 0
#endif

namespace granary {
namespace kernels {

#if GRANARY_KERNELS_ON_KOKKOSBLAS
namespace {

using HostDevice = Kokkos::Device<HostExecutionSpace, Kokkos::HostSpace>;
template <class T>
using BlockView = Kokkos::View<T**, Kokkos::LayoutLeft, HostDevice, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

// A LayoutLeft View with leading dimension ld.
template <class T>
[[nodiscard]] BlockView<T> as_view(Block<T> const& block) {
  return Kokkos::subview(
      BlockView<T>(block.data, static_cast<std::size_t>(block.ld), static_cast<std::size_t>(block.cols)),
      Kokkos::make_pair(0, block.rows), Kokkos::ALL);
}

template <class Flag>
[[nodiscard]] std::array<char, 2> text(Flag flag) {
  return {static_cast<char>(flag), '\0'};
}

}  // namespace
#endif

namespace {

// Products with one column or one row by GEMV, which reads the matrix once; GEMM would copy it first. False if a flag
// is missing: GEMV does not conjugate vectors, or matrices without transposing them.
template <class T>
[[nodiscard]] bool multiplied_vector(Op op_a, Op op_b, T alpha, Block<T const> const& a, Block<T const> const& b,
                                     T beta, Block<T> const& c) {
  auto const conjugates = [](Op op) { return is_complex<T> && op == Op::ConjTrans; };
  if (c.cols == 1 && !conjugates(op_b)) {
    blas::gemv(op_a, a.rows, a.cols, alpha, a.data, a.ld, b.data, op_b == Op::NoTrans ? 1 : b.ld, beta, c.data, 1);
    return true;
  }
  if (c.rows == 1 && !conjugates(op_a) && !conjugates(op_b)) {
    Op const op = op_b == Op::NoTrans ? Op::Trans : Op::NoTrans;
    blas::gemv(op, b.rows, b.cols, alpha, b.data, b.ld, a.data, op_a == Op::NoTrans ? a.ld : 1, beta, c.data, c.ld);
    return true;
  }
  return false;
}

}  // namespace

template <class T>
void chosen_gemm(Op op_a, Op op_b, T alpha, Block<T const> a, Block<T const> b, T beta, Block<T> c) {
  // If alpha is 0, A and B do not count, but OpenBLAS' real GEMM multiplies them nevertheless, including NaN.
  int const k = alpha == T(0) ? 0 : op_a == Op::NoTrans ? a.cols : a.rows;
  if (k > 0 && multiplied_vector(op_a, op_b, alpha, a, b, beta, c)) return;
#if GRANARY_KERNELS_ON_KOKKOSBLAS
  // Kokkos Kernels ignores beta if k = 0, and launches its own kernel if C is small and only A is transposed.
  constexpr std::ptrdiff_t small = 1600;
  if (k > 0 && static_cast<std::ptrdiff_t>(c.rows) * c.cols >= small) {
    KokkosBlas::gemm(text(op_a).data(), text(op_b).data(), alpha, as_view(a), as_view(b), beta, as_view(c));
    return;
  }
#endif
  blas::gemm(op_a, op_b, c.rows, c.cols, k, alpha, a.data, a.ld, b.data, b.ld, beta, c.data, c.ld);
}

template <class T>
void chosen_trsm(Side side, Uplo uplo, Op op, Diag diag, T alpha, Block<T const> a, Block<T> b) {
#if GRANARY_KERNELS_ON_KOKKOSBLAS
  KokkosBlas::trsm(text(side).data(), text(uplo).data(), text(op).data(), text(diag).data(), alpha, as_view(a),
                   as_view(b));
#else
  blas::trsm(side, uplo, op, diag, b.rows, b.cols, alpha, a.data, a.ld, b.data, b.ld);
#endif
}

#define GRANARY_INSTANTIATE(T)                                                       \
  template void chosen_gemm(Op, Op, T, Block<T const>, Block<T const>, T, Block<T>); \
  template void chosen_trsm(Side, Uplo, Op, Diag, T, Block<T const>, Block<T>);
GRANARY_INSTANTIATE(float)
GRANARY_INSTANTIATE(double)
GRANARY_INSTANTIATE(Kokkos::complex<float>)
GRANARY_INSTANTIATE(Kokkos::complex<double>)
#undef GRANARY_INSTANTIATE

}  // namespace kernels

std::string host_kernels_description() {
  return GRANARY_KERNELS_ON_KOKKOSBLAS ? "Kokkos Kernels for GEMM and TRSM, BLAS and LAPACK for the others"
                                       : "BLAS and LAPACK";
}

}  // namespace granary
