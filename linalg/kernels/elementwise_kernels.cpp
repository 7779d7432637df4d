// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/kernels/elementwise_kernels.hpp>

#include <granary/detail/core/base/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace granary::kernels {
namespace {

// Entries that are contiguous in a tile: `count` entries of line `line`, a column or a row, from entry `first` on.
template <class T>
struct Run {
  T* data;
  int line;
  int first;
  int count;
};

template <class T>
[[nodiscard]] bool by_rows(detail::TileView<T> const& tile) {
  return tile.layout == detail::TileLayout::RowMajor;
}
template <class T>
[[nodiscard]] int lines(detail::TileView<T> const& tile) {
  return by_rows(tile) ? tile.rows : tile.cols;
}
template <class T>
[[nodiscard]] int line_length(detail::TileView<T> const& tile) {
  return by_rows(tile) ? tile.cols : tile.rows;
}

// The part of a line: from its diagonal entry on, or up to it; strict: without that entry.
template <class T>
[[nodiscard]] Run<T> run_of(detail::TileView<T> const& tile, MatrixPart part, bool strict, int line) {
  int const length = line_length(tile);
  int first = 0, last = length;
  if (part != MatrixPart::All) {
    if ((part == MatrixPart::Lower) != by_rows(tile)) {
      first = std::min(length, line + (strict ? 1 : 0));
    } else {
      last = std::min(length, line + (strict ? 0 : 1));
    }
  }
  return {tile.data + static_cast<std::ptrdiff_t>(line) * tile.ld + first, line, first, last - first};
}

template <class T, class Function>
void for_each_run(detail::TileView<T> const& tile, MatrixPart part, bool strict, Function const& function) {
  for (int line = 0; line < lines(tile); ++line) {
    if (auto const run = run_of(tile, part, strict, line); run.count > 0) function(run);
  }
}

template <class A, class B>
void require_same_size(char const* kernel, detail::TileView<A> const& a, detail::TileView<B> const& b) {
  if (a.rows == b.rows && a.cols == b.cols) return;
  throw InvalidArgument(std::string(kernel) + ": the sizes of A " + std::to_string(a.rows) + "x" +
                        std::to_string(a.cols) + " and B " + std::to_string(b.rows) + "x" + std::to_string(b.cols) +
                        " do not match");
}

// Calls operation(a_ij, b_ij) on one part. If the layouts differ, works in blocks that fit in cache.
template <class A, class B, class Operation>
void for_each_pair(MatrixPart part, detail::TileView<A> const& a, detail::TileView<B> const& b,
                   Operation const& operation) {
  if (a.layout == b.layout) {
    for_each_run(b, part, false, [&](Run<B> const& run) {
      A* const from = a.data + static_cast<std::ptrdiff_t>(run.line) * a.ld + run.first;
      for (int i = 0; i < run.count; ++i) operation(from[i], run.data[i]);
    });
    return;
  }
  constexpr int width = 32;
  for (int line0 = 0; line0 < lines(b); line0 += width) {
    for (int block = 0; block < line_length(b); block += width) {
      for (int line = line0; line < std::min(lines(b), line0 + width); ++line) {
        auto const run = run_of(b, part, false, line);
        int const first = std::max(run.first, block), last = std::min(run.first + run.count, block + width);
        for (int i = first; i < last; ++i) {
          operation(a.data[static_cast<std::ptrdiff_t>(i) * a.ld + line], run.data[i - run.first]);
        }
      }
    }
  }
}

template <class To, class From>
[[nodiscard]] To converted(From const& value) {
  if constexpr (detail::is_complex<From>) {
    return To(static_cast<detail::RealOf<To>>(value.real()), static_cast<detail::RealOf<To>>(value.imag()));
  } else {
    return static_cast<To>(value);
  }
}

// Sums of squares in this range have no overflow and no significant underflow.
constexpr double smallest_safe = 1e-280;
constexpr double largest_safe = 1e290;

template <class T>
[[nodiscard]] double square(T const& value) {
  double const re = detail::real_part(value);
  if constexpr (detail::is_complex<T>) {
    double const im = value.imag();
    return re * re + im * im;
  } else {
    return re * re;
  }
}

template <class T>
[[nodiscard]] double modulus_of(T const& value) {
  if constexpr (detail::is_complex<T>) {
    double const sum = square(value);
    if (sum > smallest_safe && sum < largest_safe) return std::sqrt(sum);
    return std::hypot(static_cast<double>(value.real()), static_cast<double>(value.imag()));
  } else {
    return std::abs(value);
  }
}

// |a_ii|, of the real part only in a Hermitian tile.
template <class T>
[[nodiscard]] double diagonal_modulus(detail::TileView<T const> const& a, int i) {
  return std::abs(static_cast<double>(detail::real_part(a(i, i))));
}

// The largest modulus, ignoring NaN; a complex modulus is only computed if it may be larger.
template <class T>
[[nodiscard]] double largest_of(Run<T const> const& run, double largest) {
  for (int i = 0; i < run.count; ++i) {
    T const value = run.data[i];
    if constexpr (detail::is_complex<T>) {
      double const bound = std::abs(static_cast<double>(value.real())) + std::abs(static_cast<double>(value.imag()));
      if (bound > largest) largest = std::max(largest, modulus_of(value));
    } else {
      double const size = std::abs(value);
      largest = size > largest ? size : largest;
    }
  }
  return largest;
}

template <class T>
[[nodiscard]] bool has_nan(Run<T const> const& run) {
  bool found = false;
  for (int i = 0; i < run.count; ++i) found |= run.data[i] != run.data[i];
  return found;
}

// Σ |a|² scaled by the largest modulus: the second pass, for tiles that need it.
template <class T>
[[nodiscard]] ScaledSquares scaled_squares(NormPart part, detail::TileView<T const> a) {
  double const scale = max_modulus(part, a);
  if (scale == 0) return {1, 0};
  if (!std::isfinite(scale)) return {std::numeric_limits<double>::max(), scale};
  double sum = 0;
  double const weight = part.hermitian ? 2 : 1;
  for_each_run(a, part.part, part.hermitian, [&](Run<T const> const& run) {
    for (int i = 0; i < run.count; ++i) {
      double const size = modulus_of(run.data[i]) / scale;
      sum += weight * size * size;
    }
  });
  for (int i = 0; part.hermitian && i < a.rows; ++i) {
    double const size = diagonal_modulus(a, i) / scale;
    sum += size * size;
  }
  return {scale, sum};
}

}  // namespace

template <class From, class To>
void copy(MatrixPart part, bool conjugated, detail::TileView<From const> a, detail::TileView<To> b) {
  require_same_size("copy", a, b);
  if (conjugated && detail::is_complex<From>) {
    for_each_pair(part, a, b, [](From const& from, To& to) { to = converted<To>(detail::conjugate(from)); });
  } else {
    for_each_pair(part, a, b, [](From const& from, To& to) { to = converted<To>(from); });
  }
}

template <class T>
void set(MatrixPart part, T off_diagonal, T diagonal, detail::TileView<T> a) {
  for_each_run(a, part, false, [&](Run<T> const& run) { std::fill_n(run.data, run.count, off_diagonal); });
  for (int i = 0; i < std::min(a.rows, a.cols); ++i) a(i, i) = diagonal;
}

template <class T>
void clear_outside(MatrixPart part, detail::TileView<T> a) {
  if (part == MatrixPart::All) return;
  auto const other = part == MatrixPart::Lower ? MatrixPart::Upper : MatrixPart::Lower;
  for_each_run(a, other, true, [&](Run<T> const& run) { std::fill_n(run.data, run.count, T(0)); });
}

template <class T>
void add(MatrixPart part, typename detail::NotDeduced<T>::type alpha, detail::ConstTileView<T> a,
         typename detail::NotDeduced<T>::type beta, detail::TileView<T> b) {
  require_same_size("add", a, b);
  if (beta == T(0)) {
    for_each_pair(part, a, b, [=](T const& from, T& to) { to = alpha * from; });
  } else {
    for_each_pair(part, a, b, [=](T const& from, T& to) { to = alpha * from + beta * to; });
  }
}

template <class T>
void add_column_squares(bool first, detail::TileView<T const> a, detail::TileView<T> d) {
  if (d.rows != a.cols || d.cols != 1) {
    throw InvalidArgument("add_column_squares: a column of " + std::to_string(d.rows) + "x" + std::to_string(d.cols) +
                          " does not have a row for each of " + std::to_string(a.cols) + " columns");
  }
  for (int j = 0; first && j < a.cols; ++j) d(j, 0) = T(0);
  for_each_run(a, MatrixPart::All, false, [&](Run<T const> const& run) {
    for (int i = 0; i < run.count; ++i) d(by_rows(a) ? i : run.line, 0) += run.data[i] * detail::conjugate(run.data[i]);
  });
}

void ScaledSquares::add(ScaledSquares const& other) {
  if (other.sum == 0) return;
  if (other.scale > scale || sum == 0) {
    double const ratio = sum == 0 ? 0 : scale / other.scale;
    *this = {other.scale, sum * ratio * ratio + other.sum};
  } else {
    double const ratio = other.scale / scale;
    sum += other.sum * ratio * ratio;
  }
}

double ScaledSquares::root() const { return scale * std::sqrt(sum); }

template <class T>
double max_modulus(NormPart part, detail::TileView<T const> a) {
  double largest = 0;
  bool nan = false;
  for_each_run(a, part.part, part.hermitian, [&](Run<T const> const& run) {
    largest = largest_of(run, largest);
    nan |= has_nan(run);
  });
  for (int i = 0; part.hermitian && i < a.rows; ++i) largest = max_or_nan(largest, diagonal_modulus(a, i));
  return nan ? std::numeric_limits<double>::quiet_NaN() : largest;
}

template <class T>
ScaledSquares sum_of_squares(NormPart part, detail::TileView<T const> a) {
  double sum = 0;
  for_each_run(a, part.part, part.hermitian, [&](Run<T const> const& run) {
    double partial[8] = {};  // independent sums, so that the compiler can vectorize
    for (int i = 0; i < run.count; ++i) partial[i % 8] += square(run.data[i]);
    for (double const value : partial) sum += value;
  });
  if (part.hermitian) sum *= 2;
  for (int i = 0; part.hermitian && i < a.rows; ++i) sum += square(detail::real_part(a(i, i)));
  bool const safe = sum > smallest_safe && sum < largest_safe;
  return safe ? ScaledSquares{1, sum} : scaled_squares(part, a);
}

template <class T>
void sums_of_moduli(NormPart part, detail::TileView<T const> a, double* columns, double* rows) {
  if (part.hermitian) rows = columns;
  std::fill_n(columns, a.cols, 0.0);
  if (rows != nullptr && rows != columns) std::fill_n(rows, a.rows, 0.0);
  double* const of_lines = by_rows(a) ? rows : columns;
  double* const across = by_rows(a) ? columns : rows;
  for_each_run(a, part.part, part.hermitian, [&](Run<T const> const& run) {
    double sum = 0;
    for (int i = 0; i < run.count; ++i) {
      double const size = modulus_of(run.data[i]);
      sum += size;
      if (across != nullptr) across[run.first + i] += size;
    }
    if (of_lines != nullptr) of_lines[run.line] += sum;
  });
  for (int i = 0; part.hermitian && i < a.rows; ++i) columns[i] += diagonal_modulus(a, i);
}

#define GRANARY_INSTANTIATE(T, Other)                                                       \
  template void copy(MatrixPart, bool, detail::TileView<T const>, detail::TileView<T>);     \
  template void copy(MatrixPart, bool, detail::TileView<T const>, detail::TileView<Other>); \
  template void set(MatrixPart, T, T, detail::TileView<T>);                                 \
  template void clear_outside(MatrixPart, detail::TileView<T>);                             \
  template void add(MatrixPart, T, detail::TileView<T const>, T, detail::TileView<T>);      \
  template void add_column_squares(bool, detail::TileView<T const>, detail::TileView<T>);   \
  template double max_modulus(NormPart, detail::TileView<T const>);                         \
  template ScaledSquares sum_of_squares(NormPart, detail::TileView<T const>);               \
  template void sums_of_moduli(NormPart, detail::TileView<T const>, double*, double*);
GRANARY_INSTANTIATE(float, double)
GRANARY_INSTANTIATE(double, float)
GRANARY_INSTANTIATE(Kokkos::complex<float>, Kokkos::complex<double>)
GRANARY_INSTANTIATE(Kokkos::complex<double>, Kokkos::complex<float>)
#undef GRANARY_INSTANTIATE

}  // namespace granary::kernels
