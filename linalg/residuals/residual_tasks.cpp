// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/residuals/residual_tasks.hpp>
#include <granary/detail/linalg/tiles/tile_call.hpp>

#include <algorithm>
#include <cmath>

namespace granary::detail {
namespace {

struct StartCall {
  TileShape a, r;
  Start part = Start::All;
};

template <class T>
void run_start(KernelCall const& call) {
  auto const& p = parameters_of<StartCall>(call);
  auto const a = input_tile<T>(call, 0, p.a);
  auto const r = output_tile<T>(call, 1, p.r);
  for (int i = 0; i < r.rows; ++i) {
    for (int j = 0; j < r.cols; ++j) {
      bool const taken = p.part == Start::All || (p.part == Start::Upper ? i <= j : i >= j);
      r(i, j) = taken ? a(i, j) : T(0);
    }
    if (p.part == Start::UnitLower && i < r.cols) r(i, i) = T(1);
  }
}

struct SumsCall {
  TileShape x, y;
  MatrixPart stored = MatrixPart::All;
  bool difference = false;
  bool first = false;  // the sums have no value yet
};

// |x - y| in double precision.
template <class T>
double distance(T const& x, T const& y) {
  if constexpr (is_complex<T>) {
    return std::hypot(static_cast<double>(x.real()) - static_cast<double>(y.real()),
                      static_cast<double>(x.imag()) - static_cast<double>(y.imag()));
  } else {
    return std::abs(static_cast<double>(x) - static_cast<double>(y));
  }
}

// Calls term(i, j) for all elements of the stored part, in the order in which X lies in memory.
template <class T, class Term>
void for_elements(TileView<T const> x, MatrixPart stored, Term&& term) {
  bool const columns = x.layout == TileLayout::ColumnMajor;
  int const majors = columns ? x.cols : x.rows;
  int const minors = columns ? x.rows : x.cols;
  bool const from_diagonal = stored == (columns ? MatrixPart::Lower : MatrixPart::Upper);
  bool const to_diagonal = stored == (columns ? MatrixPart::Upper : MatrixPart::Lower);
  for (int major = 0; major < majors; ++major) {
    int const end = to_diagonal ? std::min(minors, major + 1) : minors;
    for (int minor = from_diagonal ? major : 0; minor < end; ++minor) {
      columns ? term(minor, major) : term(major, minor);
    }
  }
}

template <class T>
void run_sums(KernelCall const& call) {
  auto const& p = parameters_of<SumsCall>(call);
  auto const x = input_tile<T>(call, 0, p.x);
  auto const y = p.difference ? input_tile<T>(call, 1, p.y) : x;
  auto* const sums = reinterpret_cast<double*>(call.data[p.difference ? 2 : 1]);
  if (p.first) std::fill_n(sums, x.cols, 0.0);
  bool const hermitian = p.stored != MatrixPart::All;
  for_elements(x, p.stored, [&](int i, int j) {
    T const other = p.difference ? y(i, j) : T(0);
    bool const real = hermitian && i == j;  // imaginary parts on the diagonal do not count
    double const value = real ? distance(real_part(x(i, j)), real_part(other)) : distance(x(i, j), other);
    sums[j] += value;
    if (hermitian && i != j) sums[i] += value;
  });
}

struct ReduceCall {
  std::int32_t count = 0;
  bool quotients = false;
  bool first = false;  // the result has no value yet
};

double quotient(double sum, double divisor) { return sum != 0 ? sum / divisor : sum; }

// NaN once a sum is NaN.
void run_reduce(KernelCall const& call) {
  auto const& p = parameters_of<ReduceCall>(call);
  auto const* const sums = reinterpret_cast<double const*>(call.data[0]);
  auto const* const divisors = p.quotients ? reinterpret_cast<double const*>(call.data[1]) : nullptr;
  auto& result = *reinterpret_cast<double*>(call.data[p.quotients ? 2 : 1]);
  double largest = p.first ? 0 : result;
  for (int j = 0; j < p.count; ++j) {
    double const value = divisors != nullptr ? quotient(sums[j], divisors[j]) : sums[j];
    if (!(value <= largest) && !std::isnan(largest)) largest = value;
  }
  result = largest;
}

struct QuotientsCall {
  std::int32_t count = 0;
};

void run_quotients(KernelCall const& call) {
  auto const* const sums = reinterpret_cast<double const*>(call.data[0]);
  auto const* const divisors = reinterpret_cast<double const*>(call.data[1]);
  auto* const results = reinterpret_cast<double*>(call.data[2]);
  for (int j = 0; j < parameters_of<QuotientsCall>(call).count; ++j) results[j] = quotient(sums[j], divisors[j]);
}

template <class T>
Codelet const start_codelet = tile_codelet<T>("residual start", run_start<T>);
template <class T>
Codelet const sums_codelet = tile_codelet<T>("residual sums", run_sums<T>);
template <class T>
Codelet const reduce_codelet = tile_codelet<T>("residual norm", run_reduce);
template <class T>
Codelet const quotients_codelet = tile_codelet<T>("residual of columns", run_quotients);

double elements_of(TileRef const& tile) { return static_cast<double>(tile.rows) * static_cast<double>(tile.cols); }

}  // namespace

template <class T>
void start(TaskEmitter& tasks, Start part, TileRef const& a, TileRef const& r) {
  tasks.emit(start_codelet<T>, {read(a), write(r)}, 0, 0, StartCall{a.shape(), r.shape(), part});
}

template <class T>
void ColumnSums<T>::add(std::uint64_t j, TileRef const& x, MatrixPart stored) {
  auto const access = mode(j);
  SumsCall const call{x.shape(), {}, stored, false, access == AccessMode::Write};
  m_tasks.emit(sums_codelet<T>, {read(x), Access{m_sums[j], access}}, 0, elements_of(x), call);
}

template <class T>
void ColumnSums<T>::add_difference(std::uint64_t j, TileRef const& x, TileRef const& y, MatrixPart stored) {
  auto const access = mode(j);
  SumsCall const call{x.shape(), y.shape(), stored, true, access == AccessMode::Write};
  m_tasks.emit(sums_codelet<T>, {read(x), read(y), Access{m_sums[j], access}}, 0, 2 * elements_of(x), call);
}

template <class T>
void ColumnSums<T>::reduce(ColumnSums const* divisors, DataId result) {
  for (std::uint64_t j = 0; j < m_grid.tile_cols(); ++j) {
    Access const target{result, j == 0 ? AccessMode::Write : AccessMode::ReadWrite};
    ReduceCall const call{to_int32(m_grid.cols_in(j), "a number of columns"), divisors != nullptr, j == 0};
    Access const sums{m_sums[j], AccessMode::Read};
    if (divisors == nullptr) {
      m_tasks.emit(reduce_codelet<T>, {sums, target}, 0, 0, call);
    } else {
      m_tasks.emit(reduce_codelet<T>, {sums, Access{divisors->m_sums[j], AccessMode::Read}, target}, 0, 0, call);
    }
  }
}

template <class T>
void ColumnSums<T>::quotients(ColumnSums const& divisors, std::vector<DataId> const& results) {
  for (std::uint64_t j = 0; j < m_grid.tile_cols(); ++j) {
    m_tasks.emit(quotients_codelet<T>,
                 {Access{m_sums[j], AccessMode::Read}, Access{divisors.m_sums[j], AccessMode::Read},
                  Access{results[j], AccessMode::Write}},
                 0, 0, QuotientsCall{to_int32(m_grid.cols_in(j), "a number of columns")});
  }
}

#define GRANARY_INSTANTIATE(T)                                                 \
  template void start<T>(TaskEmitter&, Start, TileRef const&, TileRef const&); \
  template class ColumnSums<T>;
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary::detail
