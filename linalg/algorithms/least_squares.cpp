// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/algorithms/least_squares.hpp>
#include <granary/detail/linalg/algorithms/not_finite.hpp>
#include <granary/detail/linalg/data/scalar.hpp>
#include <granary/detail/linalg/kernels/owned_tile.hpp>
#include <granary/detail/linalg/kernels/tile_kernels.hpp>
#include <granary/detail/linalg/tiles/tile_call.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace granary::detail {
namespace {

// The columns before column j, from 1, of which it is a combination, up to rounding.
template <class T>
std::vector<std::uint64_t> parts_of(TileView<T const> const& r, int j, std::vector<double> const& norms) {
  std::vector<std::uint64_t> found;
  kernels::OwnedTile<T> factors(j, 1);
  kernels::copy<T, T>(MatrixPart::All, false, kernels::sub(r, 0, j, j, 1), factors.view);
  kernels::trsm<T>(Side::Left, Uplo::Upper, Op::NoTrans, Diag::NonUnit, T(1), kernels::sub(r, 0, 0, j, j),
                   factors.view);
  double const least = std::sqrt(static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon()));
  for (int i = 0; i < j; ++i) {
    double const share = static_cast<double>(modulus(factors.view(i, 0))) *
                         (norms[static_cast<std::size_t>(i)] / norms[static_cast<std::size_t>(j)]);
    if (share > least) found.push_back(static_cast<std::uint64_t>(i) + 1);
  }
  return found;
}

template <class T>
double one_norm(TileView<T const> const& upper) {
  std::vector<double> columns(static_cast<std::size_t>(upper.cols)), rows(static_cast<std::size_t>(upper.rows));
  kernels::sums_of_moduli<T>({.part = MatrixPart::Upper}, upper, columns.data(), rows.data());
  return columns.empty() ? 0 : *std::ranges::max_element(columns);
}

struct SolveCall {
  TileShape triangle;
  std::vector<TileShape> x;
  TileGrid grid;  // of X
  double tolerance = 0;
  std::shared_ptr<LeastSquares> result;
};

// Calls function(tile of X, the part of `all` in its place), for the accesses from `first` on.
template <class T, class Function>
void for_tiles(KernelCall const& call, std::size_t first, std::vector<TileShape> const& shapes, TileGrid const& grid,
               TileView<T> const& all, Function const& function) {
  for (std::size_t slot = 0; slot < shapes.size(); ++slot) {
    auto const tile = output_tile<T>(call, first + slot, shapes[slot]);
    auto const row = to_int32(grid.first(grid.row_of(slot)), "a row"),
               col = to_int32(grid.first(grid.col_of(slot)), "a column");
    function(tile, kernels::sub(all, row, col, tile.rows, tile.cols));
  }
}

template <class T>
void run_solve(KernelCall const& call) {
  auto const& p = parameters_of<SolveCall>(call);
  kernels::OwnedTile<T> x(to_int32(p.grid.rows, "rows"), to_int32(p.grid.cols, "columns"));
  *p.result = solve_triangle<T>(input_tile<T>(call, 0, p.triangle), p.tolerance, x.view);
  for_tiles<T>(call, 1, p.x, p.grid, x.view, [](TileView<T> const& tile, TileView<T> const& part) {
    kernels::copy<T, T>(MatrixPart::All, false, part, tile);
  });
}

struct TriangleCall {
  TileShape r;
  std::vector<TileShape> a;
  TileGrid grid;
};

template <class T>
void run_triangle(KernelCall const& call) {
  auto const& p = parameters_of<TriangleCall>(call);
  auto const r = input_tile<T>(call, 0, p.r);
  kernels::OwnedTile<T> all(r.rows, r.cols);
  kernels::copy<T, T>(MatrixPart::Upper, false, r, all.view);
  for (int i = 0; i < r.rows; ++i) {
    for (int j = i; std::signbit(real_part(r(i, i))) && j < r.cols; ++j) all.view(i, j) = -all.view(i, j);
  }
  for_tiles<T>(call, 1, p.a, p.grid, all.view, [](TileView<T> const& tile, TileView<T> const& part) {
    kernels::copy<T, T>(MatrixPart::All, false, part, tile);
  });
}

template <class T>
Codelet const solve_codelet = tile_codelet<T>("solve_triangle", run_solve<T>);
template <class T>
Codelet const triangle_codelet = tile_codelet<T>("store_triangle", run_triangle<T>);

template <class T>
std::vector<TileShape> shapes_of(TiledMatrix<T> const& a) {
  std::vector<TileShape> shapes;
  for (std::size_t slot = 0; slot < a.grid().tile_rows() * a.grid().tile_cols(); ++slot)
    shapes.push_back(a(a.grid().row_of(slot), a.grid().col_of(slot)).shape());
  return shapes;
}

template <class T>
void add_writes(std::vector<Access>& accesses, TiledMatrix<T> const& a) {
  for (DataId const id : tile_ids(a)) accesses.push_back({id, AccessMode::Write});
}

}  // namespace

template <class T>
double rank_tolerance(std::uint64_t rows, std::uint64_t cols) {
  constexpr std::uint64_t slice = std::uint64_t{1} << 14;
  double const terms = std::max(static_cast<double>(cols), std::sqrt(static_cast<double>(std::min(rows, slice))));
  return 10 * terms * static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon());
}

template <class T>
double checked_condition(TileView<T const> r, double tolerance) {
  kernels::UnitColumns<T> columns(r);
  auto const& [scaled, norms] = columns;
  auto const refuse = [&r, &norms = columns.norms](int j) {
    auto const column = static_cast<std::uint64_t>(j) + 1;
    if (norms[static_cast<std::size_t>(j)] == 0) throw RankDeficient(column, {});
    throw RankDeficient(column, parts_of<T>(r, j, norms));
  };
  for (int j = 0; j < r.cols; ++j) {
    if (!(static_cast<double>(modulus(r(j, j))) > tolerance * norms[static_cast<std::size_t>(j)])) refuse(j);
  }
  double const norm = one_norm<T>(scaled.view);
  if (kernels::trtri<T>(Uplo::Upper, Diag::NonUnit, scaled.view) != 0) return std::numeric_limits<double>::infinity();
  for (int j = 0; j < r.cols && tolerance > 0; ++j) {
    double sum = 0;
    for (int i = 0; i <= j; ++i) sum += static_cast<double>(modulus(scaled.view(i, j)));
    if (!(sum * tolerance < 1)) refuse(j);
  }
  double const product = norm * one_norm<T>(scaled.view);
  return std::isnan(product) ? std::numeric_limits<double>::infinity() : product;
}

template <class T>
LeastSquares solve_triangle(TileView<T const> triangle, double tolerance, TileView<T> x) {
  int const n = x.rows, k = x.cols;
  if (!std::isfinite(kernels::max_modulus<T>({.part = MatrixPart::Upper}, triangle)))
    throw NotFinite("the triangle of the least-squares problem");
  auto const r = kernels::sub(triangle, 0, 0, n, n);
  LeastSquares found{.residual_norms = {}, .condition = checked_condition<T>(r, tolerance)};
  for (int c = 0; c < k; ++c)
    found.residual_norms.push_back(kernels::norm_of(kernels::sub(triangle, n, n + c, c + 1, 1)));
  kernels::copy<T, T>(MatrixPart::All, false, kernels::sub(triangle, 0, n, n, k), x);
  kernels::trsm<T>(Side::Left, Uplo::Upper, Op::NoTrans, Diag::NonUnit, T(1), r, x);
  if (!std::isfinite(kernels::max_modulus<T>({}, TileView<T const>(x)))) throw NotFinite("the solution");
  return found;
}

template <class T>
void submit_solve_triangle(TaskEmitter& tasks, TileRef const& triangle, double tolerance, TiledMatrix<T> const& x,
                           std::span<DataId const> flags, std::shared_ptr<LeastSquares> result) {
  std::vector<Access> accesses{read(triangle)};
  add_writes(accesses, x);
  for (DataId const flag : flags) accesses.push_back({flag, AccessMode::Read});
  double const n = static_cast<double>(x.grid().rows), k = static_cast<double>(x.grid().cols);
  tasks.emit(solve_codelet<T>, accesses, 0, flops_of<T>(n * n * (n / 6 + k / 2)),
             SolveCall{triangle.shape(), shapes_of(x), x.grid(), tolerance, std::move(result)});
}

template <class T>
void submit_triangle(TaskEmitter& tasks, TileRef const& r, TiledMatrix<T> const& a) {
  std::vector<Access> accesses{read(r)};
  add_writes(accesses, a);
  tasks.emit(triangle_codelet<T>, accesses, 0, 0, TriangleCall{r.shape(), shapes_of(a), a.grid()});
}

#define GRANARY_INSTANTIATE(T)                                                                        \
  template double rank_tolerance<T>(std::uint64_t, std::uint64_t);                                    \
  template double checked_condition<T>(TileView<T const>, double);                                    \
  template LeastSquares solve_triangle<T>(TileView<T const>, double, TileView<T>);                    \
  template void submit_solve_triangle<T>(TaskEmitter&, TileRef const&, double, TiledMatrix<T> const&, \
                                         std::span<DataId const>, std::shared_ptr<LeastSquares>);     \
  template void submit_triangle<T>(TaskEmitter&, TileRef const&, TiledMatrix<T> const&);
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary::detail
