// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/kernels/device/device_kernels.hpp>
#include <granary/detail/linalg/kernels/device/lane_of.hpp>
#include <granary/detail/linalg/kernels/device/lane_panels.hpp>

#include <type_traits>

namespace granary::kernels {

template <class T>
void getrf_nopiv(DeviceLane const& lane, double tiny, detail::TileView<T> a) {
  lane_lu::getrf_nopiv<DeviceBlas, T>(blas_of(lane), tiny, a);
}

template <class T>
void getrf_bounded(DeviceLane const& lane, detail::TileView<T> a, typename detail::NotDeduced<T>::type* workspace,
                   std::int64_t first, std::int64_t* zero_pivot) {
  lane_lu::getrf_bounded<DeviceBlas, T>(blas_of(lane), a, workspace, first, zero_pivot);
}

template <class T>
void trsm_ru_skip(DeviceLane const& lane, detail::ConstTileView<T> u, detail::TileView<T> b) {
  lane_lu::trsm_ru_skip<DeviceBlas, T>(blas_of(lane), u, b);
}

template <class T>
void factor_panel(DeviceLane const& lane, std::span<detail::TileView<T> const> tiles, detail::TileView<T> all,
                  bool in_place, std::byte* exchanges, int slots, std::int64_t first) {
  lane_lu::factor_panel<DeviceBlas, T>(blas_of(lane), tiles, {all.data, all.rows, all.cols, all.ld}, in_place,
                                       exchanges, slots, first);
}

template <class T>
void select_rows(DeviceLane const& lane, std::span<CompetingRows<T> const> parts, T* workspace, std::int64_t* rows,
                 detail::TileView<T> values) {
  LaneScratch scratch(lane.workspace);
  (void)lane_lu::select<DeviceBlas, T>(blas_of(lane), scratch, parts, workspace, {rows, values});
}

template <class T>
void final_rows(DeviceLane const& lane, std::span<CompetingRows<T> const> parts, T* workspace, std::byte* exchanges,
                std::int64_t first, int slots) {
  lane_lu::final_rows<DeviceBlas, T>(blas_of(lane), parts, workspace, exchanges, first, slots);
}

template <class T>
void swap_rows(DeviceLane const& lane, std::byte* exchanges, detail::TileView<T> top,
               std::span<detail::TileView<T> const> lower, std::int64_t first_lower, bool before, bool after) {
  auto const blas = blas_of(lane);
  portable::ExchangeWords const words(exchanges, top.rows);
  if (before) lane_lu::permute(blas, words, top, true);
  lane_lu::exchange(blas, words, top, lower, first_lower);
  if (after) lane_lu::permute(blas, words, top, false);
}

#define GRANARY_INSTANTIATE(T)                                                                                      \
  template void getrf_nopiv(DeviceLane const&, double, detail::TileView<T>);                                        \
  template void getrf_bounded(DeviceLane const&, detail::TileView<T>, std::add_pointer_t<T>, std::int64_t,          \
                              std::int64_t*);                                                                       \
  template void trsm_ru_skip(DeviceLane const&, detail::TileView<T const>, detail::TileView<T>);                    \
  template void factor_panel(DeviceLane const&, std::span<detail::TileView<T> const>, detail::TileView<T>, bool,    \
                             std::byte*, int, std::int64_t);                                                        \
  template void select_rows(DeviceLane const&, std::span<CompetingRows<T> const>, std::add_pointer_t<T>,            \
                            std::int64_t*, detail::TileView<T>);                                                    \
  template void final_rows(DeviceLane const&, std::span<CompetingRows<T> const>, std::add_pointer_t<T>, std::byte*, \
                           std::int64_t, int);                                                                      \
  template void swap_rows(DeviceLane const&, std::byte*, detail::TileView<T>, std::span<detail::TileView<T> const>, \
                          std::int64_t, bool, bool);
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary::kernels
