// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/kernels/device/device_kernels.hpp>
#include <granary/detail/linalg/kernels/device/lane_of.hpp>
#include <granary/detail/linalg/kernels/tile_blas3.hpp>

namespace granary::kernels {

template <class T>
void gemm(DeviceLane const& lane, Op op_a, Op op_b, typename detail::NotDeduced<T>::type alpha,
          detail::ConstTileView<T> a, detail::ConstTileView<T> b, typename detail::NotDeduced<T>::type beta,
          detail::TileView<T> c) {
  by_flags::gemm<DeviceBlas, T>(blas_of(lane), op_a, op_b, alpha, a, b, beta, c);
}

template <class T>
void syrk(DeviceLane const& lane, Uplo uplo, Op op, typename detail::NotDeduced<T>::type alpha,
          detail::ConstTileView<T> a, typename detail::NotDeduced<T>::type beta, detail::TileView<T> c) {
  by_flags::syrk<DeviceBlas, T>(blas_of(lane), uplo, op, alpha, a, beta, c);
}

template <class T>
void herk(DeviceLane const& lane, Uplo uplo, Op op, detail::RealOf<typename detail::NotDeduced<T>::type> alpha,
          detail::ConstTileView<T> a, detail::RealOf<typename detail::NotDeduced<T>::type> beta,
          detail::TileView<T> c) {
  by_flags::herk<DeviceBlas, T>(blas_of(lane), uplo, op, alpha, a, beta, c);
}

template <class T>
void hemm(DeviceLane const& lane, Side side, Uplo uplo, typename detail::NotDeduced<T>::type alpha,
          detail::ConstTileView<T> a, detail::ConstTileView<T> b, typename detail::NotDeduced<T>::type beta,
          detail::TileView<T> c) {
  by_flags::hemm<DeviceBlas, T>(blas_of(lane), side, uplo, alpha, a, b, beta, c);
}

template <class T>
void trsm(DeviceLane const& lane, Side side, Uplo uplo, Op op, Diag diag, typename detail::NotDeduced<T>::type alpha,
          detail::ConstTileView<T> a, detail::TileView<T> b) {
  by_flags::trsm<DeviceBlas, T>(blas_of(lane), side, uplo, op, diag, alpha, a, b);
}

template <class T>
void trmm(DeviceLane const& lane, Side side, Uplo uplo, Op op, Diag diag, typename detail::NotDeduced<T>::type alpha,
          detail::ConstTileView<T> a, detail::TileView<T> b) {
  by_flags::trmm<DeviceBlas, T>(blas_of(lane), side, uplo, op, diag, alpha, a, b);
}

template <class T>
void potrf(DeviceLane const& lane, Uplo uplo, detail::TileView<T> a) {
  by_flags::potrf<DeviceBlas, T>(blas_of(lane), uplo, a);
}

template <class T>
void trtri(DeviceLane const& lane, Uplo uplo, Diag diag, detail::TileView<T> a) {
  by_flags::trtri<DeviceBlas, T>(blas_of(lane), uplo, diag, a);
}

template <class T>
void lauum(DeviceLane const& lane, Uplo uplo, detail::TileView<T> a) {
  by_flags::lauum<DeviceBlas, T>(blas_of(lane), uplo, a);
}

#define GRANARY_INSTANTIATE(T)                                                                                     \
  template void gemm(DeviceLane const&, Op, Op, T, detail::TileView<T const>, detail::TileView<T const>, T,        \
                     detail::TileView<T>);                                                                         \
  template void syrk(DeviceLane const&, Uplo, Op, T, detail::TileView<T const>, T, detail::TileView<T>);           \
  template void herk(DeviceLane const&, Uplo, Op, detail::RealOf<T>, detail::TileView<T const>, detail::RealOf<T>, \
                     detail::TileView<T>);                                                                         \
  template void hemm(DeviceLane const&, Side, Uplo, T, detail::TileView<T const>, detail::TileView<T const>, T,    \
                     detail::TileView<T>);                                                                         \
  template void trsm(DeviceLane const&, Side, Uplo, Op, Diag, T, detail::TileView<T const>, detail::TileView<T>);  \
  template void trmm(DeviceLane const&, Side, Uplo, Op, Diag, T, detail::TileView<T const>, detail::TileView<T>);  \
  template void potrf(DeviceLane const&, Uplo, detail::TileView<T>);                                               \
  template void trtri(DeviceLane const&, Uplo, Diag, detail::TileView<T>);                                         \
  template void lauum(DeviceLane const&, Uplo, detail::TileView<T>);
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary::kernels
