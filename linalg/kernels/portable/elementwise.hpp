// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/kernels/portable/strided.hpp>

#include <cmath>
#include <cstring>

/// The kernels of elementwise_kernels.hpp as functors, one call per entry.
namespace granary::kernels::portable {

template <class To, class From>
[[nodiscard]] KOKKOS_INLINE_FUNCTION To converted(From const& value) {
  if constexpr (detail::is_complex<From>) {
    return To(static_cast<detail::RealOf<To>>(value.real()), static_cast<detail::RealOf<To>>(value.imag()));
  } else {
    return static_cast<To>(value);
  }
}

/// B := A or conj(A) on one part; elements outside stay, or become zero.
template <class From, class To>
struct Copy {
  Strided<From const> a;
  Strided<To> b;
  Entries entries;
  MatrixPart part;
  bool conjugated, zero_outside;

  Copy(MatrixPart where, bool conjugate_it, Strided<From const> const& from, Strided<To> const& to,
       bool zero_rest = false)
      : a(from), b(to), entries(to), part(where), conjugated(conjugate_it), zero_outside(zero_rest) {}
  KOKKOS_FUNCTION void operator()(std::int64_t number) const {
    int const i = entries.row(number), j = entries.col(number);
    if (in_part(part, i, j)) {
      b(i, j) = converted<To>(conjugated ? detail::conjugate(a(i, j)) : a(i, j));
    } else if (zero_outside) {
      b(i, j) = To(0);
    }
  }
};

/// One value off the diagonal and one on it, on one part.
template <class T>
struct Set {
  Strided<T> a;
  Entries entries;
  T off_diagonal, diagonal;
  MatrixPart part;
  bool zero_outside;

  Set(MatrixPart where, T off, T on, Strided<T> const& matrix, bool zero_rest = false)
      : a(matrix), entries(matrix), off_diagonal(off), diagonal(on), part(where), zero_outside(zero_rest) {}
  KOKKOS_FUNCTION void operator()(std::int64_t number) const {
    int const i = entries.row(number), j = entries.col(number);
    if (in_part(part, i, j)) {
      a(i, j) = i == j ? diagonal : off_diagonal;
    } else if (zero_outside) {
      a(i, j) = T(0);
    }
  }
};

/// B := alpha A + beta B on one part.
template <class T>
struct Add {
  Strided<T const> a;
  Strided<T> b;
  Entries entries;
  T alpha, beta;
  MatrixPart part;
  bool zero_outside;

  Add(MatrixPart where, T of_a, Strided<T const> const& from, T of_b, Strided<T> const& to, bool zero_rest = false)
      : a(from), b(to), entries(to), alpha(of_a), beta(of_b), part(where), zero_outside(zero_rest) {}
  KOKKOS_FUNCTION void operator()(std::int64_t number) const {
    int const i = entries.row(number), j = entries.col(number);
    if (in_part(part, i, j)) {
      b(i, j) = beta == T(0) ? alpha * a(i, j) : alpha * a(i, j) + beta * b(i, j);
    } else if (zero_outside) {
      b(i, j) = T(0);
    }
  }
};

/// d(j) += Σ_i |a_ij|², or :=, a column per call.
template <class T>
struct AddColumnSquares {
  Strided<T const> a;
  Strided<T> d;
  bool first;

  KOKKOS_FUNCTION void operator()(std::int64_t column) const {
    int const j = static_cast<int>(column);
    detail::RealOf<T> sum = first ? 0 : detail::real_part(d(j, 0));
    for (int i = 0; i < a.rows; ++i) sum += detail::real_part(T(a(i, j) * detail::conjugate(a(i, j))));
    d(j, 0) = T(sum);
  }
};

/// |x| in double precision.
template <class T>
[[nodiscard]] KOKKOS_INLINE_FUNCTION double modulus_of(T const& value) {
  if constexpr (detail::is_complex<T>) {
    return std::hypot(static_cast<double>(value.real()), static_cast<double>(value.imag()));
  } else {
    return std::abs(static_cast<double>(value));
  }
}

/// a := max(a, value), NaN once one is; the order of calls does not matter. Both are at least 0 or NaN, so the larger
/// one has the larger bits.
KOKKOS_INLINE_FUNCTION void raise(double* a, double value) {
  using Bits = unsigned long long;
  static_assert(sizeof(Bits) == sizeof(double));
  double const positive = std::abs(value);
  Bits bits = 0;
  memcpy(&bits, &positive, sizeof(bits));
  Kokkos::atomic_fetch_max(reinterpret_cast<Bits*>(a), bits);
}

struct SetNumber {
  double* number;
  double value;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { number[i] = value; }
};

/// largest[j * step] := max(old value, |a_ij|), in groups of about 64 entries of a column.
template <class T>
struct RaiseModuli {
  Strided<T const> a;
  MatrixPart part;
  double* largest;
  int step;
  int groups;

  RaiseModuli(MatrixPart where, Strided<T const> const& matrix, double* to, int to_step)
      : a(matrix), part(where), largest(to), step(to_step), groups((matrix.rows + 63) / 64) {}
  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(groups) * a.cols; }
  KOKKOS_FUNCTION void operator()(std::int64_t number) const {
    int const j = static_cast<int>(number / groups);
    double here = 0;
    for (int i = static_cast<int>(number % groups); i < a.rows; i += groups) {
      if (!in_part(part, i, j)) continue;
      double const size = modulus_of(a(i, j));
      here = here >= size || here != here ? here : size;
    }
    raise(largest + static_cast<std::int64_t>(j) * step, here);
  }
};

/// True if an entry is neither NaN nor infinite, and likewise for the imaginary part unless `real_only`.
template <class T>
[[nodiscard]] KOKKOS_INLINE_FUNCTION bool finite(T const& value, bool real_only) {
  auto const re = detail::real_part(value);
  bool const is_finite = re - re == 0;
  if constexpr (detail::is_complex<T>) return is_finite && (real_only || value.imag() - value.imag() == 0);
  return is_finite;
}

/// The entries of a part in which to look for NaN and infinity. With `hermitian`, imaginary parts on the diagonal of a
/// triangle do not count.
template <class T>
struct FiniteEntries {
  Strided<T const> a;
  Entries entries;
  MatrixPart part;
  bool hermitian;

  FiniteEntries(MatrixPart where, bool real_diagonal, Strided<T const> const& matrix)
      : a(matrix), entries(matrix), part(where), hermitian(real_diagonal) {}
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool fails(std::int64_t number) const {
    int const i = entries.row(number), j = entries.col(number);
    return in_part(part, i, j) && !finite(a(i, j), hermitian && part != MatrixPart::All && i == j);
  }
};

inline constexpr std::int64_t no_entry = std::int64_t{1} << 62;

/// first := min(old value, number of an entry that is not finite).
template <class T>
struct FindNotFinite {
  FiniteEntries<T> searched;
  std::int64_t* first;

  KOKKOS_FUNCTION void operator()(std::int64_t number) const {
    if (searched.fails(number)) Kokkos::atomic_fetch_min(first, number);
  }
};
/// info := 1 + first, and value := the NaN or infinity there, if `first` is the number of an entry.
template <class T>
struct ReportNotFinite {
  FiniteEntries<T> searched;
  std::int64_t const* first;
  std::int64_t* info;
  double* value;

  KOKKOS_FUNCTION void operator()(std::int64_t) const {
    if (*first == no_entry) return;
    auto const& found = searched.a(searched.entries.row(*first), searched.entries.col(*first));
    *info = *first + 1;
    *value = finite(found, true) ? modulus_of(found) : static_cast<double>(detail::real_part(found));
  }
};
struct NoneFound {
  std::int64_t* first;

  KOKKOS_FUNCTION void operator()(std::int64_t) const { *first = no_entry; }
};

/// largest := max |a_ij| of one part.
template <class Space, class T>
void max_modulus(Space const& space, MatrixPart part, detail::TileView<T const> const& a, double* largest) {
  for_each("granary::max_modulus::begin", space, 1, SetNumber{largest, 0});
  // Line by line in memory order.
  bool const by_rows = a.layout == detail::TileLayout::RowMajor;
  MatrixPart const flipped = part == MatrixPart::Lower   ? MatrixPart::Upper
                             : part == MatrixPart::Upper ? MatrixPart::Lower
                                                         : MatrixPart::All;
  auto const matrix = strided(a);
  RaiseModuli<T> const raise(by_rows ? flipped : part, by_rows ? matrix.transposed() : matrix, largest, 0);
  for_each("granary::max_modulus", space, raise.count(), raise);
}

/// A := conj(A) on one part.
template <class T>
struct Conjugate {
  Strided<T> a;
  Entries entries;
  MatrixPart part;

  explicit Conjugate(Strided<T> const& matrix, MatrixPart where = MatrixPart::All)
      : a(matrix), entries(matrix), part(where) {}
  KOKKOS_FUNCTION void operator()(std::int64_t number) const {
    int const i = entries.row(number), j = entries.col(number);
    if (in_part(part, i, j)) a(i, j) = detail::conjugate(a(i, j));
  }
};

}  // namespace granary::kernels::portable
