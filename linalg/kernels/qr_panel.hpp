// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/kernels/column_sweeps.hpp>
#include <granary/detail/linalg/kernels/kernel_choice.hpp>

#include <algorithm>
#include <cstddef>

namespace granary::kernels {

/// The columns of a panel.
struct PanelShape {
  int rows, cols;
  bool stacked;   ///< below an upper triangle R: the one of v_j is in row j of R, which is not a row of the panel
  int full_rows;  ///< column j has full_rows + j + 1 rows, at most `rows`; below them, zeros
};

/// The QR factorization of a few columns, the panel, which the caller fills and reads: R, the vectors V, and the upper
/// triangle T of H_1 H_2 ... = I - V T V^H, as LAPACK's geqrt computes them, or tpqrt for a stack. They are
/// column-major blocks of the workspace, in which V has its ones and zeros. So all products are GEMM, and a panel costs
/// the same in any layout of its tile.
///
/// Recursive (Elmroth, Gustavson: Applying recursion to serial and parallel QR factorization leads to better
/// performance, IBM J. Res. Dev. 44, 2000): the columns are halved; GEMM updates the right half, and computes the block
/// of T between the halves, T_12 = -T_1 (V_1^H V_2) T_2. Up to 8 columns are factored one by one with ColumnSweeps.
template <class T>
class QrPanel {
 public:
  /// Entries of the workspace.
  [[nodiscard]] static std::size_t workspace(int rows, int cols);

  /// T is at the beginning of the workspace; what follows it is free again as soon as V and R have been read.
  QrPanel(PanelShape const& shape, T* workspace);

  /// The columns before, V after the factorization. The caller also sets the zeros below the columns.
  [[nodiscard]] Block<T> const& vectors() const { return m_vectors; }
  /// The triangle R; in a stack, the caller sets the old one before the factorization.
  [[nodiscard]] Block<T> const& upper() const { return m_upper; }
  /// The triangle T, with zeros below the diagonal.
  [[nodiscard]] Block<T> const& triangle() const { return m_triangle; }

  void factor() { factor(0, m_shape.cols); }

 private:
  using Sweeps = ColumnSweeps<T>;
  using Multiplier = typename Sweeps::Multiplier;

  void factor(int first, int end);
  void factor_columns(int first, int end);
  void update(int first, int middle, int end);
  void join(int first, int middle, int end);

  void move_rows(int first_row, int end_row, int first, int end);
  [[nodiscard]] Multiplier multiplier(T const* v, int length) const;
  void extend_triangle(int first, int col, T const* products);
  void update_row(int row, int end, T* products);

  // The vectors of columns [first, end) have rows [first_row(first), end_row(end)).
  [[nodiscard]] int first_row(int first) const { return m_shape.stacked ? 0 : first; }
  [[nodiscard]] int end_row(int end) const { return std::min(m_shape.rows, m_shape.full_rows + end); }

  PanelShape m_shape;
  Block<T> m_triangle, m_upper, m_vectors;
  T* m_products;  ///< two blocks of cols x cols
  T* m_turned;    ///< i v
};

}  // namespace granary::kernels
