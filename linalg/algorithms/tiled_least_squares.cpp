// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/model/owned_data.hpp>
#include <granary/detail/linalg/algorithms/blas3.hpp>
#include <granary/detail/linalg/algorithms/matrix_ops.hpp>
#include <granary/detail/linalg/algorithms/not_finite.hpp>
#include <granary/detail/linalg/algorithms/panel_qr.hpp>
#include <granary/detail/linalg/algorithms/qr.hpp>
#include <granary/detail/linalg/algorithms/tiled_least_squares.hpp>
#include <granary/detail/linalg/kernels/stored_tile.hpp>
#include <granary/detail/linalg/tiles/panel_call.hpp>
#include <granary/detail/linalg/tiles/tile_call.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace granary::detail {
namespace {

struct RankCall {
  TileStack column;  // the tiles of R in a tile column
  std::uint64_t first = 0;
  double tolerance = 0;
  std::shared_ptr<TiledLeastSquares> found;
};

template <class T>
void run_rank(KernelCall const& call) {
  auto const& p = parameters_of<RankCall>(call);
  for (int j = 0; j < p.column.shape.cols; ++j) {
    kernels::ScaledSquares squares;
    double diagonal = 0;
    for (std::size_t i = 0; i < p.column.count; ++i) {
      auto const tile = p.column.template view<T>(call, 1, i);
      bool const last = i + 1 == p.column.count;
      squares.add(kernels::sum_of_squares<T>({}, kernels::sub(tile, 0, j, last ? j + 1 : tile.rows, 1)));
      if (last) diagonal = static_cast<double>(modulus(tile(j, j)));
    }
    auto const column = p.first + static_cast<std::uint64_t>(j) + 1;
    double const norm = squares.root();
    if (norm == 0) throw RankDeficient(column, {});
    if (diagonal <= p.tolerance * norm) throw RankDeficient(column);
    p.found->smallest = std::min(p.found->smallest, diagonal / norm);
  }
}

struct ResidualCall {
  TileShape tile;
  int first_row = 0;
  std::uint64_t first_col = 0;
  std::shared_ptr<TiledLeastSquares> found;
};

template <class T>
void run_residual(KernelCall const& call) {
  auto const& p = parameters_of<ResidualCall>(call);
  auto const tile = input_tile<T>(call, 1, p.tile);
  for (int j = 0; j < tile.cols; ++j) {
    p.found->residuals[p.first_col + static_cast<std::uint64_t>(j)].add(
        kernels::sum_of_squares<T>({}, kernels::sub(tile, p.first_row, j, tile.rows - p.first_row, 1)));
  }
}

struct SolutionCall {
  TileShape from, to;
};

template <class T>
void run_solution(KernelCall const& call) {
  auto const& p = parameters_of<SolutionCall>(call);
  auto const from = input_tile<T>(call, 0, p.from);
  if (!std::isfinite(kernels::max_modulus<T>({}, from))) throw NotFinite("the solution");
  kernels::copy<T, T>(MatrixPart::All, false, from, output_tile<T>(call, 1, p.to));
}

template <class T>
Codelet const rank_codelet = tile_codelet<T>("check_rank", run_rank<T>);
template <class T>
Codelet const residual_codelet = tile_codelet<T>("residual_norm", run_residual<T>);
template <class T>
Codelet const solution_codelet = tile_codelet<T>("store_solution", run_solution<T>);

// The first `rows` rows of a temporary matrix, whose tiles are row-major.
template <class T>
TiledMatrix<T> first_rows(TiledMatrix<T> const& a, std::uint64_t rows, MatrixPart part) {
  return TiledMatrix<T>({rows, a.grid().cols, a.grid().tile}, part, TileLayout::RowMajor,
                        [&](std::uint64_t i, std::uint64_t j) { return a(i, j).data; });
}

template <class T>
void check_rank(TaskEmitter& tasks, TiledMatrix<T> const& r, double tolerance,
                std::shared_ptr<TiledLeastSquares> const& found) {
  for (std::uint64_t k = 0; k < r.grid().tile_cols(); ++k) {
    auto const column = r.stack(0, k, k + 1);
    std::vector<Access> accesses{{found->data, AccessMode::ReadWrite}};
    for (auto const& tile : column) accesses.push_back(read(tile));
    tasks.at(k, k).emit(rank_codelet<T>, accesses, 0, 0,
                        RankCall{TileStack(column), r.grid().first(k), tolerance, found});
  }
}

template <class T>
void measure_residual(TaskEmitter& tasks, TiledMatrix<T> const& b, std::uint64_t solved,
                      std::shared_ptr<TiledLeastSquares> const& found) {
  auto const& grid = b.grid();
  for (auto i = solved / grid.tile; i < grid.tile_rows(); ++i) {
    auto const first_row = solved > grid.first(i) ? to_int32(solved - grid.first(i), "a row") : 0;
    for (std::uint64_t j = 0; j < grid.tile_cols(); ++j) {
      auto const tile = b(i, j);
      tasks.at(i, j).emit(residual_codelet<T>, {{found->data, AccessMode::ReadWrite}, read(tile)}, 0, 0,
                          ResidualCall{tile.shape(), first_row, grid.first(j), found});
    }
  }
}

// A := Q R, and B := Q^H B.
template <class T>
void reduce(TaskEmitter& tasks, TiledMatrix<T> const& a, TiledMatrix<T> const& b, Bytes memory) {
  auto& submitter = tasks.submitter();
  auto const& grid = a.grid();
  if (panels_fit(grid, sizeof(T), memory)) {
    auto const triangles = make_triangles<T>(submitter, grid);
    TileGrid const of_tau{grid.cols, 1, grid.tile};
    auto tau = make_temporary_matrix<T>(submitter, of_tau, MatrixPart::All, "tau of " + a.name());
    submit_geqrf(tasks, a, tau, triangles, fit_columns(grid, sizeof(T), memory));
    submit_unmqr(tasks, Op::ConjTrans, a, triangles, b);
    tau.release(submitter);
    return;
  }
  QrOptions const options{};
  auto const reflectors = make_temporary_reflectors<T>(submitter, grid, options.tree, ReflectorData{}.inner_block);
  geqrf(tasks, a, reflectors, options);
  unmqr(tasks, Op::ConjTrans, a, reflectors, b, options);
  for (auto const* data : {&reflectors.of_tile, &reflectors.of_stack}) OwnedData(submitter, *data).release();
}

}  // namespace

LeastSquares TiledLeastSquares::result() const {
  LeastSquares result{.residual_norms = {}, .condition = 1 / smallest};
  for (auto const& squares : residuals) result.residual_norms.push_back(squares.root());
  return result;
}

template <class T>
void submit_tiled_least_squares(TaskEmitter& tasks, TiledMatrix<T> const& a, TiledMatrix<T> const& b, double tolerance,
                                TiledMatrix<T> const& x, std::span<DataId const> flags,
                                std::shared_ptr<TiledLeastSquares> const& found, Bytes memory) {
  auto& submitter = tasks.submitter();
  auto factors = make_temporary_matrix<T>(submitter, a.grid(), MatrixPart::All, "factors of " + a.name());
  auto sides = make_temporary_matrix<T>(submitter, b.grid(), MatrixPart::All, "copy of " + b.name());
  copy(tasks, a, factors);
  copy(tasks, b, sides);
  reduce<T>(tasks, factors, sides, memory);

  auto const n = a.grid().cols;
  auto const r = first_rows(factors, n, MatrixPart::Upper);
  auto const solution = first_rows(sides, n, MatrixPart::All);
  found->residuals.resize(b.grid().cols);
  check_rank(tasks, r, tolerance, found);
  measure_residual(tasks, sides, n, found);
  trsm(tasks, Side::Left, Uplo::Upper, Op::NoTrans, Diag::NonUnit, T(1), r, solution);
  for (std::uint64_t i = 0; i < x.grid().tile_rows(); ++i) {
    for (std::uint64_t j = 0; j < x.grid().tile_cols(); ++j) {
      std::vector<Access> accesses{read(solution(i, j)), write(x(i, j)), {found->data, AccessMode::Read}};
      for (DataId const flag : flags) accesses.push_back({flag, AccessMode::Read});
      tasks.at(i, j).emit(solution_codelet<T>, accesses, 0, 0, SolutionCall{solution(i, j).shape(), x(i, j).shape()});
    }
  }
  factors.release(submitter);
  sides.release(submitter);
}

#define GRANARY_INSTANTIATE(T)                                                                                    \
  template void submit_tiled_least_squares<T>(TaskEmitter&, TiledMatrix<T> const&, TiledMatrix<T> const&, double, \
                                              TiledMatrix<T> const&, std::span<DataId const>,                     \
                                              std::shared_ptr<TiledLeastSquares> const&, Bytes);
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary::detail
