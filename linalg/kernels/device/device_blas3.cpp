// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/kernels/device/device_kernels.hpp>
#include <granary/detail/linalg/kernels/device/lane_of.hpp>
#include <granary/detail/linalg/kernels/tile_blas3.hpp>

namespace granary::kernels {

template <class T>
void gemm(DeviceLane const& lane, Op op_a, Op op_b, typename NotDeduced<T>::type alpha, ConstTileView<T> a,
          ConstTileView<T> b, typename NotDeduced<T>::type beta, TileView<T> c) {
  by_flags::gemm<DeviceBlas, T>(blas_of(lane), op_a, op_b, alpha, a, b, beta, c);
}

template <class T>
void syrk(DeviceLane const& lane, Uplo uplo, Op op, typename NotDeduced<T>::type alpha, ConstTileView<T> a,
          typename NotDeduced<T>::type beta, TileView<T> c) {
  by_flags::syrk<DeviceBlas, T>(blas_of(lane), uplo, op, alpha, a, beta, c);
}

template <class T>
void herk(DeviceLane const& lane, Uplo uplo, Op op, RealOf<typename NotDeduced<T>::type> alpha, ConstTileView<T> a,
          RealOf<typename NotDeduced<T>::type> beta, TileView<T> c) {
  by_flags::herk<DeviceBlas, T>(blas_of(lane), uplo, op, alpha, a, beta, c);
}

template <class T>
void hemm(DeviceLane const& lane, Side side, Uplo uplo, typename NotDeduced<T>::type alpha, ConstTileView<T> a,
          ConstTileView<T> b, typename NotDeduced<T>::type beta, TileView<T> c) {
  by_flags::hemm<DeviceBlas, T>(blas_of(lane), side, uplo, alpha, a, b, beta, c);
}

template <class T>
void trsm(DeviceLane const& lane, Side side, Uplo uplo, Op op, Diag diag, typename NotDeduced<T>::type alpha,
          ConstTileView<T> a, TileView<T> b) {
  by_flags::trsm<DeviceBlas, T>(blas_of(lane), side, uplo, op, diag, alpha, a, b);
}

template <class T>
void trmm(DeviceLane const& lane, Side side, Uplo uplo, Op op, Diag diag, typename NotDeduced<T>::type alpha,
          ConstTileView<T> a, TileView<T> b) {
  by_flags::trmm<DeviceBlas, T>(blas_of(lane), side, uplo, op, diag, alpha, a, b);
}

template <class T>
void potrf(DeviceLane const& lane, Uplo uplo, TileView<T> a) {
  by_flags::potrf<DeviceBlas, T>(blas_of(lane), uplo, a);
}

template <class T>
void trtri(DeviceLane const& lane, Uplo uplo, Diag diag, TileView<T> a) {
  by_flags::trtri<DeviceBlas, T>(blas_of(lane), uplo, diag, a);
}

template <class T>
void lauum(DeviceLane const& lane, Uplo uplo, TileView<T> a) {
  by_flags::lauum<DeviceBlas, T>(blas_of(lane), uplo, a);
}

#define GRANARY_INSTANTIATE(T)                                                                                \
  template void gemm(DeviceLane const&, Op, Op, T, TileView<T const>, TileView<T const>, T, TileView<T>);     \
  template void syrk(DeviceLane const&, Uplo, Op, T, TileView<T const>, T, TileView<T>);                      \
  template void herk(DeviceLane const&, Uplo, Op, RealOf<T>, TileView<T const>, RealOf<T>, TileView<T>);      \
  template void hemm(DeviceLane const&, Side, Uplo, T, TileView<T const>, TileView<T const>, T, TileView<T>); \
  template void trsm(DeviceLane const&, Side, Uplo, Op, Diag, T, TileView<T const>, TileView<T>);             \
  template void trmm(DeviceLane const&, Side, Uplo, Op, Diag, T, TileView<T const>, TileView<T>);             \
  template void potrf(DeviceLane const&, Uplo, TileView<T>);                                                  \
  template void trtri(DeviceLane const&, Uplo, Diag, TileView<T>);                                            \
  template void lauum(DeviceLane const&, Uplo, TileView<T>);
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary::kernels
