// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Factorizations, solves and inverses of triangles of drawn matrices, compared with LAPACK and with the same tiled
// algorithms on the BLAS' own TRSM: never more than three times the larger of their errors. By hand, with orders up to
// 3000:
//   GRANARY_TEST_CASES=20000 GRANARY_TEST_LARGEST=3000 build/tests/bin/test_accuracy_sweep
#include <granary/detail/linalg/algorithms/blas3.hpp>
#include <granary/detail/linalg/algorithms/cholesky.hpp>
#include <granary/detail/linalg/algorithms/inverse.hpp>
#include <granary/detail/linalg/algorithms/lu.hpp>
#include <granary/detail/linalg/kernels/tile_kernels.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "device_kernels/lane.hpp"
#include "lapack/bound_lu.hpp"
#include "support/seeds.hpp"
#include "sweep/errors.hpp"
#include "sweep/problems.hpp"
#include "sweep/references.hpp"
#include "unit/linalg/lu.hpp"

namespace granary::sweep {
namespace {

using testing::ImmediateSubmitter;
using testing::op_of;
using testing::triangle_of;

constexpr double allowed = 3;

// A factorization is required from this multiple of n ε on, the nugget relative to the largest diagonal element. Below,
// rounding errors decide, that is, the order in which a kernel adds. Cholesky is proven to succeed if the least
// eigenvalue, after scaling to a unit diagonal, exceeds n γ_(n+1), about n² ε (Higham, Accuracy and Stability, theorem
// 10.7). Errors that add up at random need about √n ε: of 1400 matrices of these families up to order 1200, with
// OpenBLAS' kernels for Haswell, SkylakeX and Prescott, none failed above 0.39 n ε, neither here nor in LAPACK.
constexpr double definite_multiple = 1;

// The largest ratios of an operation, to print.
struct Worst {
  double norm = 0, component = 0;
  std::uint64_t norm_seed = 0, component_seed = 0;
  std::uint64_t count = 0;
};
std::map<std::string, Worst> worst;

// One operation on each entry, in each of the solves, is no loss: what is below counts as its error, u, or √5 u if it
// is complex.
double quotient(double ours, double theirs, double one) { return ours / std::max(one, theirs); }

// `theirs` has the errors of LAPACK and of the tiled reference; what is not finite does not count.
template <class T>
void judge(Problem const& p, std::string const& operation, Errors const& ours, std::initializer_list<Errors> theirs,
           int solves = 1) {
  Errors reference;
  for (auto const& error : theirs) {
    if (error.finite()) reference.include(error);
  }
  double const one = solves * (detail::is_complex<T> ? std::sqrt(5.0) : 1);
  double const norm = quotient(ours.norm, reference.norm, one),
               component = quotient(ours.component, reference.component, one);
  auto& most = worst[operation];
  ++most.count;
  if (norm > most.norm) most.norm = norm, most.norm_seed = p.seed;
  if (component > most.component) most.component = component, most.component_seed = p.seed;
  EXPECT_LE(norm, allowed) << operation << ", normwise " << ours.norm << " u, reference " << reference.norm << " u; "
                           << p;
  EXPECT_LE(component, allowed) << operation << ", componentwise " << ours.component << " u, reference "
                                << reference.component << " u; " << p;
}

template <class T>
bool tiled_potrf(Problem const& p, Rectangle<T>& a) {
  ImmediateSubmitter submitter;
  TaskEmitter tasks(submitter);
  try {
    potrf(tasks, testing::bind_rectangle(submitter, a, p.tile, detail::part_of(p.uplo)));
  } catch (NotPositiveDefinite const&) {
    return false;
  }
  return true;
}

template <class T>
Errors cholesky_errors(Problem const& p, Rectangle<T> const& a, Rectangle<T> const& factor) {
  auto const rows = checked_rows(p.n);
  auto const triangle = triangle_of(p.uplo, Diag::NonUnit, factor);
  auto const other = op_of(Op::ConjTrans, triangle);
  bool const lower = p.uplo == Uplo::Lower;
  return errors_of(Of::Factors, rows_of(a, rows), rows_of(lower ? triangle : other, rows), lower ? other : triangle);
}

// op(A) X = B or X op(A) = B, with flags that the seed draws.
template <class T>
void check_trsm(Problem const& p, char const* name, Uplo uplo, Diag diag, Rectangle<T> const& factor) {
  detail::Random random(p.seed + 3);
  auto const side = random.chance(0.5) ? Side::Left : Side::Right;
  Op const op = std::array{Op::NoTrans, Op::Trans, Op::ConjTrans}[random.below(3)];
  auto const others = static_cast<std::uint64_t>(random.between(1, 70));
  bool const left = side == Side::Left;
  auto const b = testing::random_rectangle<T>(left ? p.n : others, left ? others : p.n, p.seed);
  auto x = b, whole = b, tiled = b;
  auto a = factor;
  ImmediateSubmitter submitter;
  TaskEmitter tasks(submitter);
  trsm(tasks, side, uplo, op, diag, T(1), testing::bind_rectangle(submitter, a, p.tile, detail::part_of(uplo)),
       testing::bind_rectangle(submitter, x, p.tile, MatrixPart::All, "B"));
  reference_trsm(side, uplo, op, diag, factor, whole, p.n);
  reference_trsm(side, uplo, op, diag, factor, tiled, p.tile);
  auto const triangle = op_of(op, triangle_of(uplo, diag, factor));
  auto const error = [&](Rectangle<T> const& solution) {
    return left ? errors_of(Of::Solution, b, triangle, solution) : errors_of(Of::Solution, b, solution, triangle);
  };
  judge<T>(p, name, error(x), {error(whole), error(tiled)});
}

template <class T>
[[nodiscard]] bool tile_trtri(Uplo uplo, Rectangle<T>& a) {
  int const n = to_int(a.rows);
  if (ImmediateSubmitter::lane_workspace == 0)
    return kernels::trtri<T>(uplo, Diag::NonUnit, detail::TileView<T>{a.elements.data(), n, n, n}) == 0;
  testing::OnDevice<T> const there(a.elements);
  testing::Lane lane;
  lane.run([&](auto const& on) {
    kernels::trtri<T>(on, uplo, Diag::NonUnit, detail::TileView<T>{there.data(), n, n, n});
  });
  a.elements = there.values();
  return lane.report().info == 0;
}

// X A - I, of a tile. LAPACK's own is not called: OpenBLAS' ctrtri crashes with the kernels for Prescott (0.3.21).
template <class T>
void check_trtri(Problem const& p, Uplo uplo, Rectangle<T> const& factor) {
  auto const order = std::min<std::uint64_t>(p.n, 150);
  auto const triangle = triangle_of(uplo, Diag::NonUnit, testing::rectangle_of<T>(order, order, factor));
  auto ours = triangle;
  if (!tile_trtri(uplo, ours)) return;
  auto const identity = testing::rectangle_of<T>(order, order, [](auto i, auto j) { return T(i == j ? 1 : 0); });
  auto const error = [&](Rectangle<T> const& inverse) { return errors_of(Of::Solution, identity, inverse, triangle); };
  judge<T>(p, "trtri", error(ours),
           {error(reference_trtri(uplo, triangle, 1)), error(reference_trtri(uplo, triangle, 32))});
}

// I - A Z, in units of u ‖|A| |Z|‖∞, from the lower triangle: LAPACK's for the upper one is less accurate.
template <class T>
void check_potri(Problem const& p, Rectangle<T> const& a, Rectangle<T> const& factor) {
  auto ours = factor;
  ImmediateSubmitter submitter;
  TaskEmitter tasks(submitter);
  potri(tasks, testing::bind_rectangle(submitter, ours, p.tile, detail::part_of(p.uplo)));
  // Of the transpose, the upper triangle is the lower one.
  auto const lower_form = [&](Rectangle<T> const& x) { return p.uplo == Uplo::Lower ? x : op_of(Op::Trans, x); };
  auto const matrix = lower_form(a), l = triangle_of(Uplo::Lower, Diag::NonUnit, lower_form(factor));
  auto const identity = testing::rectangle_of<T>(p.n, p.n, [](auto i, auto j) { return T(i == j ? 1 : 0); });
  // Only the norm: no bound in units of u |A| |Z| is proven for single entries.
  auto const error = [&](Rectangle<T> const& inverse) {
    return Errors{errors_of(Of::Solution, identity, matrix, testing::hermitian_of(Uplo::Lower, inverse)).norm, 0};
  };
  judge<T>(p, "potri", error(lower_form(ours)), {error(reference_potri(l, 32)), error(reference_potri(l, p.tile))});
}

template <class T>
void check_potrs(Problem const& p, Rectangle<T> const& a, Rectangle<T> const& factor) {
  auto const b = testing::random_rectangle<T>(p.n, 1 + p.seed % 40, p.seed + 1);
  auto x = b, whole = b, tiled = b, copied = factor;
  ImmediateSubmitter submitter;
  TaskEmitter tasks(submitter);
  potrs(tasks, testing::bind_rectangle(submitter, copied, p.tile, detail::part_of(p.uplo)),
        testing::bind_rectangle(submitter, x, p.tile, MatrixPart::All, "B"));
  bool const lower = p.uplo == Uplo::Lower;
  for (auto const& [solution, tile] : {std::pair{&whole, p.n}, {&tiled, p.tile}}) {
    for (Op const op : {lower ? Op::NoTrans : Op::ConjTrans, lower ? Op::ConjTrans : Op::NoTrans})
      reference_trsm(Side::Left, p.uplo, op, Diag::NonUnit, factor, *solution, tile);
  }
  auto const triangle = triangle_of(p.uplo, Diag::NonUnit, factor);
  auto const first = moduli(lower ? triangle : op_of(Op::ConjTrans, triangle));
  auto const last = op_of(Op::Trans, first);
  auto const error = [&](Rectangle<T> const& solution) {
    return errors_of(Of::Solution, b, a, solution, product_of_moduli(first, product_of_moduli(last, moduli(solution))));
  };
  judge<T>(p, "potrs", error(x), {error(whole), error(tiled)}, 2);
}

template <class T>
void check_cholesky(Problem const& p, Rectangle<long double> const& base) {
  auto const a = positive_definite<T>(p, base, 1);
  auto ours = a, lapack = a, tiled = a;
  bool const factored = tiled_potrf(p, ours);
  if (!factored) {
    if (p.nugget < definite_multiple * static_cast<double>(p.n)) return;
    // Where LAPACK succeeds with half the nugget, granary must with all of it.
    auto half = positive_definite<T>(p, base, 0.5);
    bool const succeeded = blas::potrf(p.uplo, to_int(p.n), half.elements.data(), to_int(p.n)) == 0;
    EXPECT_FALSE(succeeded) << "not positive definite: " << p;
    return;
  }
  auto const errors_with = [&](int info, Rectangle<T> const& factor) {
    return info == 0 ? cholesky_errors(p, a, factor) : Errors{};
  };
  int const lapack_info = blas::potrf(p.uplo, to_int(p.n), lapack.elements.data(), to_int(p.n));
  int const tiled_info = reference_potrf(p.uplo, tiled, p.tile);
  if (lapack_info != 0 && tiled_info != 0) return;
  judge<T>(p, "potrf", cholesky_errors(p, a, ours), {errors_with(lapack_info, lapack), errors_with(tiled_info, tiled)});
  if (p.n > 300) return;
  check_trsm(p, "trsm, Cholesky", p.uplo, Diag::NonUnit, ours);
  check_potrs(p, a, ours);
  check_potri(p, a, ours);
  if (p.seed % 3 == 0) check_trtri(p, p.uplo, ours);
}

template <class T>
Errors lu_errors(Rectangle<T> const& a, Rectangle<T> const& factors, Of what = Of::Factors) {
  auto const rows = checked_rows(a.rows);
  return errors_of(what, rows_of(a, rows), rows_of(testing::unit_lower(factors), rows), testing::upper(factors));
}

// OpenBLAS multiplies by the reciprocal of a subnormal pivot, which is infinite (getrf, 0.3.21).
template <class T>
[[nodiscard]] bool divides_all_pivots(Rectangle<T> const& factors) {
  for (std::uint64_t j = 0; j < factors.cols; ++j) {
    auto const size = detail::modulus(factors(j, j));
    if (!(size == 0) && !(size >= std::numeric_limits<detail::RealOf<T>>::min())) return false;
  }
  return true;
}

template <class T>
void check_lu(Problem const& p, Rectangle<long double> const& base) {
  auto const a = general<T>(p, base);
  auto ours = a;
  testing::BoundPivots pivots(detail::TileGrid{p.n, p.n, p.tile});
  auto const result = testing::tiled_getrf(ours, p.tile, {.leaf_tiles = p.leaf}, pivots);
  testing::LapackLu<T> const lapack(a);
  auto const exchanged = testing::exchange(a, result.exchanges, p.n);
  auto tiled = exchanged;
  bool const divided = reference_getrf_nopiv(tiled, p.tile);
  auto const lapack_a = testing::exchange(a, lapack.pivots, p.n);
  // Of tournaments the norm in units of ‖|L| |U|‖∞, which may grow more than with partial pivoting, and not where a
  // pivot is exactly zero, by rounding, but entries of losing rows are not: see docs/accuracy.md.
  bool const tournaments = p.tile * p.leaf < p.n;
  if (divides_all_pivots(ours) && !(tournaments && result.info != 0)) {
    auto const unit = tournaments ? Of::Solution : Of::Factors;
    judge<T>(p, tournaments ? "getrf, tournaments" : "getrf", lu_errors(exchanged, ours, unit),
             {lu_errors(lapack_a, lapack.factors, unit), divided ? lu_errors(exchanged, tiled, unit) : Errors{}});
  }
  if (p.n > 300 || result.info != 0) return;
  bool const lower = p.uplo == Uplo::Lower;
  check_trsm(p, lower ? "trsm, L" : "trsm, U", lower ? Uplo::Lower : Uplo::Upper, lower ? Diag::Unit : Diag::NonUnit,
             ours);
  if (p.seed % 3 == 1) check_trtri(p, Uplo::Upper, ours);
}

// Hermitian positive definite matrices need no pivots; these are so from that nugget on.
template <class T>
void check_lu_nopiv(Problem const& p, Rectangle<long double> const& base) {
  if (p.nugget < definite_multiple * static_cast<double>(p.n)) return;
  auto const a = positive_definite<T>(p, base, 1);
  auto ours = a, tiled = a;
  try {
    testing::tiled_getrf_nopiv(ours, p.tile, {});
  } catch (Singular const&) {
    return;
  }
  if (!reference_getrf_nopiv(tiled, p.tile)) return;
  judge<T>(p, "getrf_nopiv", lu_errors(a, ours), {lu_errors(a, tiled)});
}

template <class T>
void check(Problem const& p) {
  auto const base = real_matrix<T>(p);
  check_cholesky<T>(p, base);
  check_lu<T>(p, base);
  if (p.n <= 300 && p.seed % 3 != 0) check_lu_nopiv<T>(p, base);
}

void check_any(Problem const& p) {
  switch (p.seed % 4) {
    case 0:
      return check<double>(p);
    case 1:
      return check<float>(p);
    case 2:
      return check<Kokkos::complex<double>>(p);
    default:
      return check<Kokkos::complex<float>>(p);
  }
}

void print_worst(char const* kernels) {
  for (auto const& [operation, most] : worst) {
    std::printf("%s, %s: %llu matrices, normwise %.3g (seed %llu), componentwise %.3g (seed %llu)\n", kernels,
                operation.c_str(), static_cast<unsigned long long>(most.count), most.norm,
                static_cast<unsigned long long>(most.norm_seed), most.component,
                static_cast<unsigned long long>(most.component_seed));
  }
  worst.clear();
}

std::uint64_t largest_order() {
  char const* const text = std::getenv("GRANARY_TEST_LARGEST");
  return text == nullptr ? 600 : std::strtoull(text, nullptr, 10);
}

TEST(AccuracySweep, HostKernelsLoseNoMoreThanLapack) {
  test::Seeds const seeds(0, 500);
  for (auto seed = seeds.first; seed < seeds.end; ++seed) check_any(draw_problem(seed, largest_order()));
  print_worst("host");
}

// The kernels of devices, on the host's BLAS.
TEST(AccuracySweep, DeviceKernelsLoseNoMoreThanLapack) {
  auto const before = ImmediateSubmitter::lane_workspace;
  ImmediateSubmitter::lane_workspace = Bytes{1} << 20;
  test::Seeds const seeds(0, 100);
  for (auto seed = seeds.first; seed < seeds.end; ++seed) check_any(draw_problem(seed, 0));
  ImmediateSubmitter::lane_workspace = before;
  print_worst("devices");
}

}  // namespace
}  // namespace granary::sweep
