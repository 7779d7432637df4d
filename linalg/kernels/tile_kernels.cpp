// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/linalg/kernels/tile_kernels.hpp>

#include <granary/core/backends/kokkos_compat.hpp>
#include <granary/core/base/error.hpp>
#include <granary/linalg/kernels/blas.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

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

/// What has to be done to the memory of a tile, seen as a column-major matrix, to have op(tile): a BLAS flag, and
/// conjugation before it, which no flag of BLAS expresses without a transposition.
struct StoredOp {
  Op op = Op::NoTrans;
  bool conjugated = false;
};

/// The transpose of op(X), as an operation on X.
[[nodiscard]] constexpr StoredOp transposed(StoredOp op, bool complex) {
  if (op.op == Op::NoTrans) return op.conjugated ? StoredOp{Op::ConjTrans} : StoredOp{Op::Trans};
  return {Op::NoTrans, op.op == Op::ConjTrans && complex};
}

/// The conjugate of op(X), as an operation on X.
[[nodiscard]] constexpr StoredOp conjugated(StoredOp op) {
  if (op.op == Op::NoTrans) return {Op::NoTrans, !op.conjugated};
  return {op.op == Op::Trans ? Op::ConjTrans : Op::Trans};
}

/// The same matrix in the other layout, copied into `memory`.
template <class T>
[[nodiscard]] TileView<T const> in_layout(TileView<T const> tile, Layout layout, std::vector<T>& memory) {
  memory.resize(static_cast<std::size_t>(tile.rows) * static_cast<std::size_t>(tile.cols));
  TileView<T> const copy{memory.data(), tile.rows, tile.cols, layout == Layout::RowMajor ? tile.cols : tile.rows, layout};
  for (int i = 0; i < tile.rows; ++i) {
    for (int j = 0; j < tile.cols; ++j) copy(i, j) = tile(i, j);
  }
  return copy;
}

/// op(tile) in terms of the column-major matrix that the tile's memory is.
template <class T>
[[nodiscard]] StoredOp stored_op(Op op, TileView<T> const& tile) {
  if (!row_major(tile)) return {op};
  // The memory holds X^T: X is its transpose, X^T itself, X^H its conjugate.
  if (op == Op::NoTrans) return {Op::Trans};
  return {Op::NoTrans, op == Op::ConjTrans && is_complex<std::remove_const_t<T>>};
}

/// The operand of a call of BLAS: the tile's memory, or a conjugated copy where the flags need one.
template <class T>
class Operand {
 public:
  Operand(Block<T const> block, StoredOp op) : m_block(block), m_op(op.op) {
    if (!op.conjugated) return;
    m_copy.reserve(static_cast<std::size_t>(block.rows) * static_cast<std::size_t>(block.cols));
    for (int j = 0; j < block.cols; ++j) {
      T const* const column = block.sub(0, j, block.rows, 1).data;
      for (int i = 0; i < block.rows; ++i) m_copy.push_back(conjugate(column[i]));
    }
    m_block = {m_copy.data(), block.rows, block.cols, std::max(1, block.rows)};
  }
  [[nodiscard]] Block<T const> const& block() const { return m_block; }
  [[nodiscard]] Op op() const { return m_op; }

 private:
  std::vector<T> m_copy;
  Block<T const> m_block;
  Op m_op;
};

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
  RealOf<T> sum = 0;  // divided by the number of entries, it is finite if and only if all of them are
  for (int j = 0; j < n; ++j) {
    for (int i = uplo == Uplo::Lower ? j : 0; i < (uplo == Uplo::Lower ? n : j + 1); ++i) {
      sum += modulus(inverse[entry(i, j, n)]) / static_cast<RealOf<T>>(square(n));
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
  // A row-major B stores X^T, for which op(A) X = B reads X^T op(A)^T = B^T.
  auto const by_rows = row_major(b);
  auto const op_stored = stored_op(op, a);
  Operand<T> const factor(triangle, by_rows ? transposed(op_stored, is_complex<T>) : op_stored);
  solve<T>(by_rows ? flip(side) : side, row_major(a) ? flip(uplo) : uplo, factor.op(), diag, alpha, factor.block(),
           rhs);
}

template <class T>
void trmm(Side side, Uplo uplo, Op op, Diag diag, typename NotDeduced<T>::type alpha, ConstTileView<T> a,
          TileView<T> b) {
  auto const triangle = stored("trmm", a);
  auto const product = stored("trmm", b);
  require(a.rows == a.cols && a.rows == (side == Side::Left ? b.rows : b.cols), "trmm",
          "A " + extents(a.rows, a.cols) + " and B " + extents(b.rows, b.cols));
  if (b.rows == 0 || b.cols == 0) return;
  auto const by_rows = row_major(b);
  auto const op_stored = stored_op(op, a);
  Operand<T> const factor(triangle, by_rows ? transposed(op_stored, is_complex<T>) : op_stored);
  blas::trmm<T>(by_rows ? flip(side) : side, row_major(a) ? flip(uplo) : uplo, factor.op(), diag, product.rows,
                product.cols, alpha, factor.block().data, factor.block().ld, product.data, product.ld);
}

template <class T>
void syrk(Uplo uplo, Op op, typename NotDeduced<T>::type alpha, ConstTileView<T> a, typename NotDeduced<T>::type beta,
          TileView<T> c) {
  auto const factor = stored("syrk", a);
  auto const sum = stored("syrk", c);
  int const k = op == Op::NoTrans ? a.cols : a.rows;
  require(c.rows == c.cols && c.rows == (op == Op::NoTrans ? a.rows : a.cols) && (op != Op::ConjTrans || !is_complex<T>),
          "syrk", "A " + extents(a.rows, a.cols) + " and C " + extents(c.rows, c.cols));
  if (c.rows == 0) return;
  // op(A) op(A)^T is symmetric: a row-major C differs in its triangle alone.
  Op const memory_op = (op == Op::NoTrans) != row_major(a) ? Op::NoTrans : Op::Trans;
  blas::syrk<T>(row_major(c) ? flip(uplo) : uplo, memory_op, sum.rows, k, alpha, factor.data, factor.ld, beta, sum.data,
                sum.ld);
}

template <class T>
void herk(Uplo uplo, Op op, RealOf<typename NotDeduced<T>::type> alpha, ConstTileView<T> a,
          RealOf<typename NotDeduced<T>::type> beta, TileView<T> c) {
  auto const sum = stored("herk", c);
  int const k = op == Op::NoTrans ? a.cols : a.rows;
  require(c.rows == c.cols && c.rows == (op == Op::NoTrans ? a.rows : a.cols) && (op != Op::Trans || !is_complex<T>),
          "herk", "A " + extents(a.rows, a.cols) + " and C " + extents(c.rows, c.cols));
  if (c.rows == 0) return;
  // The memory of a row-major C is its conjugate: conj(op(A)) conj(op(A))^H.
  auto wanted = stored_op(op == Op::NoTrans ? Op::NoTrans : Op::ConjTrans, a);
  if (row_major(c) && is_complex<T>) wanted = conjugated(wanted);
  if (wanted.op == Op::Trans) wanted = {Op::ConjTrans, is_complex<T>};
  Operand<T> const factor(stored("herk", a), wanted);
  blas::herk<T>(row_major(c) ? flip(uplo) : uplo, factor.op(), sum.rows, k, alpha, factor.block().data,
                factor.block().ld, beta, sum.data, sum.ld);
}

template <class T>
void hemm(Side side, Uplo uplo, typename NotDeduced<T>::type alpha, ConstTileView<T> a, ConstTileView<T> b,
          typename NotDeduced<T>::type beta, TileView<T> c) {
  auto const sum = stored("hemm", c);
  require(a.rows == a.cols && b.rows == c.rows && b.cols == c.cols && a.rows == (side == Side::Left ? c.rows : c.cols),
          "hemm",
          "A " + extents(a.rows, a.cols) + ", B " + extents(b.rows, b.cols) + " and C " + extents(c.rows, c.cols));
  if (c.rows == 0 || c.cols == 0) return;
  if (row_major(b) != row_major(c)) {
    std::vector<T> copy;
    hemm<T>(side, uplo, alpha, a, in_layout(b, c.layout, copy), beta, c);
    return;
  }
  // With B and C by rows, C^T = B^T A^T, and A^T is conj(A). The memory of a row-major A is conj(A) too.
  bool const by_rows = row_major(c);
  Operand<T> const factor(stored("hemm", a), {Op::NoTrans, is_complex<T> && by_rows != row_major(a)});
  auto const right = stored("hemm", b);
  blas::hemm<T>(by_rows ? flip(side) : side, row_major(a) ? flip(uplo) : uplo, sum.rows, sum.cols, alpha,
                factor.block().data, factor.block().ld, right.data, right.ld, beta, sum.data, sum.ld);
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
  auto const stored_a = stored_op(op_a, a), stored_b = stored_op(op_b, b);
  if (row_major(c)) {
    Operand<T> const first(right, transposed(stored_b, is_complex<T>));
    Operand<T> const second(left, transposed(stored_a, is_complex<T>));
    update<T>(first.op(), second.op(), alpha, first.block(), second.block(), beta, sum);
  } else {
    Operand<T> const first(left, stored_a);
    Operand<T> const second(right, stored_b);
    update<T>(first.op(), second.op(), alpha, first.block(), second.block(), beta, sum);
  }
}

#define GRANARY_INSTANTIATE(T)                                                                                     \
  template int potrf(Uplo, TileView<T>);                                                                           \
  template void trsm(Side, Uplo, Op, Diag, T, TileView<T const>, TileView<T>);                                     \
  template void trmm(Side, Uplo, Op, Diag, T, TileView<T const>, TileView<T>);                                     \
  template void syrk(Uplo, Op, T, TileView<T const>, T, TileView<T>);                                              \
  template void herk(Uplo, Op, RealOf<T>, TileView<T const>, RealOf<T>, TileView<T>);                              \
  template void hemm(Side, Uplo, T, TileView<T const>, TileView<T const>, T, TileView<T>);                         \
  template void gemm(Op, Op, T, TileView<T const>, TileView<T const>, T, TileView<T>);
GRANARY_INSTANTIATE(float)
GRANARY_INSTANTIATE(double)
GRANARY_INSTANTIATE(Kokkos::complex<float>)
GRANARY_INSTANTIATE(Kokkos::complex<double>)
#undef GRANARY_INSTANTIATE

}  // namespace kernels
}  // namespace granary
