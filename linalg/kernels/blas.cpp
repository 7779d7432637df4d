// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/kernels/blas.hpp>

#include <cstddef>
#include <vector>

namespace granary {
using Complex64 = Kokkos::complex<float>;
using Complex128 = Kokkos::complex<double>;
}  // namespace granary

// Fortran passes the length of every character argument at the end of the argument list.
// NOLINTBEGIN(bugprone-macro-parentheses): the arguments are types and prefixes of names.
#define GRANARY_DECLARE_BLAS(T, R, p)                                                                                \
  void p##gemm_(char const*, char const*, int const*, int const*, int const*, T const*, T const*, int const*,        \
                T const*, int const*, T const*, T*, int const*, std::size_t, std::size_t);                           \
  void p##syrk_(char const*, char const*, int const*, int const*, T const*, T const*, int const*, T const*, T*,      \
                int const*, std::size_t, std::size_t);                                                               \
  void p##symm_(char const*, char const*, int const*, int const*, T const*, T const*, int const*, T const*,          \
                int const*, T const*, T*, int const*, std::size_t, std::size_t);                                     \
  void p##trmm_(char const*, char const*, char const*, char const*, int const*, int const*, T const*, T const*,      \
                int const*, T*, int const*, std::size_t, std::size_t, std::size_t, std::size_t);                     \
  void p##trsm_(char const*, char const*, char const*, char const*, int const*, int const*, T const*, T const*,      \
                int const*, T*, int const*, std::size_t, std::size_t, std::size_t, std::size_t);                     \
  void p##potrf_(char const*, int const*, T*, int const*, int*, std::size_t);                                        \
  void p##getrf_(int const*, int const*, T*, int const*, int*, int*);                                                \
  void p##gemv_(char const*, int const*, int const*, T const*, T const*, int const*, T const*, int const*, T const*, \
                T*, int const*, std::size_t);                                                                        \
  void p##trtri_(char const*, char const*, int const*, T*, int const*, int*, std::size_t, std::size_t);              \
  R p##lange_(char const*, int const*, int const*, T const*, int const*, R*, std::size_t);                           \
  R p##lansy_(char const*, char const*, int const*, T const*, int const*, R*, std::size_t, std::size_t);

#define GRANARY_DECLARE_HERMITIAN(T, R, p)                                                                      \
  void p##herk_(char const*, char const*, int const*, int const*, R const*, T const*, int const*, R const*, T*, \
                int const*, std::size_t, std::size_t);                                                          \
  void p##hemm_(char const*, char const*, int const*, int const*, T const*, T const*, int const*, T const*,     \
                int const*, T const*, T*, int const*, std::size_t, std::size_t);                                \
  R p##lanhe_(char const*, char const*, int const*, T const*, int const*, R*, std::size_t, std::size_t);

extern "C" {
GRANARY_DECLARE_BLAS(double, double, d)
GRANARY_DECLARE_BLAS(float, float, s)
GRANARY_DECLARE_BLAS(granary::Complex64, float, c)
GRANARY_DECLARE_BLAS(granary::Complex128, double, z)
GRANARY_DECLARE_HERMITIAN(granary::Complex64, float, c)
GRANARY_DECLARE_HERMITIAN(granary::Complex128, double, z)
}

namespace granary {
namespace blas {
namespace {

template <class Flag>
[[nodiscard]] char letter(Flag flag) {
  return static_cast<char>(flag);
}

// n entries, incx apart, without gaps and with one more behind them.
template <class T>
[[nodiscard]] std::vector<T> with_one_more(int n, T const* x, int incx) {
  std::vector<T> entries(static_cast<std::size_t>(n) + 1);
  for (int i = 0; i < n; ++i) entries[static_cast<std::size_t>(i)] = x[static_cast<std::ptrdiff_t>(i) * incx];
  return entries;
}

}  // namespace

#define GRANARY_DEFINE_BLAS(T, p)                                                                                      \
  template <>                                                                                                          \
  void gemm<T>(Op op_a, Op op_b, int m, int n, int k, T alpha, T const* a, int lda, T const* b, int ldb, T beta, T* c, \
               int ldc) {                                                                                              \
    char const ta = letter(op_a), tb = letter(op_b);                                                                   \
    p##gemm_(&ta, &tb, &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc, 1, 1);                                    \
  }                                                                                                                    \
  template <>                                                                                                          \
  void syrk<T>(Uplo uplo, Op op, int n, int k, T alpha, T const* a, int lda, T beta, T* c, int ldc) {                  \
    char const u = letter(uplo), t = letter(op);                                                                       \
    p##syrk_(&u, &t, &n, &k, &alpha, a, &lda, &beta, c, &ldc, 1, 1);                                                   \
  }                                                                                                                    \
  template <>                                                                                                          \
  void symm<T>(Side side, Uplo uplo, int m, int n, T alpha, T const* a, int lda, T const* b, int ldb, T beta, T* c,    \
               int ldc) {                                                                                              \
    char const s = letter(side), u = letter(uplo);                                                                     \
    p##symm_(&s, &u, &m, &n, &alpha, a, &lda, b, &ldb, &beta, c, &ldc, 1, 1);                                          \
  }                                                                                                                    \
  template <>                                                                                                          \
  void trmm<T>(Side side, Uplo uplo, Op op, Diag diag, int m, int n, T alpha, T const* a, int lda, T* b, int ldb) {    \
    char const s = letter(side), u = letter(uplo), t = letter(op), d = letter(diag);                                   \
    p##trmm_(&s, &u, &t, &d, &m, &n, &alpha, a, &lda, b, &ldb, 1, 1, 1, 1);                                            \
  }                                                                                                                    \
  template <>                                                                                                          \
  void trsm<T>(Side side, Uplo uplo, Op op, Diag diag, int m, int n, T alpha, T const* a, int lda, T* b, int ldb) {    \
    char const s = letter(side), u = letter(uplo), t = letter(op), d = letter(diag);                                   \
    p##trsm_(&s, &u, &t, &d, &m, &n, &alpha, a, &lda, b, &ldb, 1, 1, 1, 1);                                            \
  }                                                                                                                    \
  template <>                                                                                                          \
  int potrf<T>(Uplo uplo, int n, T* a, int lda) {                                                                      \
    char const u = letter(uplo);                                                                                       \
    int info = 0;                                                                                                      \
    p##potrf_(&u, &n, a, &lda, &info, 1);                                                                              \
    return info;                                                                                                       \
  }                                                                                                                    \
  template <>                                                                                                          \
  int getrf<T>(int m, int n, T* a, int lda, int* pivots) {                                                             \
    int info = 0;                                                                                                      \
    p##getrf_(&m, &n, a, &lda, pivots, &info);                                                                         \
    return info;                                                                                                       \
  }                                                                                                                    \
  template <>                                                                                                          \
  int trtri<T>(Uplo uplo, Diag diag, int n, T* a, int lda) {                                                           \
    char const u = letter(uplo), d = letter(diag);                                                                     \
    int info = 0;                                                                                                      \
    p##trtri_(&u, &d, &n, a, &lda, &info, 1, 1);                                                                       \
    return info;                                                                                                       \
  }                                                                                                                    \
  template <>                                                                                                          \
  void gemv<T>(Op op, int m, int n, T alpha, T const* a, int lda, T const* x, int incx, T beta, T* y, int incy) {      \
    char const t = letter(op);                                                                                         \
    std::vector<T> readable;                                                                                           \
    /* OpenBLAS 0.3.21 reads one entry beyond x (its issue 4013), which may be a column beyond the matrix. */          \
    if (detail::is_complex<T> && op == Op::NoTrans) {                                                                  \
      readable = with_one_more(n, x, incx);                                                                            \
      x = readable.data();                                                                                             \
      incx = 1;                                                                                                        \
    }                                                                                                                  \
    p##gemv_(&t, &m, &n, &alpha, a, &lda, x, &incx, &beta, y, &incy, 1);                                               \
  }                                                                                                                    \
  template <>                                                                                                          \
  detail::RealOf<T> lange<T>(Norm norm, int m, int n, T const* a, int lda, detail::RealOf<T>* work) {                  \
    char const which = letter(norm);                                                                                   \
    return p##lange_(&which, &m, &n, a, &lda, work, 1);                                                                \
  }                                                                                                                    \
  template <>                                                                                                          \
  detail::RealOf<T> lansy<T>(Norm norm, Uplo uplo, int n, T const* a, int lda, detail::RealOf<T>* work) {              \
    char const which = letter(norm), u = letter(uplo);                                                                 \
    return p##lansy_(&which, &u, &n, a, &lda, work, 1, 1);                                                             \
  }

#define GRANARY_DEFINE_HERMITIAN(T, p, rk, mm, lan)                                                                  \
  template <>                                                                                                        \
  void herk<T>(Uplo uplo, Op op, int n, int k, detail::RealOf<T> alpha, T const* a, int lda, detail::RealOf<T> beta, \
               T* c, int ldc) {                                                                                      \
    char const u = letter(uplo), t = letter(op);                                                                     \
    p##rk##_(&u, &t, &n, &k, &alpha, a, &lda, &beta, c, &ldc, 1, 1);                                                 \
  }                                                                                                                  \
  template <>                                                                                                        \
  void hemm<T>(Side side, Uplo uplo, int m, int n, T alpha, T const* a, int lda, T const* b, int ldb, T beta, T* c,  \
               int ldc) {                                                                                            \
    char const s = letter(side), u = letter(uplo);                                                                   \
    p##mm##_(&s, &u, &m, &n, &alpha, a, &lda, b, &ldb, &beta, c, &ldc, 1, 1);                                        \
  }                                                                                                                  \
  template <>                                                                                                        \
  detail::RealOf<T> lanhe<T>(Norm norm, Uplo uplo, int n, T const* a, int lda, detail::RealOf<T>* work) {            \
    char const which = letter(norm), u = letter(uplo);                                                               \
    return p##lan##_(&which, &u, &n, a, &lda, work, 1, 1);                                                           \
  }

GRANARY_DEFINE_BLAS(double, d)
GRANARY_DEFINE_BLAS(float, s)
GRANARY_DEFINE_BLAS(Complex64, c)
GRANARY_DEFINE_BLAS(Complex128, z)
GRANARY_DEFINE_HERMITIAN(double, d, syrk, symm, lansy)
GRANARY_DEFINE_HERMITIAN(float, s, syrk, symm, lansy)
GRANARY_DEFINE_HERMITIAN(Complex64, c, herk, hemm, lanhe)
GRANARY_DEFINE_HERMITIAN(Complex128, z, herk, hemm, lanhe)
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace blas

}  // namespace granary
