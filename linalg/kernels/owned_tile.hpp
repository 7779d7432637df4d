// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/kernels/elementwise_kernels.hpp>
#include <granary/detail/linalg/kernels/stored_tile.hpp>

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

/// Small dense matrices of their own, for what a task or a program computes from a triangle.
namespace granary::kernels {

/// A column-major tile that owns its memory, zeros at first.
template <class T>
class OwnedTile {
 public:
  OwnedTile(int rows, int cols) : m_entries(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols)) {
    view = {m_entries.data(), rows, cols, std::max(1, rows)};
  }
  OwnedTile(OwnedTile const&) = delete;
  OwnedTile& operator=(OwnedTile const&) = delete;
  OwnedTile(OwnedTile&&) noexcept = default;  // the entries keep their address
  OwnedTile& operator=(OwnedTile&&) noexcept = default;
  ~OwnedTile() = default;

  detail::TileView<T> view;

 private:
  std::vector<T> m_entries;
};

/// The Frobenius norm, of a column its 2-norm.
template <class T>
[[nodiscard]] double norm_of(detail::TileView<T> const& a) {
  return sum_of_squares<std::remove_const_t<T>>({}, a).root();
}

/// An upper triangle R = S D, S with columns of norm 1.
template <class T>
struct UnitColumns {
  explicit UnitColumns(detail::TileView<T const> const& r) : unit(r.rows, r.cols) {
    for (int j = 0; j < r.cols; ++j) {
      norms.push_back(norm_of(sub(r, 0, j, j + 1, 1)));
      auto const norm = static_cast<detail::RealOf<T>>(norms.back());
      for (int i = 0; i <= j; ++i) unit.view(i, j) = r(i, j) / norm;
    }
  }

  OwnedTile<T> unit;          ///< S; NaN where a column of R is zero
  std::vector<double> norms;  ///< the diagonal of D
};

}  // namespace granary::kernels
