// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/data/blas_enums.hpp>
#include <granary/detail/linalg/data/scalar.hpp>

#include <cstddef>
#include <type_traits>

namespace granary::detail {

/// A rows x cols matrix in memory, without ownership; ld is the distance in entries between two columns (column-major)
/// or two rows (row-major).
template <class T>
struct GRANARY_EXPORT TileView {
  T* data = nullptr;
  int rows = 0;
  int cols = 0;
  int ld = 1;
  TileLayout layout = TileLayout::ColumnMajor;

  /// Entry (i, j) in any layout, unchecked.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION T& operator()(int i, int j) const {
    auto const major = layout == TileLayout::ColumnMajor ? j : i;
    auto const minor = layout == TileLayout::ColumnMajor ? i : j;
    return data[static_cast<std::ptrdiff_t>(major) * ld + minor];
  }

  /// Converts like T* to T const*.
  operator TileView<T const>() const requires(!std::is_const_v<T>) { return {data, rows, cols, ld, layout}; }
};

/// Excludes a parameter from template argument deduction, so that a TileView<T> can be passed as a read-only operand.
template <class T>
struct GRANARY_EXPORT NotDeduced {
  using type = T;
};
template <class T>
using ConstTileView = typename NotDeduced<TileView<T const>>::type;

}  // namespace granary::detail
