// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/kernels/tile_kernels.hpp>

#include <span>
#include <vector>

namespace granary::kernels {

/// Columns of a panel that Panel copies at a time.
inline constexpr int panel_block = 64;

/// A panel whose tiles lie one below the other, as many rows each, fewer in the last one, and the steps of its
/// factorization P A = L U with partial pivoting. Tiles that follow each other in memory are one tile. The panel has as
/// many columns as its first tile has rows, or fewer, unless it is of one tile.
template <class T>
class GRANARY_EXPORT Panel {
 public:
  /// `pivots`, one for each column, LAPACK's but from 0, and the workspace outlive the panel; the latter has room for
  /// panel_block columns of all tiles.
  Panel(std::span<detail::TileView<T> const> tiles, T* workspace, int* pivots);

  [[nodiscard]] int rows() const { return m_rows; }
  [[nodiscard]] int cols() const { return m_tiles.front().cols; }

  /// Factors columns [first, end) from row `first` on, which have all updates of the columns on their left. Returns the
  /// first zero pivot, from 1; 0: none. Recursive, as in LAPACK: the columns are halved; at most panel_block columns
  /// are gathered in the workspace and factored there by LAPACK, or where they are if that is one column-major tile.
  /// With NaNs LAPACK may return rows that do not exist: these are not exchanged.
  int factor(int first, int end);
  /// Updates columns [left, right) by columns [first, end), which were factored: exchanges, TRSM and GEMM.
  void update(int first, int end, int left, int right);
  /// The exchanges of pivots [first, end) in columns [left, right).
  void exchange(int first, int end, int left, int right);

 private:
  template <class Function>
  void for_rows(int first, Function&& function);
  int factor_block(int first, int end);
  // LAPACK can factor it where it is.
  [[nodiscard]] bool is_one_block() const {
    return m_tiles.size() == 1 && m_tiles.front().layout == detail::TileLayout::ColumnMajor;
  }

  std::vector<detail::TileView<T>> m_tiles;
  T* m_workspace;
  int* m_pivots;
  int m_height;  // of all tiles but the last
  int m_rows = 0;
};

struct GRANARY_EXPORT PanelPivots {
  int zero = 0;               ///< the first zero pivot, from 1; 0: none
  std::vector<int> pivots{};  ///< LAPACK's, from 0
};

/// A := P L U of a panel of any shape, by blocks of `block` columns: each block is factored and updates the later ones,
/// one by one, so that tasks on these blocks compute the same bits. m n² - n³/3 flops.
template <class T>
[[nodiscard]] GRANARY_EXPORT PanelPivots getrf_panel(std::span<detail::TileView<T> const> tiles,
                                                     typename detail::NotDeduced<T>::type* workspace, int block);

/// The tiles of a stack, one below the other, as one tile, if they follow each other in memory; else one without
/// elements and `data` null.
template <class T>
[[nodiscard]] GRANARY_EXPORT detail::TileView<T> as_one(std::span<detail::TileView<T> const> tiles);

}  // namespace granary::kernels
