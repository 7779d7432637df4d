// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/kernels/device/lane_blas.hpp>
#include <granary/detail/linalg/kernels/portable/exchanges.hpp>
#include <granary/detail/linalg/kernels/portable/lu_blocks.hpp>
#include <granary/detail/linalg/kernels/tile_blas3.hpp>

#include <algorithm>

/// The factorizations of lu_kernels.hpp on a LaneBlas, with the same recursions; decisions that depend on values are
/// made on the device.
namespace granary::kernels::lane_lu {

using portable::block_order;
using portable::strided;

template <class T>
[[nodiscard]] std::int64_t count_of(detail::TileView<T> const& a) {
  return static_cast<std::int64_t>(a.rows) * a.cols;
}

template <class Space, class From, class To>
void copy(Space const& space, portable::Strided<From const> const& from, portable::Strided<To> const& to) {
  portable::for_each("granary::copy", space, portable::count_of(to),
                     portable::Copy<From, To>(MatrixPart::All, false, from, to));
}

/// B := B U^-1; columns of B for a zero pivot are not divided.
template <class Blas, class T>
void trsm_ru_skip(Blas const& blas, detail::TileView<T const> const& u, detail::TileView<T> const& b) {
  int const n = u.cols;
  if (n <= block_order) {
    portable::for_each("granary::trsm_ru_skip", blas.space(), b.rows,
                       portable::SolveRowsSkipping<T>{strided(u), strided(b)});
    return;
  }
  int const h = (n / 2 + block_order - 1) / block_order * block_order;
  auto const first = sub(b, 0, 0, b.rows, h), last = sub(b, 0, h, b.rows, n - h);
  trsm_ru_skip<Blas, T>(blas, sub(u, 0, 0, h, h), first);
  by_flags::gemm<Blas, T>(blas, Op::NoTrans, Op::NoTrans, T(-1), first, sub(u, 0, h, h, n - h), T(1), last);
  trsm_ru_skip<Blas, T>(blas, sub(u, h, h, n - h, n - h), last);
}

/// A := L U; A begins `offset` rows below the first row of the factorization.
template <class Blas, class T>
void factor(Blas const& blas, portable::PivotState const& state, detail::TileView<T> const& a, int offset) {
  using Space = std::remove_cvref_t<decltype(blas.space())>;
  int const m = a.rows, n = a.cols;
  if (n <= block_order && m >= n) {
    portable::FactorBlock<Space, T> const block{strided(sub(a, 0, 0, n, n)), state, offset};
    portable::for_each_team("granary::getrf_nopiv::block", blas.space(), 1, block.scratch(), block);
    trsm_ru_skip<Blas, T>(blas, sub(a, 0, 0, n, n), sub(a, n, 0, m - n, n));
    return;
  }
  int const square = std::min(m, n);
  int const h = n > m ? m : (square / 2 + block_order - 1) / block_order * block_order;
  auto const left = sub(a, 0, 0, m, h);
  factor<Blas, T>(blas, state, left, offset);
  auto const right = sub(a, 0, h, h, n - h);
  by_flags::trsm<Blas, T>(blas, Side::Left, Uplo::Lower, Op::NoTrans, Diag::Unit, T(1), sub(left, 0, 0, h, h), right);
  if (h == m) return;
  auto const rest = sub(a, h, h, m - h, n - h);
  by_flags::gemm<Blas, T>(blas, Op::NoTrans, Op::NoTrans, T(-1), sub(left, h, 0, m - h, h), right, T(1), rest);
  factor<Blas, T>(blas, state, rest, offset + h);
}

/// Without pivoting; the report's info and value describe the first bad pivot, see kernels::getrf_nopiv.
template <class Blas, class T>
void getrf_nopiv(Blas const& blas, double tiny, detail::TileView<T> const& a) {
  if (a.rows == 0 || a.cols == 0) return;
  LaneScratch scratch(blas.workspace());
  portable::PivotState state{&blas.report()->info, &blas.report()->value, tiny};
  if (tiny > 0) {
    auto* const largest = scratch.take<double>(1);
    portable::max_modulus<typename Blas::space_type, T>(blas.space(), MatrixPart::All, a, largest);
    state.largest = largest;
  }
  factor<Blas, T>(blas, state, a, 0);
}

struct ClearState {
  std::int64_t* info;
  int* unbounded;

  KOKKOS_FUNCTION void operator()(std::int64_t) const {
    *info = 0;
    *unbounded = 0;
  }
};

/// See kernels::getrf_bounded; zero_pivot := first + its result, or 0.
template <class Blas, class T>
void getrf_bounded(Blas const& blas, detail::TileView<T> const& a, T* workspace, std::int64_t first,
                   std::int64_t* zero_pivot) {
  using Space = typename Blas::space_type;
  LaneScratch scratch(blas.workspace());
  ClearState const state{scratch.take<std::int64_t>(1), scratch.take<int>(1)};
  portable::for_each("granary::getrf_bounded::begin", blas.space(), 1, state);
  auto const tile = strided(a);
  portable::Strided<T> const before{workspace, a.rows, a.cols, a.cols, 1};
  copy<Space, T, T>(blas.space(), tile, before);
  if (a.rows > 0 && a.cols > 0) factor<Blas, T>(blas, {.info = state.info, .stop = false}, a, 0);
  portable::for_each("granary::getrf_bounded::check", blas.space(), std::min(a.rows, a.cols),
                     portable::FindSmallPivot<T>{tile, state.unbounded});
  portable::for_each_team("granary::getrf_bounded::repeat", blas.space(), 1, 0,
                          portable::BoundBlock<Space, T>{tile, before, state.unbounded, state.info, first, zero_pivot});
}

}  // namespace granary::kernels::lane_lu
