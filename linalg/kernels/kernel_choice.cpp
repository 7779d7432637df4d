// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/kernels/kernel_choice.hpp>

#include <granary/detail/core/backends/kokkos_compat.hpp>
#include <granary/detail/linalg/data/narrow.hpp>
#include <granary/detail/linalg/kernels/blas.hpp>

#include <algorithm>
#include <cstddef>

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

using HostDevice = Kokkos::Device<detail::HostExecutionSpace, Kokkos::HostSpace>;
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

// Products with so few columns, or rows, are limited by memory, not by flops.
constexpr int few_vectors = 4;

// Vectors in memory, with the distance between entries of one, and between two of them.
template <class T>
struct Vectors {
  T* data;
  std::ptrdiff_t entry, vector;
};

// y := alpha op(A) x + beta y by GEMV, a part of A in cache at a time: A is read once. GEMM would copy it first.
template <class T>
void multiply_vectors(Op op, T alpha, Block<T const> const& a, Vectors<T const> const& x, T beta, Vectors<T> const& y,
                      int count) {
  constexpr std::ptrdiff_t cached = 1 << 17;
  auto const fitting = cached / static_cast<std::ptrdiff_t>(sizeof(T)) / std::max(1, a.rows);
  int const width = count == 1 ? a.cols : static_cast<int>(std::max<std::ptrdiff_t>(16, fitting));
  for (int first = 0; first < a.cols; first += width) {
    auto const part = a.sub(0, first, a.rows, std::min(width, a.cols - first));
    // Columns of A are entries of x, or of y if A is transposed.
    bool const sums = op == Op::NoTrans;
    T const factor = sums && first > 0 ? T(1) : beta;
    for (int v = 0; v < count; ++v) {
      T const* const from = x.data + v * x.vector + (sums ? first * x.entry : 0);
      T* const to = y.data + v * y.vector + (sums ? 0 : first * y.entry);
      blas::gemv(op, part.rows, part.cols, alpha, part.data, part.ld, from, to_int32(x.entry, "a leading dimension"),
                 factor, to, to_int32(y.entry, "a leading dimension"));
    }
  }
}

// False if a flag is missing: GEMV does not conjugate vectors, or matrices without transposing them.
template <class T>
[[nodiscard]] bool multiplied_vectors(Op op_a, Op op_b, T alpha, Block<T const> const& a, Block<T const> const& b,
                                      T beta, Block<T> const& c) {
  auto const conjugates = [](Op op) { return detail::is_complex<T> && op == Op::ConjTrans; };
  if (conjugates(op_b)) return false;
  bool const b_as_it_is = op_b == Op::NoTrans, a_as_it_is = op_a == Op::NoTrans;
  if (c.cols <= few_vectors) {
    Vectors<T const> const x{b.data, b_as_it_is ? 1 : b.ld, b_as_it_is ? b.ld : 1};
    multiply_vectors<T>(op_a, alpha, a, x, beta, {c.data, 1, c.ld}, c.cols);
    return true;
  }
  if (c.rows <= few_vectors && !conjugates(op_a)) {
    Vectors<T const> const x{a.data, a_as_it_is ? a.ld : 1, a_as_it_is ? 1 : a.ld};
    multiply_vectors<T>(b_as_it_is ? Op::Trans : Op::NoTrans, alpha, b, x, beta, {c.data, c.ld, 1}, c.rows);
    return true;
  }
  return false;
}

}  // namespace

template <class T>
void chosen_gemm(Op op_a, Op op_b, T alpha, Block<T const> a, Block<T const> b, T beta, Block<T> c) {
  // If alpha is 0, A and B do not count, but OpenBLAS' real GEMM multiplies them nevertheless, including NaN.
  int const k = alpha == T(0) ? 0 : op_a == Op::NoTrans ? a.cols : a.rows;
  if (k > 0 && multiplied_vectors(op_a, op_b, alpha, a, b, beta, c)) return;
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
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace kernels

std::string host_kernels_description() {
  return GRANARY_KERNELS_ON_KOKKOSBLAS ? "Kokkos Kernels for GEMM and TRSM, BLAS and LAPACK for the others"
                                       : "BLAS and LAPACK";
}

}  // namespace granary
