// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/kernels/qr_kernels.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "lapack/ratios.hpp"
#include "unit/linalg/rectangle.hpp"
#include "unit/linalg/tile.hpp"

/// Common parts of the tests of QR factorizations. The reference are the reflectors themselves, one by one, in long
/// double.
namespace granary::testing {

/// The kernels: geqrt, tsqrt, ttqrt.
enum class QrKind { Whole, Stacked, Stairs };
inline constexpr QrKind every_qr_kind[] = {QrKind::Whole, QrKind::Stacked, QrKind::Stairs};

/// In memory that a kernel must neither read nor write.
template <class T>
[[nodiscard]] T forbidden() {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  return scalar<T>(nan, nan);
}
template <class T>
[[nodiscard]] bool is_forbidden(T const& value) {
  auto const mark = forbidden<T>();
  return std::memcmp(static_cast<void const*>(&value), static_cast<void const*>(&mark), sizeof(T)) == 0;
}

/// Memory of exactly as many entries, with a mark behind them.
template <class T>
class Workspace {
 public:
  explicit Workspace(std::size_t entries) : m_entries(entries + 1, forbidden<T>()) {}
  T* data() { return m_entries.data(); }
  [[nodiscard]] bool kept() const { return is_forbidden(m_entries.back()); }

 private:
  std::vector<T> m_entries;
};

/// A - B, in units of LAPACK's test ratio for matrices of m rows: ‖A - B‖₁ / (m ‖A‖₁ ε).
template <class T>
[[nodiscard]] double difference_ratio(Rectangle<Long<T>> const& a, Rectangle<Long<T>> const& b) {
  auto const rest = long_one_norm(a.rows, a.cols, [&](std::uint64_t i, std::uint64_t j) { return a(i, j) - b(i, j); });
  auto const norm = long_one_norm(a.rows, a.cols, [&](std::uint64_t i, std::uint64_t j) { return a(i, j); });
  return test_ratio<T>(rest, norm, std::max<std::uint64_t>(1, a.rows));
}

template <class T>
[[nodiscard]] bool same_bits(std::vector<T> const& a, std::vector<T> const& b) {
  return a.size() == b.size() &&
         std::memcmp(static_cast<void const*>(a.data()), static_cast<void const*>(b.data()), a.size() * sizeof(T)) == 0;
}

/// X := H_1 H_2 ... X with H_j = I - tau_j v_j v_j^H, or the adjoint of this product times X.
template <class L>
void apply_reflectors(Rectangle<L> const& vectors, std::vector<L> const& taus, bool adjoint, Rectangle<L>& x) {
  for (std::uint64_t step = 0; step < vectors.cols; ++step) {
    auto const j = adjoint ? step : vectors.cols - 1 - step;
    auto const tau = adjoint ? detail::conjugate(taus[j]) : taus[j];
    for (std::uint64_t col = 0; col < x.cols; ++col) {
      L product{};
      for (std::uint64_t i = 0; i < x.rows; ++i) product += detail::conjugate(vectors(i, j)) * x(i, col);
      for (std::uint64_t i = 0; i < x.rows; ++i) x(i, col) -= vectors(i, j) * (tau * product);
    }
  }
}

template <class L>
[[nodiscard]] Rectangle<L> identity_matrix(std::uint64_t n) {
  return rectangle_of<L>(n, n, [](std::uint64_t i, std::uint64_t j) { return L(i == j ? 1 : 0); });
}

/// The tiles of a factorization of an m x n tile A, with the triangle R above it if it is not Whole: R is in a tile of
/// two rows more, and T in one of two columns more. What the kernels must not touch is forbidden().
template <class T>
class FactoredTiles {
 public:
  using L = Long<T>;

  /// Values of [R; A] are value(i, j), with their zeros.
  template <class Value>
  FactoredTiles(QrKind kind, int rows, int cols, int ib, detail::TileLayout layout, Value const& value)
      : m_kind(kind),
        m_rows(rows),
        m_cols(cols),
        m_ib(ib),
        r(above() + (above() > 0 ? 2 : 0), cols, layout),
        a(rows, cols, layout),
        t(ib, cols + 2, layout),
        before(static_cast<std::uint64_t>(above() + rows), static_cast<std::uint64_t>(cols)) {
    r.fill(forbidden<T>());
    a.fill(forbidden<T>());
    t.fill(forbidden<T>());
    for (int i = 0; i < above() + rows; ++i) {
      for (int j = 0; j < cols; ++j) {
        if (!in_shape(i, j)) continue;
        T const entry = value(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(j));
        (i < above() ? r(i, j) : a(i - above(), j)) = entry;
        before(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(j)) = lengthen<T>(entry);
      }
    }
    factor();
  }

  [[nodiscard]] int reflectors() const { return m_kind == QrKind::Whole ? std::min(m_rows, m_cols) : m_cols; }
  [[nodiscard]] int above() const { return m_kind == QrKind::Whole ? 0 : m_cols; }
  [[nodiscard]] std::uint64_t order() const { return before.rows; }

  [[nodiscard]] std::vector<L> taus() {
    std::vector<L> found;
    for (int j = 0; j < reflectors(); ++j) found.push_back(lengthen<T>(t(j % m_ib, j)));
    return found;
  }
  /// With their ones and zeros.
  [[nodiscard]] Rectangle<L> vectors() {
    return rectangle_of<L>(order(), static_cast<std::uint64_t>(reflectors()),
                           [&](std::uint64_t row, std::uint64_t col) {
                             int const i = static_cast<int>(row), j = static_cast<int>(col);
                             if (i == j) return L(1);
                             if (m_kind == QrKind::Whole ? i < j : i < above() || !in_shape(i, j)) return L(0);
                             return lengthen<T>(a(i - above(), j));
                           });
  }
  /// [R; 0].
  [[nodiscard]] Rectangle<L> upper() {
    return rectangle_of<L>(order(), static_cast<std::uint64_t>(m_cols), [&](std::uint64_t row, std::uint64_t col) {
      int const i = static_cast<int>(row), j = static_cast<int>(col);
      if (i > j || (above() > 0 && i >= above())) return L(0);
      return lengthen<T>(above() > 0 ? r(i, j) : a(i, j));
    });
  }
  [[nodiscard]] Rectangle<L> q() {
    auto found = identity_matrix<L>(order());
    apply_reflectors(vectors(), taus(), false, found);
    return found;
  }

  /// Q [R'; 0].
  [[nodiscard]] Rectangle<L> product() {
    auto found = upper();
    apply_reflectors(vectors(), taus(), false, found);
    return found;
  }
  /// ‖[R; A] - Q [R'; 0]‖₁ / (M ‖[R; A]‖₁ ε), M the order of Q.
  [[nodiscard]] double residual() { return difference_ratio<T>(before, product()); }
  /// ‖I - Q^H Q‖₁ / (M ε).
  [[nodiscard]] double orthogonality() {
    auto found = q();
    apply_reflectors(vectors(), taus(), true, found);
    return difference_ratio<T>(identity_matrix<L>(order()), found);
  }

  /// What is not of the factors is as before, T has its zeros, and the diagonal of R is real.
  void expect_form() {
    a.for_each([&](int i, int j, T& value) {
      ASSERT_EQ(is_forbidden(value), !in_shape(i + above(), j)) << "A " << i << " " << j;
    });
    r.for_each([&](int i, int j, T& value) { ASSERT_EQ(is_forbidden(value), i > j) << "R " << i << " " << j; });
    t.for_each([&](int i, int j, T& value) {
      bool const in_triangle = i <= j % m_ib;
      ASSERT_EQ(is_forbidden(value), j >= reflectors()) << "T " << i << " " << j;
      ASSERT_TRUE(in_triangle || j >= reflectors() || value == T(0)) << "T " << i << " " << j;
    });
    for (int j = 0; j < reflectors(); ++j) {
      auto const of_r = above() > 0 ? r(j, j) : a(j, j);
      EXPECT_EQ(of_r, T(detail::real_part(of_r))) << j;
    }
    EXPECT_TRUE(a.padding_untouched() && r.padding_untouched() && t.padding_untouched());
  }

 private:
  // True if row i, column j of [R; A] is not an implicit zero.
  [[nodiscard]] bool in_shape(int i, int j) const {
    if (i < above()) return i <= j;
    return m_kind != QrKind::Stairs || i - above() <= j;
  }
  void factor() {
    Workspace<T> workspace(kernels::qr_factor_workspace<T>(m_rows, m_cols, m_ib));
    if (m_kind == QrKind::Whole) {
      kernels::geqrt(a.view(), t.view(), workspace.data());
    } else if (m_kind == QrKind::Stacked) {
      kernels::tsqrt(r.view(), a.view(), t.view(), workspace.data());
    } else {
      kernels::ttqrt(r.view(), a.view(), t.view(), workspace.data());
    }
    EXPECT_TRUE(workspace.kept());
  }

  QrKind m_kind;
  int m_rows, m_cols, m_ib;

 public:
  Tile<T> r, a, t;
  Rectangle<L> before;
};

}  // namespace granary::testing
