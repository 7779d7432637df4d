// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/data/tile_grid.hpp>
#include <granary/detail/linalg/kernels/device/device_lane.hpp>
#include <granary/detail/linalg/kernels/tile_kernels.hpp>

#include <cstdint>
#include <span>

/// The kernels of tile_kernels.hpp, elementwise_kernels.hpp and lu_kernels.hpp on a device's lane: the same operations
/// on tiles in device memory, enqueued on the lane's stream. kernel_choice.hpp lists the implementations. They do not
/// wait or allocate; decisions that depend on values are made on the device. DeviceError is thrown if a kernel needs
/// more than the lane's workspace.
namespace granary::kernels {

template <class T>
GRANARY_EXPORT void gemm(DeviceLane const& lane, Op op_a, Op op_b, typename detail::NotDeduced<T>::type alpha,
                         detail::ConstTileView<T> a, detail::ConstTileView<T> b,
                         typename detail::NotDeduced<T>::type beta, detail::TileView<T> c);
template <class T>
GRANARY_EXPORT void syrk(DeviceLane const& lane, Uplo uplo, Op op, typename detail::NotDeduced<T>::type alpha,
                         detail::ConstTileView<T> a, typename detail::NotDeduced<T>::type beta, detail::TileView<T> c);
template <class T>
GRANARY_EXPORT void herk(DeviceLane const& lane, Uplo uplo, Op op,
                         detail::RealOf<typename detail::NotDeduced<T>::type> alpha, detail::ConstTileView<T> a,
                         detail::RealOf<typename detail::NotDeduced<T>::type> beta, detail::TileView<T> c);
template <class T>
GRANARY_EXPORT void hemm(DeviceLane const& lane, Side side, Uplo uplo, typename detail::NotDeduced<T>::type alpha,
                         detail::ConstTileView<T> a, detail::ConstTileView<T> b,
                         typename detail::NotDeduced<T>::type beta, detail::TileView<T> c);
template <class T>
GRANARY_EXPORT void trsm(DeviceLane const& lane, Side side, Uplo uplo, Op op, Diag diag,
                         typename detail::NotDeduced<T>::type alpha, detail::ConstTileView<T> a, detail::TileView<T> b);
template <class T>
GRANARY_EXPORT void trmm(DeviceLane const& lane, Side side, Uplo uplo, Op op, Diag diag,
                         typename detail::NotDeduced<T>::type alpha, detail::ConstTileView<T> a, detail::TileView<T> b);

/// Sets the report's info to 0, or to the order of the leading minor that is not positive definite.
template <class T>
GRANARY_EXPORT void potrf(DeviceLane const& lane, Uplo uplo, detail::TileView<T> a);

/// Sets the report's info to 0, or to the number of the first diagonal entry that is zero.
template <class T>
GRANARY_EXPORT void trtri(DeviceLane const& lane, Uplo uplo, Diag diag, detail::TileView<T> a);
template <class T>
GRANARY_EXPORT void lauum(DeviceLane const& lane, Uplo uplo, detail::TileView<T> a);

/// BadPivot::Stop with the limit tiny * max |a_ij|. Sets the report's info and value to the number and the modulus of
/// the first bad pivot.
template <class T>
GRANARY_EXPORT void getrf_nopiv(DeviceLane const& lane, double tiny, detail::TileView<T> a);
/// Sets `zero_pivot`, on the device, to `first` plus the number of the first zero pivot, or to 0. If a pivot
/// is below its rounding errors, one team repeats the factorization.
template <class T>
GRANARY_EXPORT void getrf_bounded(DeviceLane const& lane, detail::TileView<T> a,
                                  typename detail::NotDeduced<T>::type* workspace, std::int64_t first,
                                  std::int64_t* zero_pivot);
template <class T>
GRANARY_EXPORT void trsm_ru_skip(DeviceLane const& lane, detail::ConstTileView<T> u, detail::TileView<T> b);

/// Elements outside the part become zero or stay.
template <class From, class To>
GRANARY_EXPORT void copy(DeviceLane const& lane, MatrixPart part, bool conjugated, detail::TileView<From const> a,
                         detail::TileView<To> b, bool zero_outside);
template <class T>
GRANARY_EXPORT void set(DeviceLane const& lane, MatrixPart part, T off_diagonal, T diagonal, detail::TileView<T> a,
                        bool zero_outside);
template <class T>
GRANARY_EXPORT void add(DeviceLane const& lane, MatrixPart part, typename detail::NotDeduced<T>::type alpha,
                        detail::ConstTileView<T> a, typename detail::NotDeduced<T>::type beta, detail::TileView<T> b,
                        bool zero_outside);

template <class T>
GRANARY_EXPORT void add_column_squares(DeviceLane const& lane, bool first, detail::TileView<T const> a,
                                       detail::TileView<T> d);

/// Sets `largest`, on the device, to max |a_ij| of a part; NaN if an element is.
template <class T>
GRANARY_EXPORT void max_modulus(DeviceLane const& lane, MatrixPart part, detail::TileView<T const> a, double* largest);
/// The same for each column; unless it is the first tile, the result is the maximum with the old value.
template <class T>
GRANARY_EXPORT void column_maxima(DeviceLane const& lane, detail::TileView<T const> a, bool is_first, double* largest);

/// If an element of a part is NaN or infinite, sets the report's info to 1 plus the number of the first one in memory
/// order, counted over the whole tile, and the value to NaN or infinity. With `hermitian`, imaginary parts on the
/// diagonal of a triangle do not count.
template <class T>
GRANARY_EXPORT void find_not_finite(DeviceLane const& lane, MatrixPart part, bool hermitian,
                                    detail::TileView<T const> a);

/// Factors a column of tiles with partial pivoting: in place if `all` is their memory, otherwise gathered there.
/// `exchanges` is the panel's datum, `slots` the number of rows of its top tile, `first` the panel's first row in the
/// matrix.
template <class T>
GRANARY_EXPORT void factor_panel(DeviceLane const& lane, std::span<detail::TileView<T> const> tiles,
                                 detail::TileView<T> all, bool in_place, std::byte* exchanges, int slots,
                                 std::int64_t first);

/// Rows that compete in a round of a tournament. Their rows in the matrix are `numbers`, on the device, or consecutive
/// from `first` on.
template <class T>
struct GRANARY_EXPORT CompetingRows {
  detail::TileView<T const> values;
  std::int64_t const* numbers = nullptr;
  std::int64_t first = 0;
};
/// The rows that partial pivoting selects: their numbers and their original values. `workspace` has room for all
/// competing rows.
template <class T>
GRANARY_EXPORT void select_rows(DeviceLane const& lane, std::span<CompetingRows<T> const> parts, T* workspace,
                                std::int64_t* rows, detail::TileView<T> values);
/// The exchanges that move the selected rows to the rows from `first` on; the top tile has `slots` rows.
template <class T>
GRANARY_EXPORT void final_rows(DeviceLane const& lane, std::span<CompetingRows<T> const> parts, T* workspace,
                               std::byte* exchanges, std::int64_t first, int slots);

/// Exchanges rows of the top tile with rows of lower tiles, from row `first_lower` on, as in `exchanges`. Undoes the
/// permutation of the top tile `before`, or applies it `after`.
template <class T>
GRANARY_EXPORT void swap_rows(DeviceLane const& lane, std::byte* exchanges, detail::TileView<T> top,
                              std::span<detail::TileView<T> const> lower, std::int64_t first_lower, bool before,
                              bool after);

}  // namespace granary::kernels
