// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/linalg/kernels/tile_kernels.hpp>

#include <granary/core/backends/kokkos_compat.hpp>
#include <granary/core/base/error.hpp>
#include <granary/linalg/kernels/blas.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <type_traits>

#if defined(GRANARY_HAVE_KOKKOSKERNELS)
#include <KokkosBlas3_gemm.hpp>
#include <KokkosBlas3_trsm.hpp>
#include <KokkosKernels_config.h>
#endif

// Without a BLAS behind it, Kokkos Kernels would run kernels with team scratch, which Kokkos < 4.0 cannot run on
// several threads at once.
#if defined(GRANARY_HAVE_KOKKOSKERNELS) && defined(KOKKOSKERNELS_ENABLE_TPL_BLAS)
#define GRANARY_KERNELS_ON_KOKKOSBLAS 1
#else
#define GRANARY_KERNELS_ON_KOKKOSBLAS 0
#endif

namespace granary {
namespace {

/// A column-major matrix as BLAS sees it.
template <class T>
struct Block {
  T* data;
  int rows, cols, ld;

  [[nodiscard]] Block sub(int row, int col, int row_count, int col_count) const {
    return {data + row + static_cast<std::ptrdiff_t>(col) * ld, row_count, col_count, ld};
  }
  operator Block<T const>() const requires(!std::is_const_v<T>) { return {data, rows, cols, ld}; }
};

template <class T>
[[nodiscard]] bool row_major(TileView<T> const& tile) {
  return tile.layout == Layout::RowMajor;
}

[[nodiscard]] std::string extents(int rows, int cols) { return std::to_string(rows) + "x" + std::to_string(cols); }

/// The memory of a tile as a column-major matrix: the tile, or its transpose where the tile is row-major.
template <class T>
[[nodiscard]] Block<T> stored(char const* kernel, TileView<T> const& tile) {
  bool const by_rows = row_major(tile);
  Block<T> const block{tile.data, by_rows ? tile.cols : tile.rows, by_rows ? tile.rows : tile.cols, tile.ld};
  if (tile.rows < 0 || tile.cols < 0 || tile.ld < block.rows || tile.ld < 1) {
    throw InvalidArgument(std::string(kernel) + ": a " + extents(tile.rows, tile.cols) +
                          (by_rows ? " row-major" : " column-major") + " tile cannot have leading dimension " +
                          std::to_string(tile.ld));
  }
  return block;
}

void require(bool fits, char const* kernel, std::string const& operands) {
  if (!fits) {
    throw InvalidArgument(std::string(kernel) + ": the sizes of " + operands + " do not match");
  }
}

#if GRANARY_KERNELS_ON_KOKKOSBLAS
using HostDevice = Kokkos::Device<HostExecutionSpace, Kokkos::HostSpace>;
template <class T>
using BlockView = Kokkos::View<T**, Kokkos::LayoutLeft, HostDevice, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// A LayoutLeft View whose columns are ld apart.
template <class T>
[[nodiscard]] BlockView<T> as_view(Block<T> const& block) {
  return Kokkos::subview(
      BlockView<T>(block.data, static_cast<std::size_t>(block.ld), static_cast<std::size_t>(block.cols)),
      Kokkos::make_pair(0, block.rows), Kokkos::ALL);
}

template <class Flag>
[[nodiscard]] std::array<char, 2> text(Flag flag) {
  return {static_cast<char>(flag), '\0'};
}
#endif

/// C := alpha op(A) op(B) + beta C.
template <class T>
void update(Op op_a, Op op_b, T alpha, Block<T const> a, Block<T const> b, T beta, Block<T> c) {
  int const k = op_a == Op::NoTrans ? a.cols : a.rows;
#if GRANARY_KERNELS_ON_KOKKOSBLAS
  // Kokkos Kernels ignores beta when k = 0 and launches a kernel of its own when C is small and only A transposed.
  constexpr std::ptrdiff_t small = 1600;
  if (k > 0 && static_cast<std::ptrdiff_t>(c.rows) * c.cols >= small) {
    KokkosBlas::gemm(text(op_a).data(), text(op_b).data(), alpha, as_view(a), as_view(b), beta, as_view(c));
    return;
  }
#endif
  blas::gemm(op_a, op_b, c.rows, c.cols, k, alpha, a.data, a.ld, b.data, b.ld, beta, c.data, c.ld);
}

template <class T>
void solve_directly(Side side, Uplo uplo, Op op, Diag diag, T alpha, Block<T const> a, Block<T> b) {
#if GRANARY_KERNELS_ON_KOKKOSBLAS
  KokkosBlas::trsm(text(side).data(), text(uplo).data(), text(op).data(), text(diag).data(), alpha, as_view(a),
                   as_view(b));
#else
  blas::trsm(side, uplo, op, diag, b.rows, b.cols, alpha, a.data, a.ld, b.data, b.ld);
#endif
}

/// Order of the diagonal blocks that trsm inverts.
constexpr int inverted_order = 32;

[[nodiscard]] constexpr std::size_t square(int n) { return static_cast<std::size_t>(n) * static_cast<std::size_t>(n); }

/// Index of entry (i, j) of a column-major matrix of n rows.
[[nodiscard]] constexpr std::size_t entry(int i, int j, int n) {
  return static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * static_cast<std::size_t>(n);
}

/// Multiplies B by the inverse of a triangle of order <= inverted_order; false, B untouched, if that is singular or its
/// inverse overflows.
template <class T>
[[nodiscard]] bool solve_by_inverse(Side side, Uplo uplo, Op op, Diag diag, T alpha, Block<T const> a, Block<T> b) {
  int const n = a.rows;
  std::array<T, square(inverted_order)> inverse;
  for (int j = 0; j < n; ++j) {
    for (int i = uplo == Uplo::Lower ? j : 0; i < (uplo == Uplo::Lower ? n : j + 1); ++i) {
      inverse[entry(i, j, n)] = *a.sub(i, j, 1, 1).data;
    }
  }
  if (blas::trtri(uplo, diag, n, inverse.data(), n) != 0) {
    return false;
  }
  T sum = 0;  // divided by the number of entries, it is finite if and only if all of them are
  for (int j = 0; j < n; ++j) {
    for (int i = uplo == Uplo::Lower ? j : 0; i < (uplo == Uplo::Lower ? n : j + 1); ++i) {
      sum += std::abs(inverse[entry(i, j, n)]) / static_cast<T>(square(n));
    }
  }
  if (!std::isfinite(sum)) {
    return false;
  }
  blas::trmm<T>(side, uplo, op, diag, b.rows, b.cols, alpha, inverse.data(), n, b.data, b.ld);
  return true;
}

template <class T>
void solve(Side side, Uplo uplo, Op op, Diag diag, T alpha, Block<T const> a, Block<T> b) {
  int const n = a.rows;
  if (n <= inverted_order) {
    if (!solve_by_inverse(side, uplo, op, diag, alpha, a, b)) {
      solve_directly(side, uplo, op, diag, alpha, a, b);
    }
    return;
  }
  int const h = (n / 2 + inverted_order - 1) / inverted_order * inverted_order;
  int const rest = n - h;
  auto const a_first = a.sub(0, 0, h, h), a_last = a.sub(h, h, rest, rest);
  auto const a_between = uplo == Uplo::Lower ? a.sub(h, 0, rest, h) : a.sub(0, h, h, rest);
  bool const left = side == Side::Left;
  auto const b_first = left ? b.sub(0, 0, h, b.cols) : b.sub(0, 0, b.rows, h);
  auto const b_last = left ? b.sub(h, 0, rest, b.cols) : b.sub(0, h, b.rows, rest);

  // From the left a lower op(A) is solved forwards, an upper one backwards; from the right the other way round.
  bool const op_is_lower = (uplo == Uplo::Lower) == (op == Op::NoTrans);
  bool const forwards = left == op_is_lower;
  auto const& known = forwards ? b_first : b_last;
  auto const& unknown = forwards ? b_last : b_first;
  solve(side, uplo, op, diag, alpha, forwards ? a_first : a_last, known);
  if (left) {
    update<T>(op, Op::NoTrans, T(-1), a_between, known, alpha, unknown);
  } else {
    update<T>(Op::NoTrans, op, T(-1), known, a_between, alpha, unknown);
  }
  solve(side, uplo, op, diag, T(1), forwards ? a_last : a_first, unknown);
}

}  // namespace

namespace kernels {

template <class T>
int potrf(Uplo uplo, TileView<T> a) {
  auto const block = stored("potrf", a);
  require(a.rows == a.cols, "potrf", "A " + extents(a.rows, a.cols) + ", which must be square,");
  return block.rows == 0 ? 0 : blas::potrf(row_major(a) ? flip(uplo) : uplo, block.rows, block.data, block.ld);
}

template <class T>
void trsm(Side side, Uplo uplo, Op op, Diag diag, typename NotDeduced<T>::type alpha, ConstTileView<T> a,
          TileView<T> b) {
  auto const triangle = stored("trsm", a);
  auto const rhs = stored("trsm", b);
  require(a.rows == a.cols && a.rows == (side == Side::Left ? b.rows : b.cols), "trsm",
          "A " + extents(a.rows, a.cols) + " and B " + extents(b.rows, b.cols));
  if (b.rows == 0 || b.cols == 0) {
    return;
  }
  // A row-major B stores X^T, for which op(A) X = B reads X^T op(A)^T = B^T; a row-major A stores A^T.
  solve<T>(row_major(b) ? flip(side) : side, row_major(a) ? flip(uplo) : uplo,
           row_major(a) == row_major(b) ? op : flip(op), diag, alpha, triangle, rhs);
}

template <class T>
void syrk(Uplo uplo, Op op, typename NotDeduced<T>::type alpha, ConstTileView<T> a, typename NotDeduced<T>::type beta,
          TileView<T> c) {
  auto const factor = stored("syrk", a);
  auto const sum = stored("syrk", c);
  int const k = op == Op::NoTrans ? a.cols : a.rows;
  require(c.rows == c.cols && c.rows == (op == Op::NoTrans ? a.rows : a.cols), "syrk",
          "A " + extents(a.rows, a.cols) + " and C " + extents(c.rows, c.cols));
  blas::syrk<T>(row_major(c) ? flip(uplo) : uplo, row_major(a) ? flip(op) : op, sum.rows, k, alpha, factor.data,
                factor.ld, beta, sum.data, sum.ld);
}

template <class T>
void gemm(Op op_a, Op op_b, typename NotDeduced<T>::type alpha, ConstTileView<T> a, ConstTileView<T> b,
          typename NotDeduced<T>::type beta, TileView<T> c) {
  auto const left = stored("gemm", a);
  auto const right = stored("gemm", b);
  auto const sum = stored("gemm", c);
  int const k_a = op_a == Op::NoTrans ? a.cols : a.rows, k_b = op_b == Op::NoTrans ? b.rows : b.cols;
  require(k_a == k_b && c.rows == (op_a == Op::NoTrans ? a.rows : a.cols) &&
              c.cols == (op_b == Op::NoTrans ? b.cols : b.rows),
          "gemm",
          "A " + extents(a.rows, a.cols) + ", B " + extents(b.rows, b.cols) + " and C " + extents(c.rows, c.cols));
  if (c.rows == 0 || c.cols == 0) {
    return;
  }
  Op const stored_a = row_major(a) ? flip(op_a) : op_a, stored_b = row_major(b) ? flip(op_b) : op_b;
  if (row_major(c)) {
    update<T>(flip(stored_b), flip(stored_a), alpha, right, left, beta, sum);
  } else {
    update<T>(stored_a, stored_b, alpha, left, right, beta, sum);
  }
}

template int potrf(Uplo, TileView<double>);
template int potrf(Uplo, TileView<float>);
template void trsm(Side, Uplo, Op, Diag, double, TileView<double const>, TileView<double>);
template void trsm(Side, Uplo, Op, Diag, float, TileView<float const>, TileView<float>);
template void syrk(Uplo, Op, double, TileView<double const>, double, TileView<double>);
template void syrk(Uplo, Op, float, TileView<float const>, float, TileView<float>);
template void gemm(Op, Op, double, TileView<double const>, TileView<double const>, double, TileView<double>);
template void gemm(Op, Op, float, TileView<float const>, TileView<float const>, float, TileView<float>);

}  // namespace kernels
}  // namespace granary
