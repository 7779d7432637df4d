// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/kernels/blas.hpp>
#include <granary/detail/linalg/kernels/kernel_choice.hpp>

namespace granary::kernels {

/// BLAS of hosts on Blocks.
struct BlockBlas {
  template <class T>
  void gemm(Op op_a, Op op_b, T alpha, Block<T const> a, Block<T const> b, T beta, Block<T> c) const {
    blas::gemm(op_a, op_b, c.rows, c.cols, inner_of(op_a, a), alpha, a.data, a.ld, b.data, b.ld, beta, c.data, c.ld);
  }
  template <class T>
  void syrk(Uplo uplo, Op op, T alpha, Block<T const> a, T beta, Block<T> c) const {
    blas::syrk(uplo, op, c.rows, inner_of(op, a), alpha, a.data, a.ld, beta, c.data, c.ld);
  }
  template <class T>
  void herk(Uplo uplo, Op op, detail::RealOf<T> alpha, Block<T const> a, detail::RealOf<T> beta, Block<T> c) const {
    blas::herk(uplo, op, c.rows, inner_of(op, a), alpha, a.data, a.ld, beta, c.data, c.ld);
  }
  template <class T>
  void hemm(Side side, Uplo uplo, T alpha, Block<T const> a, Block<T const> b, T beta, Block<T> c) const {
    blas::hemm(side, uplo, c.rows, c.cols, alpha, a.data, a.ld, b.data, b.ld, beta, c.data, c.ld);
  }
  template <class T>
  void trsm(Side side, Uplo uplo, Op op, Diag diag, T alpha, Block<T const> a, Block<T> b) const {
    blas::trsm(side, uplo, op, diag, b.rows, b.cols, alpha, a.data, a.ld, b.data, b.ld);
  }
  template <class T>
  void trmm(Side side, Uplo uplo, Op op, Diag diag, T alpha, Block<T const> a, Block<T> b) const {
    blas::trmm(side, uplo, op, diag, b.rows, b.cols, alpha, a.data, a.ld, b.data, b.ld);
  }

 private:
  template <class T>
  [[nodiscard]] static int inner_of(Op op, Block<T const> const& a) {
    return op == Op::NoTrans ? a.cols : a.rows;
  }
};

}  // namespace granary::kernels
