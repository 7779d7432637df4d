// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/algorithms/column_maxima.hpp>
#include <granary/detail/linalg/algorithms/matrix_ops.hpp>
#include <granary/detail/linalg/algorithms/norms.hpp>
#include <granary/detail/linalg/runtime/solve.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

/// Solves in mixed precision, like LAPACK's xxPOSV and xxGESV: factors in single precision, which takes half the time
/// and half the memory, and refines until the backward error is as in double precision. The calls wait for norms
/// between their steps, and for their own data alone; they have no asynchronous form.
///
/// ```cpp
/// using Matrix = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
/// Matrix a("A", 300, 300), b("B", 300, 2), x("X", 300, 2);
/// Kokkos::deep_copy(b, 1.0);
/// granary::Runtime runtime;
/// granary::set(runtime, 1.0, 400.0, a);
/// granary::MixedReport const report = granary::posv_mixed(runtime, granary::Uplo::Lower, a, b, x);
/// assert(report.used_float);  // A is unchanged, and X as accurate as in double precision
/// ```
namespace granary {

/// How a system was solved in mixed precision.
struct GRANARY_EXPORT MixedReport {
  int iterations = 0;       ///< number of refinements of the single precision solution
  bool used_float = false;  ///< X is that refined solution; otherwise all was repeated in double precision
  std::string reason = {};  ///< why not; empty if used_float
  /// The row exchanges of the factorization in double precision, if gesv_mixed computed one.
  std::optional<Pivots> pivots = {};
};

namespace detail {

/// The scalar of half the width.
template <class T>
using HalfOf = std::conditional_t<is_complex<T>, Kokkos::complex<float>, float>;

/// The infinity norms of the columns of a matrix, as data in place.
class GRANARY_EXPORT ColumnMaxima {
 public:
  ColumnMaxima(DataScope& scope, TileGrid const& grid, std::string const& name)
      : m_values(std::make_shared<std::vector<double>>(grid.cols)) {
    for (std::uint64_t j = 0; j < grid.tile_cols(); ++j) {
      m_data.push_back(scope.in_place(tile_name(name, 0, j), reinterpret_cast<std::byte*>(&(*m_values)[grid.first(j)]),
                                      grid.cols_in(j) * sizeof(double), m_values));
    }
  }
  [[nodiscard]] std::vector<double> const& values() const { return *m_values; }
  [[nodiscard]] std::vector<DataId> const& data() const { return m_data; }

 private:
  std::shared_ptr<std::vector<double>> m_values;
  std::vector<DataId> m_data;
};

/// A X = B with A Hermitian positive definite, one triangle stored.
template <class T>
class GRANARY_EXPORT CholeskySystem {
 public:
  CholeskySystem(DataScope& scope, TiledMatrix<T> const& a)
      : m_a(a), m_low(scope.temporary<HalfOf<T>>(a.grid(), a.part(), a.name() + " in single precision")) {}

  void norm(TaskEmitter& tasks, Norm norm, DataId result) const { submit_lanhe(tasks, norm, m_a, result); }
  void factor(TaskEmitter& tasks) const {
    copy(tasks, m_a, m_low, OtherTriangle::Zeroed);
    potrf(tasks, m_low);
  }
  void solve(TaskEmitter& tasks, TiledMatrix<HalfOf<T>> const& b) const { potrs(tasks, m_low, b); }
  /// R := R - A X
  void subtract_product(TaskEmitter& tasks, TiledMatrix<T> const& x, TiledMatrix<T> const& r) const {
    auto const uplo = m_a.part() == MatrixPart::Lower ? Uplo::Lower : Uplo::Upper;
    hemm(tasks, Side::Left, uplo, T(-1), m_a, x, T(1), r);
  }
  /// Data that `failure` reads.
  [[nodiscard]] std::span<DataId const> exchanges() const { return {}; }
  [[nodiscard]] std::optional<std::string> failure() const { return std::nullopt; }

 private:
  TiledMatrix<T> m_a;
  TiledMatrix<HalfOf<T>> m_low;
};

/// A X = B with any A.
template <class T>
class GRANARY_EXPORT LuSystem {
 public:
  LuSystem(MatrixCall& call, DataScope& scope, TiledMatrix<T> const& a)
      : m_a(a),
        m_low(scope.temporary<HalfOf<T>>(a.grid(), MatrixPart::All, a.name() + " in single precision")),
        m_pivots(a.grid()),
        m_exchanges(bind_pivots(scope, m_pivots, m_low.name())),
        m_options(with_leaf(chosen_leaf(), m_low, false, call.memory(), call.has_devices())) {}

  void norm(TaskEmitter& tasks, Norm norm, DataId result) const { submit_lange(tasks, norm, m_a, result); }
  void factor(TaskEmitter& tasks) const {
    copy(tasks, m_a, m_low);
    getrf(tasks, m_low, m_exchanges, m_options);
  }
  void solve(TaskEmitter& tasks, TiledMatrix<HalfOf<T>> const& b) const {
    getrs(tasks, Op::NoTrans, m_low, &m_exchanges, b);
  }
  /// R := R - A X
  void subtract_product(TaskEmitter& tasks, TiledMatrix<T> const& x, TiledMatrix<T> const& r) const {
    gemm(tasks, Op::NoTrans, Op::NoTrans, T(-1), m_a, x, T(1), r);
  }
  /// Data that `failure` reads.
  [[nodiscard]] std::span<DataId const> exchanges() const { return m_exchanges.panels; }
  [[nodiscard]] std::optional<std::string> failure() const {
    if (auto const order = m_pivots.zero_pivot()) {
      return "pivot " + std::to_string(*order) + " is exactly zero in single precision";
    }
    return std::nullopt;
  }

 private:
  TiledMatrix<T> m_a;
  TiledMatrix<HalfOf<T>> m_low;
  Pivots m_pivots;
  PivotData m_exchanges;
  LuOptions m_options;
};

/// Iterative refinement as in dsposv.f and dsgesv.f of LAPACK: X has converged if every column of the residual R = B -
/// A X has ‖r‖∞ <= sqrt(n) ε ‖A‖∞ ‖x‖∞.
template <class T, class System>
class GRANARY_EXPORT Refinement {
 public:
  Refinement(MatrixCall& call, DataScope& scope, System const& system, TiledMatrix<T> const& b, TiledMatrix<T> const& x)
      : m_call(call),
        m_scope(scope),
        m_system(system),
        m_b(b),
        m_x(x),
        m_low(scope.temporary<HalfOf<T>>(b.grid(), MatrixPart::All, x.name() + " in single precision")),
        m_r(scope.temporary<T>(b.grid(), MatrixPart::All, "residual of " + x.name())),
        m_r_maxima(scope, b.grid(), "norms of R"),
        m_x_maxima(scope, b.grid(), "norms of X") {}

  /// Returns the reason if X did not converge; at most 30 refinements, as in dsgesv.f.
  [[nodiscard]] std::optional<std::string> run(int& iterations) {
    constexpr int most = 30;
    if (auto reason = overflow()) return reason;
    m_system.factor(m_call.tasks());
    copy(m_call.tasks(), m_b, m_low);
    m_system.solve(m_call.tasks(), m_low);
    copy(m_call.tasks(), m_low, m_x);
    for (iterations = 0;; ++iterations) {
      measure();
      if (auto reason = m_system.failure()) return reason;
      for (double const maximum : m_r_maxima.values()) {
        if (!std::isfinite(maximum)) return "the solution overflows in single precision";
      }
      if (converged()) return std::nullopt;
      if (iterations == most) return "no convergence in " + std::to_string(most) + " refinements";
      correct();
    }
  }

 private:
  void wait(std::vector<DataId> const& results) { m_call.session().wait_for(results); }
  // Computes norms; returns the reason if A or B cannot be converted to single precision.
  [[nodiscard]] std::optional<std::string> overflow() {
    constexpr double limit = std::numeric_limits<float>::max();
    auto const norm = m_scope.in_place("norm of A", m_norms->a, m_norms);
    auto const largest_b = m_scope.in_place("largest element of B", m_norms->largest_b, m_norms);
    m_system.norm(m_call.tasks(), Norm::Infinity, norm);
    submit_lange(m_call.tasks(), Norm::Max, m_b, largest_b);
    wait({norm, largest_b});
    if (!(m_norms->a <= limit)) {
      auto const largest_a = m_scope.in_place("largest element of A", m_norms->largest_a, m_norms);
      m_system.norm(m_call.tasks(), Norm::Max, largest_a);
      wait({largest_a});
    }
    if (std::isnan(m_norms->largest_a)) return "an element of A is NaN";
    if (std::isnan(m_norms->largest_b)) return "an element of B is NaN";
    if (!(m_norms->largest_a <= limit)) return "an element of A is too large for single precision";
    if (!(m_norms->largest_b <= limit)) return "an element of B is too large for single precision";
    return std::nullopt;
  }
  // R := B - A X, and the norms of its columns and of X's.
  void measure() {
    copy(m_call.tasks(), m_b, m_r);
    m_system.subtract_product(m_call.tasks(), m_x, m_r);
    submit_column_maxima<T>(m_call.tasks(), m_r, m_r_maxima.data());
    submit_column_maxima<T>(m_call.tasks(), m_x, m_x_maxima.data());
    std::vector<DataId> results = m_r_maxima.data();
    results.insert(results.end(), m_x_maxima.data().begin(), m_x_maxima.data().end());
    results.insert(results.end(), m_system.exchanges().begin(), m_system.exchanges().end());
    wait(results);
  }
  [[nodiscard]] bool converged() const {
    double const tolerance = std::sqrt(static_cast<double>(m_b.grid().rows)) * 0x1p-53 * m_norms->a;
    return std::equal(m_r_maxima.values().begin(), m_r_maxima.values().end(), m_x_maxima.values().begin(),
                      [&](double r, double x) { return r <= x * tolerance; });
  }
  // X := X + A^-1 R, with A^-1 in single precision.
  void correct() {
    copy(m_call.tasks(), m_r, m_low);
    m_system.solve(m_call.tasks(), m_low);
    copy(m_call.tasks(), m_low, m_r);
    add<T>(m_call.tasks(), T(1), m_r, T(1), m_x);
  }

  MatrixCall& m_call;
  DataScope& m_scope;
  System const& m_system;
  TiledMatrix<T> m_b;
  TiledMatrix<T> m_x;
  TiledMatrix<HalfOf<T>> m_low;
  TiledMatrix<T> m_r;
  ColumnMaxima m_r_maxima;
  ColumnMaxima m_x_maxima;
  struct Norms {
    double a = 0;
    double largest_a = 0;
    double largest_b = 0;
  };
  std::shared_ptr<Norms> m_norms = std::make_shared<Norms>();
};

/// Solves in single precision with refinement; the report states whether it converged.
template <class T, class MakeSystem>
[[nodiscard]] MixedReport try_single(MatrixCall& call, MakeSystem&& make_system, TiledMatrix<T> const& b,
                                     TiledMatrix<T> const& x) {
  MixedReport report;
  std::optional<std::string> reason;
  DataScope scope(call.session());
  auto const system = make_system(scope);
  Refinement refinement(call, scope, system, b, x);
  try {
    reason = refinement.run(report.iterations);
  } catch (NotPositiveDefinite const& error) {
    reason = std::string("in single precision ") + NotPositiveDefinite(error.order()).what();
    call.settle(scope);  // which reports it for all data that it concerns
  } catch (...) {
    call.settle(scope);
    throw;
  }
  report.used_float = !reason;
  report.reason = reason.value_or("");
  return report;
}

}  // namespace detail

/// Solves A X = B in mixed precision, with A Hermitian positive definite, of which the triangle `uplo` is read; xSPOSV.
/// A, B and X are of double or Kokkos::complex<double>. A and B are only read, unless the refinement does not reach the
/// backward error of double precision. Then A is overwritten with its Cholesky factor in double precision, and the
/// report has the reason: an element overflows in single precision, the matrix is not positive definite in it, or there
/// was no convergence in 30 refinements. Temporary data: A and X in single precision, and a residual of X's size.
///
/// Throws NotPositiveDefinite if potrf in double precision does, and what posv throws.
template <MutableMatrix A, MatrixOperand B, MutableMatrix X>
requires SameScalars<A, B, X> && std::same_as < detail::RealOf<detail::ScalarOf<A>>,
double > MixedReport posv_mixed(RuntimeCall runtime, Uplo uplo, A const& a, B const& b, X const& x,
                                detail::TileSize tile = {}, SolveOptions const& options = {}) {
  using T = detail::ScalarOf<A>;
  MixedReport report;
  runtime.refuse_in_task("posv_mixed");
  runtime.refuse_with_others("posv_mixed does not work");
  return detail::matrix_call(runtime, "posv_mixed", [&](detail::MatrixCall& call) {
    auto const& matrix = call.writes("A", a);
    auto const& right = call.reads("B", b);
    auto const& solution = call.writes("X", x);
    call.require_square(0);
    call.require_match(matrix.rows == right.rows && right.rows == solution.rows && right.cols == solution.cols);
    call.require_whole_output(a, detail::part_of(uplo));
    call.prepare(tile);
    auto const a_tiles = call.tiles(0, a, detail::part_of(uplo));
    auto const b_tiles = call.tiles(1, b);
    auto const x_tiles = call.tiles(2, x);
    runtime.session().wait_for(detail::check_finite(call, options, true, a, a_tiles, b, b_tiles));
    report = detail::try_single<T>(
        call, [&](detail::DataScope& scope) { return detail::CholeskySystem<T>(scope, a_tiles); }, b_tiles, x_tiles);
    if (!report.used_float) {
      copy(call.tasks(), b_tiles, x_tiles);
      potrf(call.tasks(), a_tiles);
      potrs(call.tasks(), a_tiles, x_tiles);
    }
    call.submitted(detail::refuse_not_finite(call, options, x_tiles)).wait();
    return report;
  });
}

/// Solves A X = B in mixed precision; xSGESV. Like posv_mixed, with LU factorizations: the refinement also stops if a
/// pivot is exactly zero in single precision. Then A is overwritten with its factors in double precision, and the
/// report has the row exchanges.
///
/// Throws Singular if getrf in double precision does, and what gesv throws.
template <MutableMatrix A, MatrixOperand B, MutableMatrix X>
requires SameScalars<A, B, X> && std::same_as < detail::RealOf<detail::ScalarOf<A>>,
double > MixedReport gesv_mixed(RuntimeCall runtime, A const& a, B const& b, X const& x, detail::TileSize tile = {},
                                SolveOptions const& options = {}) {
  using T = detail::ScalarOf<A>;
  MixedReport report;
  runtime.refuse_in_task("gesv_mixed");
  runtime.refuse_with_others("gesv_mixed does not work");
  return detail::matrix_call(runtime, "gesv_mixed", [&](detail::MatrixCall& call) {
    auto const& matrix = call.writes("A", a);
    auto const& right = call.reads("B", b);
    auto const& solution = call.writes("X", x);
    call.require_square(0);
    call.require_match(matrix.rows == right.rows && right.rows == solution.rows && right.cols == solution.cols);
    call.prepare(tile);
    auto const a_tiles = call.tiles(0, a);
    auto const b_tiles = call.tiles(1, b);
    auto const x_tiles = call.tiles(2, x);
    runtime.session().wait_for(detail::check_finite(call, options, false, a, a_tiles, b, b_tiles));
    report = detail::try_single<T>(
        call, [&](detail::DataScope& scope) { return detail::LuSystem<T>(call, scope, a_tiles); }, b_tiles, x_tiles);
    if (!report.used_float) {
      auto& pivots = report.pivots.emplace(a_tiles.grid());
      auto const exchanges = detail::bind_pivots(call.data(), pivots, a_tiles.name());
      copy(call.tasks(), b_tiles, x_tiles);
      getrf(call.tasks(), a_tiles, exchanges,
            detail::with_leaf(chosen_leaf(), a_tiles, detail::MatrixTraits<A>::is_view, call.memory(),
                              call.has_devices()));
      getrs(call.tasks(), Op::NoTrans, a_tiles, &exchanges, x_tiles);
    }
    auto const pivots = report.pivots ? detail::refuse_zero_pivot(*report.pivots) : nullptr;
    call.submitted(detail::refuse_not_finite(call, options, x_tiles, pivots)).wait();
    return report;
  });
}

}  // namespace granary
