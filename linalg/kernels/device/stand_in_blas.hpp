// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/model/lane_storage.hpp>
#include <granary/detail/linalg/kernels/blas.hpp>
#include <granary/detail/linalg/kernels/kernel_choice.hpp>

#include <cstddef>
#include <span>

namespace granary::kernels {

/// Stands in for the vendor's library where Kokkos has no device, for tests of what surrounds it: the host's BLAS and
/// LAPACK, at once. See VendorBlas. Factorizations want a workspace, as those of vendors do: eight entries a column.
class StandInBlas {
 public:
  StandInBlas(LaneStorage&, void const*) {}

  template <class T>
  void gemm(Op op_a, Op op_b, T alpha, Block<T const> a, Block<T const> b, T beta, Block<T> c) const {
    blas::gemm(op_a, op_b, c.rows, c.cols, inner_of(op_a, a), alpha, a.data, a.ld, b.data, b.ld, beta, c.data, c.ld);
  }
  template <class T>
  void syrk(Uplo uplo, Op op, T alpha, Block<T const> a, T beta, Block<T> c) const {
    blas::syrk(uplo, op, c.rows, inner_of(op, a), alpha, a.data, a.ld, beta, c.data, c.ld);
  }
  template <class T>
  void herk(Uplo uplo, Op op, RealOf<T> alpha, Block<T const> a, RealOf<T> beta, Block<T> c) const {
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
  template <class T>
  [[nodiscard]] std::size_t potrf(Uplo uplo, Block<T> a, int* info, std::span<std::byte> workspace) const {
    if (needed_for(a) > workspace.size()) return needed_for(a);
    *info = blas::potrf(uplo, a.rows, a.data, a.ld);
    return 0;
  }
  template <class T>
  [[nodiscard]] std::size_t getrf(Block<T> a, int* pivots, int* info, std::span<std::byte> workspace) const {
    if (needed_for(a) > workspace.size()) return needed_for(a);
    *info = blas::getrf(a.rows, a.cols, a.data, a.ld, pivots);
    return 0;
  }

 private:
  template <class T>
  [[nodiscard]] static int inner_of(Op op, Block<T const> const& a) {
    return op == Op::NoTrans ? a.cols : a.rows;
  }
  template <class T>
  [[nodiscard]] static std::size_t needed_for(Block<T> const& a) {
    return static_cast<std::size_t>(a.cols) * 8 * sizeof(T);
  }
};

}  // namespace granary::kernels
