// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/kernels/device/device_kernels.hpp>
#include <granary/detail/linalg/kernels/portable/elementwise.hpp>
#include <granary/detail/linalg/kernels/stored_tile.hpp>

namespace granary::kernels {
namespace {

using portable::for_each;
using portable::strided;

template <class A, class B>
void require_equal_extents(char const* kernel, detail::TileView<A> const& a, detail::TileView<B> const& b) {
  require(a.rows == b.rows && a.cols == b.cols, kernel,
          "A " + extents(a.rows, a.cols) + " and B " + extents(b.rows, b.cols));
}

}  // namespace

template <class From, class To>
void copy(DeviceLane const& lane, MatrixPart part, bool conjugated, detail::TileView<From const> a,
          detail::TileView<To> b, bool zero_outside) {
  require_equal_extents("copy", a, b);
  auto const to = strided(b);
  for_each("granary::copy", lane.space, portable::count_of(to),
           portable::Copy<From, To>(part, conjugated, strided(a), to, zero_outside));
}

template <class T>
void set(DeviceLane const& lane, MatrixPart part, T off_diagonal, T diagonal, detail::TileView<T> a,
         bool zero_outside) {
  auto const to = strided(a);
  for_each("granary::set", lane.space, portable::count_of(to),
           portable::Set<T>(part, off_diagonal, diagonal, to, zero_outside));
}

template <class T>
void add(DeviceLane const& lane, MatrixPart part, typename detail::NotDeduced<T>::type alpha,
         detail::ConstTileView<T> a, typename detail::NotDeduced<T>::type beta, detail::TileView<T> b,
         bool zero_outside) {
  require_equal_extents("add", a, b);
  auto const to = strided(b);
  for_each("granary::add", lane.space, portable::count_of(to),
           portable::Add<T>(part, alpha, strided(a), beta, to, zero_outside));
}

template <class T>
void add_column_squares(DeviceLane const& lane, bool first, detail::TileView<T const> a, detail::TileView<T> d) {
  for_each("granary::add_column_squares", lane.space, a.cols,
           portable::AddColumnSquares<T>{strided(a), strided(d), first});
}

template <class T>
void max_modulus(DeviceLane const& lane, MatrixPart part, detail::TileView<T const> a, double* largest) {
  portable::max_modulus<detail::DeviceExecutionSpace, T>(lane.space, part, a, largest);
}

template <class T>
void find_not_finite(DeviceLane const& lane, MatrixPart part, bool hermitian, detail::TileView<T const> a) {
  LaneScratch scratch(lane.workspace);
  auto* const first = scratch.take<std::int64_t>(1);
  portable::FiniteEntries<T> const searched(part, hermitian, strided(a));
  for_each("granary::finite::begin", lane.space, 1, portable::NoneFound{first});
  for_each("granary::finite", lane.space, portable::count_of(searched.a), portable::FindNotFinite<T>{searched, first});
  for_each("granary::finite::report", lane.space, 1,
           portable::ReportNotFinite<T>{searched, first, &lane.report.info, &lane.report.value});
}

template <class T>
void column_maxima(DeviceLane const& lane, detail::TileView<T const> a, bool is_first, double* largest) {
  if (is_first) for_each("granary::column_maxima::begin", lane.space, a.cols, portable::SetNumber{largest, 0});
  portable::RaiseModuli<T> const raise(MatrixPart::All, strided(a), largest, 1);
  for_each("granary::column_maxima", lane.space, raise.count(), raise);
}

#define GRANARY_INSTANTIATE(T, Other)                                                                                \
  template void copy(DeviceLane const&, MatrixPart, bool, detail::TileView<T const>, detail::TileView<T>, bool);     \
  template void copy(DeviceLane const&, MatrixPart, bool, detail::TileView<T const>, detail::TileView<Other>, bool); \
  template void set(DeviceLane const&, MatrixPart, T, T, detail::TileView<T>, bool);                                 \
  template void add(DeviceLane const&, MatrixPart, T, detail::TileView<T const>, T, detail::TileView<T>, bool);      \
  template void add_column_squares(DeviceLane const&, bool, detail::TileView<T const>, detail::TileView<T>);         \
  template void max_modulus(DeviceLane const&, MatrixPart, detail::TileView<T const>, double*);                      \
  template void find_not_finite(DeviceLane const&, MatrixPart, bool, detail::TileView<T const>);                     \
  template void column_maxima(DeviceLane const&, detail::TileView<T const>, bool, double*);
GRANARY_INSTANTIATE(float, double)
GRANARY_INSTANTIATE(double, float)
GRANARY_INSTANTIATE(Kokkos::complex<float>, Kokkos::complex<double>)
GRANARY_INSTANTIATE(Kokkos::complex<double>, Kokkos::complex<float>)
#undef GRANARY_INSTANTIATE

}  // namespace granary::kernels
