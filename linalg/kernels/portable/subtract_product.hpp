// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/backends/kokkos_core.hpp>
#include <granary/detail/linalg/data/scalar.hpp>

#include <algorithm>

/// The common update of the portable factorizations: most of their flops.
namespace granary::kernels::portable {

/// Columns that are factored before the rest of the matrix is updated with them.
inline constexpr int panel_width = 32;

/// Rows [row, row_end) and columns [col, col_end) of a matrix, and the columns [inner, inner_end) of the panel.
struct Trailing {
  int row, row_end, col, col_end, inner, inner_end;
};

/// a(i,j) -= Σ_p a(i,p) a(p,j), or, if adjoint, a(i,j) -= Σ_p a(i,p) conj(a(j,p)) where i >= j. Each work item
/// accumulates a block of 4 x 4 in registers.
template <bool adjoint, class Matrix>
class SubtractProduct {
 public:
  SubtractProduct(Matrix const& a, Trailing const& where)
      : m_a(a), m_where(where), m_row_blocks(blocks(where.row_end - where.row)) {}

  /// Enqueues the update on that instance.
  template <class ExecutionSpace>
  void launch(ExecutionSpace const& instance) const {
    int const count = m_row_blocks * blocks(m_where.col_end - m_where.col);
    if (count == 0) return;
    Kokkos::parallel_for("granary::portable::subtract_product",
                         Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<int>>(instance, 0, count), *this);
  }

  KOKKOS_FUNCTION void operator()(int block) const {
    int const i = m_where.row + block % m_row_blocks * width;
    int const j = m_where.col + block / m_row_blocks * width;
    if (adjoint && i + width <= j) return;
    bool const inside = i + width <= m_where.row_end && j + width <= m_where.col_end;
    if (inside && (!adjoint || i >= j + width - 1)) {
      subtract_whole(i, j);
    } else {
      subtract_clipped(i, j);
    }
  }

 private:
  using T = typename Matrix::non_const_value_type;
  static constexpr int width = 4;
  static int blocks(int extent) { return (extent + width - 1) / width; }

  [[nodiscard]] KOKKOS_INLINE_FUNCTION T right(int p, int j) const {
    if constexpr (adjoint) {
      return conjugate(m_a(j, p));
    } else {
      return m_a(p, j);
    }
  }

  KOKKOS_INLINE_FUNCTION void subtract_whole(int i, int j) const {
    T sum[width][width] = {};
    for (int p = m_where.inner; p < m_where.inner_end; ++p) {
      T left[width];
      for (int r = 0; r < width; ++r) left[r] = m_a(i + r, p);
      for (int c = 0; c < width; ++c) {
        T const factor = right(p, j + c);
        for (int r = 0; r < width; ++r) sum[c][r] += left[r] * factor;
      }
    }
    for (int c = 0; c < width; ++c) {
      for (int r = 0; r < width; ++r) m_a(i + r, j + c) -= sum[c][r];
    }
  }

  KOKKOS_INLINE_FUNCTION void subtract_clipped(int first_row, int first_col) const {
    for (int j = first_col; j < first_col + width && j < m_where.col_end; ++j) {
      for (int i = first_row; i < first_row + width && i < m_where.row_end; ++i) {
        if (adjoint && i < j) continue;
        T sum{};
        for (int p = m_where.inner; p < m_where.inner_end; ++p) sum += m_a(i, p) * right(p, j);
        m_a(i, j) -= sum;
      }
    }
  }

  Matrix m_a;
  Trailing m_where;
  int m_row_blocks;
};

}  // namespace granary::kernels::portable
