// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/kernels/device/device_lane.hpp>
#include <granary/detail/linalg/kernels/portable/elementwise.hpp>
#include <granary/detail/linalg/kernels/portable/inverse.hpp>
#include <granary/detail/linalg/kernels/portable/product.hpp>
#include <granary/detail/linalg/kernels/stored_tile.hpp>

#include <algorithm>
#include <cstdint>

namespace granary::kernels {

template <class Info>
struct StoreInfo {
  Info const* from;
  std::int64_t* to;

  KOKKOS_FUNCTION void operator()(std::int64_t) const { *to = *from; }
};

/// Sets an info that is 0, or larger, to the first NaN pivot of a Cholesky factor, as LAPACK does: a vendor's library
/// may continue after NaN.
template <class T>
struct ReportNanPivots {
  Block<T const> factor;
  int* info;

  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    auto const pivot = detail::real_part(factor.data[k * (std::int64_t{factor.ld} + 1)]);
    if (pivot == pivot) return;
    int before = *info;
    while (before == 0 || k + 1 < before) {
      int const found = Kokkos::atomic_compare_exchange(info, before, static_cast<int>(k + 1));
      if (found == before) return;
      before = found;
    }
  }
};

/// The info of a factorization in parts: the first that is not 0. `part` is the info of the part that begins at row
/// `first`.
struct InfoOfParts {
  int* part;
  int* whole;
  int first = 0;

  KOKKOS_FUNCTION void operator()(std::int64_t) const {
    if (*part != 0 && *whole == 0) *whole = first + *part;
  }
};

struct ClearInfo {
  int* info;

  KOKKOS_FUNCTION void operator()(std::int64_t) const { *info = 0; }
};

/// Exchanges rows as LAPACK's pivots say, in one column per call.
template <class T>
struct ExchangeRows {
  portable::Strided<T> a;
  int const* pivots;
  int count;

  KOKKOS_FUNCTION void operator()(std::int64_t column) const {
    int const j = static_cast<int>(column);
    for (int k = 0; k < count; ++k) {
      T const value = a(k, j);
      a(k, j) = a(pivots[k] - 1, j);
      a(pivots[k] - 1, j) = value;
    }
  }
};

struct ShiftPivots {
  int* pivots;
  int by;

  KOKKOS_FUNCTION void operator()(std::int64_t k) const { pivots[k] += by; }
};

/// The operations on Blocks that tile_blas3.hpp needs, and LAPACK's, on an execution space: the vendor's library if it
/// has them, otherwise portable kernels. They do not wait. Where the vendor's factorizations need more than the lane's
/// workspace, they factor halves, down to blocks of order 32: if these need more, DeviceError is thrown.
template <class Space, class Vendor>
class LaneBlas {
 public:
  LaneBlas(Space const& space, Vendor const& vendor, std::span<std::byte> workspace,
           detail::KernelReport* report = nullptr)
      : m_space(space), m_vendor(vendor), m_workspace(workspace), m_report(report) {}

  using space_type = Space;

  [[nodiscard]] Space const& space() const { return m_space; }
  [[nodiscard]] std::span<std::byte> workspace() const { return m_workspace; }
  [[nodiscard]] detail::KernelReport* report() const { return m_report; }

  template <class T>
  void multiply(StoredOp op_a, StoredOp op_b, T alpha, Block<T const> a, Block<T const> b, T beta, Block<T> c) const {
    using portable::factor_of;
    using portable::strided;
    int const k = op_a.op == Op::NoTrans ? a.cols : a.rows;
    if (!op_a.conjugated && !op_b.conjugated && k > 0 && !(alpha == T(0))) {
      return m_vendor.template gemm<T>(op_a.op, op_b.op, alpha, a, b, beta, c);
    }
    portable::Product<T>(alpha, factor_of<T>(op_a.op, op_a.conjugated, strided(a)),
                         factor_of<T>(op_b.op, op_b.conjugated, strided(b)), beta, strided(c))
        .launch(m_space);
  }

  template <class T>
  void syrk(Uplo uplo, Op op, T alpha, Block<T const> a, T beta, Block<T> c) const {
    m_vendor.template syrk<T>(uplo, op, alpha, a, beta, c);
  }

  template <class T>
  void herk(Uplo uplo, Op op, detail::RealOf<T> alpha, Block<T const> a, detail::RealOf<T> beta, Block<T> c) const {
    m_vendor.template herk<T>(uplo, op, alpha, a, beta, c);
  }

  template <class T>
  void hemm(Side side, Uplo uplo, T alpha, Block<T const> a, Block<T const> b, T beta, Block<T> c) const {
    m_vendor.template hemm<T>(side, uplo, alpha, a, b, beta, c);
  }
  template <class T>
  void hemm_mixed(Side side, Uplo uplo, T alpha, detail::TileView<T const> a, detail::TileView<T const> b, T beta,
                  detail::TileView<T> c) const {
    multiply_hermitian<T>(side, uplo, alpha, portable::strided(a), portable::strided(b), beta, portable::strided(c));
  }

  template <class T>
  void trsm(Side side, Uplo uplo, Op op, Diag diag, T alpha, Block<T const> a, Block<T> b) const {
    m_vendor.template trsm<T>(side, uplo, op, diag, alpha, a, b);
  }

  template <class T>
  void trmm(Side side, Uplo uplo, Op op, Diag diag, T alpha, Block<T const> a, Block<T> b) const {
    m_vendor.template trmm<T>(side, uplo, op, diag, alpha, a, b);
  }

  template <class T>
  void conjugate(Block<T> x) const {
    portable::for_each("granary::conjugate", m_space, static_cast<std::int64_t>(x.rows) * x.cols,
                       portable::Conjugate<T>(portable::strided(x)));
  }
  template <class T>
  void conjugate(Uplo uplo, Block<T> x) const {
    portable::for_each("granary::conjugate", m_space, static_cast<std::int64_t>(x.rows) * x.cols,
                       portable::Conjugate<T>(portable::strided(x), part(uplo)));
  }

  /// Sets the report's info to LAPACK's.
  template <class T>
  void potrf(Uplo uplo, Block<T> a) const {
    if (a.rows == 0) return;
    LaneScratch scratch(m_workspace);
    auto* const info = scratch.take<int>(1);
    if (m_vendor.template potrf<T>(uplo, a, info, scratch.rest()) > 0) {
      InfoOfParts const infos{scratch.take<int>(1), info};
      portable::for_each("granary::potrf::begin", m_space, 1, ClearInfo{info});
      potrf_in_parts(uplo, a, infos, scratch);
    }
    portable::for_each("granary::potrf::nan", m_space, a.rows, ReportNanPivots<T>{a, info});
    portable::for_each("granary::potrf::report", m_space, 1, StoreInfo<int>{info, &m_report->info});
  }

  /// Sets the report's info to LAPACK's.
  template <class T>
  void trtri(Side side, Uplo uplo, Diag diag, Block<T> a) const {
    LaneScratch scratch(m_workspace);
    auto* const info = scratch.take<int>(1);
    portable::report_zero_diagonal<T>(m_space, diag, a, info);
    portable::for_each("granary::trtri::report", m_space, 1, StoreInfo<int>{info, &m_report->info});
    auto* const block = scratch.take<T>(portable::inverse_block_entries);
    portable::trtri<T>(*this, side, uplo, diag, a, [&](portable::Strided<T> const& l, Diag ones) {
      portable::Strided<T> const x{block, l.rows, l.rows, 1, l.rows};
      bool const unit = ones == Diag::Unit;
      portable::for_each("granary::trtri::columns", m_space, l.rows, portable::InvertColumn<T>{l, x, unit});
      portable::for_each("granary::trtri::store", m_space, portable::count_of(x), portable::StoreLower<T>{x, l, unit});
    });
  }
  template <class T>
  void lauum(Uplo uplo, Block<T> a) const {
    auto* const scratch = LaneScratch(m_workspace).take<T>(portable::inverse_block_entries);
    portable::lauum<T>(*this, uplo, a, [&](portable::Strided<T> const& l) {
      portable::Strided<T> const x{scratch, l.rows, l.rows, 1, l.rows};
      portable::for_each("granary::lauum::entries", m_space, portable::count_of(x), portable::SquareEntry<T>{l, x});
      portable::for_each("granary::lauum::store", m_space, portable::count_of(x), portable::StoreLower<T>{x, l, false});
    });
  }

  /// Partial pivoting; pivots, from 1, and info are LAPACK's, on the device.
  template <class T>
  void getrf(Block<T> a, int* pivots, int* info, std::span<std::byte> workspace) const {
    if (m_vendor.template getrf<T>(a, pivots, info, workspace) == 0) return;
    LaneScratch scratch(workspace);
    InfoOfParts const infos{scratch.take<int>(1), info};
    portable::for_each("granary::getrf::begin", m_space, 1, ClearInfo{info});
    getrf_in_parts(a, pivots, infos, scratch);
  }

 private:
  [[nodiscard]] static MatrixPart part(Uplo uplo) {
    return uplo == Uplo::Lower ? MatrixPart::Lower : MatrixPart::Upper;
  }

  template <class T>
  void multiply_hermitian(Side side, Uplo uplo, T alpha, portable::Strided<T const> const& a,
                          portable::Strided<T const> const& b, T beta, portable::Strided<T> const& c) const {
    portable::Factor<T> const hermitian{a, false, part(uplo)}, other{b};
    bool const left = side == Side::Left;
    portable::Product<T>(alpha, left ? hermitian : other, left ? other : hermitian, beta, c).launch(m_space);
  }

  template <class T>
  void potrf_in_parts(Uplo uplo, Block<T> a, InfoOfParts infos, LaneScratch scratch) const {
    if (auto const needed = m_vendor.template potrf<T>(uplo, a, infos.part, scratch.rest()); needed == 0) {
      return portable::for_each("granary::potrf::info", m_space, 1, infos);
    } else if (a.rows <= portable::inverse_block) {
      static_cast<void>(scratch.take<std::byte>(needed));  // throws
    }
    portable::HalvedTriangle<T> const part(uplo, a);
    bool const lower = uplo == Uplo::Lower;
    potrf_in_parts(uplo, part.first, infos, scratch);
    trsm<T>(lower ? Side::Right : Side::Left, uplo, Op::ConjTrans, Diag::NonUnit, T(1), part.first, part.between);
    herk<T>(uplo, lower ? Op::NoTrans : Op::ConjTrans, -1, part.between, 1, part.last);
    infos.first += part.first.rows;
    potrf_in_parts(uplo, part.last, infos, scratch);
  }

  template <class T>
  void getrf_in_parts(Block<T> a, int* pivots, InfoOfParts infos, LaneScratch scratch) const {
    int const m = a.rows, n = a.cols;
    if (auto const needed = m_vendor.template getrf<T>(a, pivots, infos.part, scratch.rest()); needed == 0) {
      return portable::for_each("granary::getrf::info", m_space, 1, infos);
    } else if (n <= m && n <= portable::inverse_block) {
      static_cast<void>(scratch.take<std::byte>(needed));  // throws
    }
    int const h = n > m ? m : (n / 2 + portable::inverse_block - 1) / portable::inverse_block * portable::inverse_block;
    auto const left = a.sub(0, 0, m, h), right = a.sub(0, h, m, n - h), top = a.sub(0, h, h, n - h);
    getrf_in_parts(left, pivots, infos, scratch);
    exchange_rows(right, pivots, h);
    trsm<T>(Side::Left, Uplo::Lower, Op::NoTrans, Diag::Unit, T(1), left.sub(0, 0, h, h), top);
    if (h == m) return;
    auto const below = left.sub(h, 0, m - h, h), rest = right.sub(h, 0, m - h, n - h);
    multiply<T>({}, {}, T(-1), below, top, T(1), rest);
    infos.first += h;
    getrf_in_parts(rest, pivots + h, infos, scratch);
    int const count = std::min(rest.rows, rest.cols);
    exchange_rows(below, pivots + h, count);
    portable::for_each("granary::getrf::pivots", m_space, count, ShiftPivots{pivots + h, h});
  }
  template <class T>
  void exchange_rows(Block<T> a, int const* pivots, int count) const {
    portable::for_each("granary::getrf::exchange", m_space, a.cols,
                       ExchangeRows<T>{portable::strided(a), pivots, count});
  }

  Space const& m_space;
  Vendor m_vendor;
  std::span<std::byte> m_workspace;
  detail::KernelReport* m_report;
};

}  // namespace granary::kernels
