// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/model/owned_data.hpp>
#include <granary/detail/linalg/algorithms/inverse.hpp>
#include <granary/detail/linalg/algorithms/operands.hpp>
#include <granary/detail/linalg/tiles/blas3.hpp>
#include <granary/detail/linalg/tiles/elementwise.hpp>
#include <granary/detail/linalg/tiles/stacked.hpp>
#include <granary/detail/linalg/tiles/trsm.hpp>

#include <algorithm>

namespace granary {
namespace {

detail::TileRef transposed(detail::TileRef const& tile) { return {tile.transposed(), tile.data}; }

// The stored lower triangle, or the transpose of the stored upper one: that is the factor of A^T = conj(A), whose
// inverse is the transpose of A's, and has the same diagonal.
template <class T>
detail::TiledMatrix<T> lower_form(char const* algorithm, detail::TiledMatrix<T> const& factor) {
  detail::require_fit(algorithm, factor.grid().rows == factor.grid().cols, {{"the factor", factor}});
  detail::require_triangle(algorithm, factor.part());
  return factor.part() == MatrixPart::Lower ? factor : factor.transposed();
}

// Tile column k of X = L^-1, which is close to the solution of X L = I. Before, the tiles (m,k) below the diagonal are
// -Σ X(m,j) L(j,k) over k < j <= m, and tile row k still holds L.
template <class T>
void invert_column(TaskEmitter& tasks, detail::TiledMatrix<T> const& a, std::uint64_t k, std::uint64_t stack) {
  auto const rows = a.grid().tile_rows();
  // Stacks begin at multiples of their number of tiles, so that all tasks have the same ones.
  for (std::uint64_t m = k + 1, next = 0; m < rows; m = next) {
    next = (m / stack + 1) * stack;
    // X(m,k) := A(m,k) L(k,k)^-1, and the same for the tiles below in the same stack
    tiles::trsm_right<T>(tasks.at(m, k, k), Op::NoTrans, a(k, k), a.stack(m, k, next - m));
    for (std::uint64_t n = 0; n < k; ++n) {
      // A(m,n) := A(m,n) - X(m,k) L(k,n)
      tiles::gemm<T>(tasks.at(m, n, k), Op::NoTrans, T(-1), a.stack(m, k, next - m), a(k, n), a.stack(m, n, next - m));
    }
  }
  tiles::trtri<T>(tasks.at(k, k, k), Uplo::Lower, a(k, k), a.grid().first(k));
  for (std::uint64_t n = 0; n < k; ++n) {
    // A(k,n) := -X(k,k) L(k,n), a product: with a second solve neither X L nor L X were close to I.
    tiles::trmm(tasks.at(k, n, k), Side::Left, Uplo::Lower, Op::NoTrans, Diag::NonUnit, T(-1), a(k, k), a(k, n));
  }
}

// Adds the contribution of tile row k of X to X^H X. The sums of its own tiles begin with it.
template <class T>
void add_square(TaskEmitter& tasks, detail::TiledMatrix<T> const& a, std::uint64_t k) {
  for (std::uint64_t n = 0; n < k; ++n) {
    tiles::herk<T>(tasks.at(n, n, k), Uplo::Lower, Op::ConjTrans, 1, a(k, n), 1, a(n, n));
    for (std::uint64_t m = n + 1; m < k; ++m) {
      // A(m,n) := A(m,n) + X(k,m)^H X(k,n)
      tiles::gemm(tasks.at(m, n, k), Op::ConjTrans, Op::NoTrans, T(1), a(k, m), a(k, n), T(1), a(m, n));
    }
  }
  for (std::uint64_t n = 0; n < k; ++n) {
    // A(k,n) := X(k,k)^H X(k,n)
    tiles::trmm(tasks.at(k, n, k), Side::Left, Uplo::Lower, Op::ConjTrans, Diag::NonUnit, T(1), a(k, k), a(k, n));
  }
  tiles::lauum<T>(tasks.at(k, k, k), Uplo::Lower, a(k, k));
}

// Tile columns of X = L^-1 that are computed together.
template <class T>
class InverseColumns {
 public:
  InverseColumns(TaskEmitter& tasks, detail::TiledMatrix<T> const& factor, std::uint64_t first, std::uint64_t last)
      : m_tasks(tasks), m_l(factor), m_first(first), m_last(last), m_data(tasks.submitter()) {}

  // X(m,n) for all columns n of the group up to m, from the rows above.
  void make_row(std::uint64_t m) {
    for (auto n = m_first; n < std::min(m_last, m + 1); ++n) add_tile(m, n);
    for (auto k = m_first; k < m; ++k) {
      for (auto n = m_first; n < std::min(m_last, k + 1); ++n) {
        // X(m,n) := X(m,n) - L(m,k) X(k,n)
        tiles::gemm(m_tasks.at(m, n, k), Op::NoTrans, Op::NoTrans, T(-1), m_l(m, k), tile(k, n), T(k == n ? 0 : 1),
                    tile(m, n));
      }
    }
    for (auto n = m_first; n < std::min(m_last, m + 1); ++n) {
      if (n == m) {
        tiles::copy<T, T>(m_tasks.at(m, m, m), MatrixPart::Lower, false, m_l(m, m), tile(m, m),
                          detail::OtherTriangle::Zeroed);
        // L X is close to I, as of the columns below: the transpose is inverted from the left.
        tiles::trtri<T>(m_tasks.at(m, m, m), Uplo::Upper, transposed(tile(m, m)), m_l.grid().first(m));
      } else {
        tiles::trsm(m_tasks.at(m, n, m), Side::Left, Uplo::Lower, Op::NoTrans, Diag::NonUnit, T(1), m_l(m, m),
                    tile(m, n));
      }
    }
  }
  // d(n) := d(n) + the squares of X(m,n)
  void add_squares(std::uint64_t m, detail::TiledMatrix<T> const& d) {
    for (auto n = m_first; n < std::min(m_last, m + 1); ++n) {
      tiles::add_column_squares<T>(m_tasks.at(m, n), m == n, tile(m, n), d(n, 0));
    }
  }

 private:
  void add_tile(std::uint64_t m, std::uint64_t n) {
    m_data.add({.name = detail::tile_name("inverse of " + m_l.name(), m, n),
                .bytes = m_l.grid().elements_in(m, n) * sizeof(T),
                .origin = {},
                .home = {}});
  }
  [[nodiscard]] detail::TileRef tile(std::uint64_t m, std::uint64_t n) const {
    auto const rows = to_int32(m_l.grid().rows_in(m), "a number of rows"),
               cols = to_int32(m_l.grid().cols_in(n), "a number of columns");
    // Row m of the group has min(m + 1, last) - first tiles.
    auto const row = m - m_first, width = m_last - m_first;
    auto const before = row < width ? row * (row + 1) / 2 : width * (width + 1) / 2 + (row - width) * width;
    return {{rows, cols, cols, detail::TileLayout::RowMajor}, m_data[before + (n - m_first)]};
  }

  TaskEmitter& m_tasks;
  detail::TiledMatrix<T> m_l;
  std::uint64_t m_first, m_last;
  detail::OwnedData m_data;
};

}  // namespace

template <class T>
void potri(TaskEmitter& tasks, detail::TiledMatrix<T> const& factor, std::uint64_t stack) {
  auto const a = lower_form("potri", factor);
  auto const rows = a.grid().tile_rows();
  for (auto k = rows; k-- > 0;) invert_column(tasks, a, k, stack);
  for (std::uint64_t k = 0; k < rows; ++k) add_square(tasks, a, k);
}

template <class T>
void submit_inverse_diag(TaskEmitter& tasks, detail::TiledMatrix<T> const& factor, detail::TiledMatrix<T> const& d,
                         Bytes memory) {
  auto const l = lower_form("inverse_diag", factor);
  auto const& grid = l.grid();
  detail::require_fit("inverse_diag", d.grid().cols == 1 && d.grid().rows == grid.rows,
                      {{"the factor", factor}, {"d", d}});
  auto const count = grid.tile_rows();
  auto const fitting = memory / 2 / (count * grid.largest_tile() * sizeof(T));
  auto const width = std::clamp<std::uint64_t>(fitting, 1, count);
  for (std::uint64_t first = 0; first < count; first += width) {
    InverseColumns<T> columns(tasks, l, first, std::min(first + width, count));
    for (auto m = first; m < count; ++m) {
      columns.make_row(m);
      columns.add_squares(m, d);
    }
  }
}

#define GRANARY_INSTANTIATE(T)                                                     \
  template void potri(TaskEmitter&, detail::TiledMatrix<T> const&, std::uint64_t); \
  template void submit_inverse_diag(TaskEmitter&, detail::TiledMatrix<T> const&, detail::TiledMatrix<T> const&, Bytes);
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary
