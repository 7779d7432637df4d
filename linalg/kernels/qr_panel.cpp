// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/kernels/block_blas.hpp>
#include <granary/detail/linalg/kernels/qr_panel.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace granary::kernels {
namespace {

// Columns that are factored one by one. With 16 the panel takes as long, with 4 or 32 a tenth to a fifth longer.
constexpr int sweep_columns = 8;

template <class T>
constexpr int vector_entries = ColumnSweeps<T>::entries;

template <class T>
[[nodiscard]] constexpr int vectors_of(int rows) {
  return (rows + vector_entries<T> - 1) / vector_entries<T>;
}

// Whole vectors, and one more where columns would otherwise share few sets of the nearest cache.
template <class T>
[[nodiscard]] int panel_ld(int rows) {
  int const vectors = vectors_of<T>(rows);
  return (vectors % 8 == 0 ? vectors + 1 : vectors) * vector_entries<T>;
}

template <class T>
[[nodiscard]] T& at(Block<T> const& block, int row, int col) {
  return block.data[row + static_cast<std::ptrdiff_t>(col) * block.ld];
}

template <class T>
[[nodiscard]] T* aligned_for_vectors(T* p) {
  constexpr std::uintptr_t vector = ColumnSweeps<T>::bytes;
  auto const beyond = reinterpret_cast<std::uintptr_t>(p) % vector;
  return beyond == 0 ? p : reinterpret_cast<T*>(reinterpret_cast<std::byte*>(p) + (vector - beyond));
}

[[nodiscard]] std::ptrdiff_t entries_of_block(int order) { return static_cast<std::ptrdiff_t>(order) * order; }

// ‖x‖ without overflow and underflow; `length` vectors. NaN if x has one.
template <class R>
[[nodiscard]] R norm_of(R const* x, int length) {
  R sum = 0;
  ColumnSweeps<R>::multiply({{x, nullptr}, length}, {x, 0, 1}, &sum);
  // Squares that have underflowed are below the rounding of such a sum.
  constexpr R least = std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon();
  if (!(sum < least || std::isinf(sum))) return std::sqrt(sum);
  int const count = length * vector_entries<R>;
  R largest = 0;
  for (int i = 0; i < count; ++i) largest = std::max(largest, std::abs(x[i]));
  if (largest == 0 || std::isinf(largest)) return largest;
  int const exponent = std::ilogb(largest);
  sum = 0;
  for (int i = 0; i < count; ++i) {
    R const scaled = std::scalbn(x[i], -exponent);
    sum += scaled * scaled;
  }
  return std::scalbn(std::sqrt(sum), exponent);
}

template <class T>
void scale_vectors(T* x, int length, T const& factor) {
  for (int i = 0; i < length * vector_entries<T>; ++i) x[i] *= factor;
}

// LAPACK's larfg. alpha := beta, x := v, and returns tau: H = I - tau [1; v] [1; v]^H with H^H [alpha; x] = [beta; 0]
// and beta real. If x is zero and alpha real, tau is 0.
template <class T>
[[nodiscard]] T make_reflector(T& alpha, T* x, int length) {
  using R = detail::RealOf<T>;
  auto const* const numbers = reinterpret_cast<R const*>(x);
  R norm = norm_of(numbers, length);
  if (norm == 0 && alpha == T(detail::real_part(alpha))) return T(0);
  auto const signed_norm = [&] {
    return -std::copysign(std::hypot(detail::modulus(alpha), norm), detail::real_part(alpha));
  };
  R beta = signed_norm();
  // Below this, beta may have lost digits, and 1 / (alpha - beta) may overflow.
  constexpr R least = 2 * std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon();
  int times = 0;
  for (; std::abs(beta) < least && times < 20; ++times) {
    scale_vectors(x, length, T(1 / least));
    alpha *= T(1 / least);
    beta *= 1 / least;
  }
  if (times > 0) {
    norm = norm_of(numbers, length);
    beta = signed_norm();
  }
  T const tau = (T(beta) - alpha) / beta;
  scale_vectors(x, length, T(1) / (alpha - T(beta)));
  for (; times > 0; --times) beta *= least;
  alpha = T(beta);
  return tau;
}

}  // namespace

template <class T>
std::size_t QrPanel<T>::workspace(int rows, int cols) {
  auto const columns = static_cast<std::size_t>(panel_ld<T>(rows)) * (static_cast<std::size_t>(cols) + 1);
  return 4 * static_cast<std::size_t>(entries_of_block(cols)) + columns + static_cast<std::size_t>(vector_entries<T>);
}

template <class T>
QrPanel<T>::QrPanel(PanelShape const& shape, T* workspace)
    : m_shape(shape),
      m_triangle{workspace, shape.cols, shape.cols, shape.cols},
      m_upper{m_triangle.data + entries_of_block(shape.cols), shape.cols, shape.cols, shape.cols},
      m_vectors{nullptr, shape.rows, shape.cols, panel_ld<T>(shape.rows)},
      m_products(m_upper.data + entries_of_block(shape.cols)) {
  m_vectors.data = aligned_for_vectors(m_products + 2 * entries_of_block(shape.cols));
  m_turned = m_vectors.data + static_cast<std::ptrdiff_t>(m_vectors.ld) * shape.cols;
  std::fill_n(m_triangle.data, entries_of_block(shape.cols), T(0));
  for (int j = 0; j < shape.cols; ++j) {
    // The rows that fill the last vector.
    std::fill_n(&at(m_vectors, shape.rows, j), m_vectors.ld - shape.rows, T(0));
  }
}

template <class T>
void QrPanel<T>::factor(int first, int end) {
  if (end - first <= sweep_columns) return factor_columns(first, end);
  int const middle = first + ((end - first) / 2 + sweep_columns - 1) / sweep_columns * sweep_columns;
  factor(first, middle);
  update(first, middle, end);
  factor(middle, end);
  join(first, middle, end);
}

// Rows of the panel that are rows of R now: they leave zeros.
template <class T>
void QrPanel<T>::move_rows(int first_row, int end_row, int first, int end) {
  for (int j = first; j < end; ++j) {
    for (int i = first_row; i < end_row; ++i) at(m_upper, i, j) = std::exchange(at(m_vectors, i, j), T(0));
  }
}

// Multiplies columns [middle, end) by the adjoint I - V T^H V^H of the reflectors of columns [first, middle).
template <class T>
void QrPanel<T>::update(int first, int middle, int end) {
  BlockBlas const blas;
  int const done = middle - first, rest = end - middle;
  int const top = first_row(first), rows = end_row(middle) - top;
  auto const v = m_vectors.sub(top, first, rows, done), a = m_vectors.sub(top, middle, rows, rest);
  auto const r = m_upper.sub(first, middle, done, rest);
  Block<T> const w{m_products, done, rest, done}, product{w.data + done * rest, done, rest, done};
  for (int j = 0; m_shape.stacked && j < rest; ++j) std::copy_n(&at(r, 0, j), done, &at(w, 0, j));
  blas.gemm<T>(Op::ConjTrans, Op::NoTrans, T(1), v, a, T(m_shape.stacked ? 1 : 0), w);
  blas.gemm<T>(Op::ConjTrans, Op::NoTrans, T(1), m_triangle.sub(first, first, done, done), w, T(0), product);
  blas.gemm<T>(Op::NoTrans, Op::NoTrans, T(-1), v, product, T(1), a);
  if (!m_shape.stacked) return move_rows(first, middle, middle, end);
  for (int j = 0; j < rest; ++j) {
    for (int i = 0; i < done; ++i) at(r, i, j) -= at(product, i, j);
  }
}

// The block of T between two halves. In a stack, the ones of V_1 are beside zeros of V_2.
template <class T>
void QrPanel<T>::join(int first, int middle, int end) {
  BlockBlas const blas;
  int const done = middle - first, rest = end - middle;
  int const top = first_row(middle), rows = end_row(middle) - top;
  Block<T> const w{m_products, done, rest, done}, product{w.data + done * rest, done, rest, done};
  blas.gemm<T>(Op::ConjTrans, Op::NoTrans, T(1), m_vectors.sub(top, first, rows, done),
               m_vectors.sub(top, middle, rows, rest), T(0), w);
  blas.gemm<T>(Op::NoTrans, Op::NoTrans, T(1), m_triangle.sub(first, first, done, done), w, T(0), product);
  blas.gemm<T>(Op::NoTrans, Op::NoTrans, T(-1), product, m_triangle.sub(middle, middle, rest, rest), T(0),
               m_triangle.sub(first, middle, done, rest));
}

// As in LAPACK's geqr2 and tpqrt2, with a column of T after each column.
template <class T>
void QrPanel<T>::factor_columns(int first, int end) {
  std::array<T, sweep_columns> products;
  for (int j = first; j < end; ++j) {
    if (!m_shape.stacked) move_rows(j, j + 1, j, end);
    // Whole vectors: their entries above and below those of v_j are zeros of this column.
    int const begin = first_row(j) / vector_entries<T> * vector_entries<T>;
    int const length = vectors_of<T>(end_row(j + 1) - begin);
    T* const v = &at(m_vectors, begin, j);
    T const tau = make_reflector(at(m_upper, j, j), v, length);
    at(m_triangle, j, j) = tau;
    if (!(tau == T(0))) {
      auto const x = multiplier(v, length);
      Sweeps::multiply(x, {&at(m_vectors, begin, first), m_vectors.ld, end - first}, products.data());
      extend_triangle(first, j, products.data());
      T* const later = products.data() + (j + 1 - first);
      update_row(j, end, later);
      Sweeps::subtract(x, {v + m_vectors.ld, m_vectors.ld, end - j - 1}, later);
    }
    if (!m_shape.stacked) at(m_vectors, j, j) = T(1);
  }
}

template <class T>
typename QrPanel<T>::Multiplier QrPanel<T>::multiplier(T const* v, int length) const {
  if constexpr (detail::is_complex<T>) {
    for (int i = 0; i < length * vector_entries<T>; ++i) m_turned[i] = T(-v[i].imag(), v[i].real());
  }
  return {{v, m_turned}, length};
}

// Column `col` of T, -tau T V^H v_col, from the products v_col^H v_i with the columns from `first` on.
template <class T>
void QrPanel<T>::extend_triangle(int first, int col, T const* products) {
  T const tau = at(m_triangle, col, col);
  for (int i = first; i < col; ++i) {
    T sum(0);
    for (int k = i; k < col; ++k) {
      // The one of v_col is beside this entry of v_k, or, in a stack, beside a zero.
      T const beside = m_shape.stacked ? T(0) : at(m_vectors, col, k);
      sum += at(m_triangle, i, k) * detail::conjugate(T(products[k - first] + beside));
    }
    at(m_triangle, i, col) = -tau * sum;
  }
}

// Row `row` of R behind its diagonal, from the products v^H a of v_row with the columns a there. These become the
// factors of v_row in the update of a: conj(tau) (r + v^H a).
template <class T>
void QrPanel<T>::update_row(int row, int end, T* products) {
  T const tau = detail::conjugate(at(m_triangle, row, row));
  for (int k = row + 1; k < end; ++k) {
    T& factor = products[k - row - 1];
    factor = tau * (at(m_upper, row, k) + factor);
    at(m_upper, row, k) -= factor;
  }
}

template class QrPanel<float>;
template class QrPanel<double>;
template class QrPanel<Kokkos::complex<float>>;
template class QrPanel<Kokkos::complex<double>>;

}  // namespace granary::kernels
