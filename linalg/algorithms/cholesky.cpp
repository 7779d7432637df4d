// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/error_kinds.hpp>
#include <granary/detail/linalg/algorithms/blas3.hpp>
#include <granary/detail/linalg/algorithms/cholesky.hpp>
#include <granary/detail/linalg/algorithms/operands.hpp>
#include <granary/detail/linalg/tiles/blas3.hpp>
#include <granary/detail/linalg/tiles/not_positive_definite.hpp>
#include <granary/detail/linalg/tiles/stacked.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace granary {
namespace {

// In every process that submits a factorization.
[[maybe_unused]] bool const knows_not_positive_definite = [] {
  add_error_kind<NotPositiveDefinite>(
      "NotPositiveDefinite", [](NotPositiveDefinite const& error) { return std::to_string(error.order()); },
      [](std::string const& order) { return NotPositiveDefinite(std::stoull(order)); });
  return true;
}();

// The finer graph of a task on a diagonal tile.
template <class T>
void potrf_of_sub_tiles(TaskEmitter& tasks, detail::TiledMatrix<T> const& a, std::uint64_t first) {
  potrf(tasks, a, {.first = first});
}

// One task per call, on tiles of the lower form: the stored lower triangle, or the transpose of the stored upper one.
// That transpose is the conjugate of A, and its factor is the transpose of U.
template <class T>
class CholeskyTasks {
 public:
  CholeskyTasks(TaskEmitter& tasks, detail::TiledMatrix<T> const& a, CholeskyOptions const& options)
      : m_tasks(tasks),
        m_a(a.part() == MatrixPart::Lower ? a : a.transposed()),
        m_levels(a.grid().tile_rows(), options.times),
        m_prioritised(options.priorities),
        m_commuting(options.commuting),
        m_stack(options.inner_tile != 0 || options.commuting ? 1 : std::max<std::uint64_t>(1, options.stack)),
        m_first(options.first) {}

  // A(k,k) := L(k,k)
  void potrf(std::uint64_t k) {
    tiles::potrf<T>(m_tasks.at(k, k, k), Uplo::Lower, m_a(k, k), m_first + m_a.grid().first(k), potrf_of_sub_tiles<T>,
                    priority(m_levels.potrf(k)));
  }
  // A(i,k) := A(i,k) L(k,k)^-H, and the same for the tiles below in the same stack
  void trsm(std::uint64_t i, std::uint64_t k) {
    tiles::trsm_right<T>(m_tasks.at(i, k, k), Op::ConjTrans, m_a(k, k), stack_of(i, k), priority(m_levels.trsm(i, k)));
  }
  // A(i,i) := A(i,i) - A(i,k) A(i,k)^H
  void herk(std::uint64_t i, std::uint64_t k) {
    tiles::herk<T>(m_tasks.at(i, i, k).commuting(m_commuting), Uplo::Lower, Op::NoTrans, -1, m_a(i, k), 1, m_a(i, i),
                   priority(m_levels.syrk(i, k)));
  }
  // A(i,j) := A(i,j) - A(i,k) A(j,k)^H, and the same for the tiles below in the same stack
  void gemm(std::uint64_t i, std::uint64_t j, std::uint64_t k) {
    tiles::gemm<T>(m_tasks.at(i, j, k).commuting(m_commuting), Op::ConjTrans, T(-1), stack_of(i, k), m_a(j, k),
                   stack_of(i, j), priority(m_levels.gemm(i, j, k)));
  }
  // No task that follows reads A(i,j).
  void last_use(std::uint64_t i, std::uint64_t j) { m_tasks.last_use(m_a(i, j).data); }
  // The first tile row of the next stack below tile row i. Stacks begin at multiples of their number of tiles, so that
  // all tasks have the same ones.
  [[nodiscard]] std::uint64_t next(std::uint64_t i) const { return (i / m_stack + 1) * m_stack; }

 private:
  [[nodiscard]] std::int64_t priority(std::int64_t level) const { return m_prioritised ? level : 0; }
  [[nodiscard]] std::vector<detail::TileRef> stack_of(std::uint64_t i, std::uint64_t j) const {
    return m_a.stack(i, j, next(i) - i);
  }

  TaskEmitter& m_tasks;
  detail::TiledMatrix<T> m_a;
  detail::CholeskyPriorities m_levels;
  bool m_prioritised;
  bool m_commuting;
  std::uint64_t m_stack;
  std::uint64_t m_first;
};

template <class T>
void right_looking(CholeskyTasks<T>& emit, std::uint64_t count) {
  for (std::uint64_t k = 0; k < count; ++k) {
    emit.potrf(k);
    for (std::uint64_t i = k + 1; i < count; i = emit.next(i)) emit.trsm(i, k);
    emit.last_use(k, k);
    for (std::uint64_t j = k + 1; j < count; ++j) {
      emit.herk(j, k);
      for (std::uint64_t i = j + 1; i < count; i = emit.next(i)) emit.gemm(i, j, k);
      emit.last_use(j, k);
    }
  }
}

template <class T>
void left_looking(CholeskyTasks<T>& emit, std::uint64_t count) {
  for (std::uint64_t j = 0; j < count; ++j) {
    for (std::uint64_t k = 0; k < j; ++k) emit.herk(j, k);
    emit.potrf(j);
    for (std::uint64_t i = j + 1; i < count; i = emit.next(i)) {
      for (std::uint64_t k = 0; k < j; ++k) emit.gemm(i, j, k);
      emit.trsm(i, j);
    }
    for (std::uint64_t k = 0; k <= j; ++k) emit.last_use(j, k);
  }
}

}  // namespace

template <class T>
void potrf(TaskEmitter& tasks, detail::TiledMatrix<T> const& a, CholeskyOptions const& options) {
  auto const& grid = a.grid();
  if (grid.rows != grid.cols || a.part() == MatrixPart::All) {
    throw InvalidArgument("potrf needs one triangle of a square matrix, not " +
                          std::string(a.part() == MatrixPart::All ? "all" : "a triangle") + " of a matrix of " +
                          std::to_string(grid.rows) + " x " + std::to_string(grid.cols));
  }
  detail::InnerTileScope const scope(tasks, options.inner_tile);
  CholeskyTasks<T> emit(tasks, a, options);
  if (options.order == detail::FactorOrder::RightLooking) {
    right_looking(emit, grid.tile_rows());
  } else {
    left_looking(emit, grid.tile_rows());
  }
}

template <class T>
void potrs(TaskEmitter& tasks, detail::TiledMatrix<T> const& factor, detail::TiledMatrix<T> const& b) {
  auto const& grid = factor.grid();
  detail::require_fit("potrs", grid.rows == grid.cols && grid.rows == b.grid().rows,
                      {{"the factor", factor}, {"B", b}});
  detail::require_triangle("potrs", factor.part());
  bool const lower = factor.part() == MatrixPart::Lower;
  auto const uplo = lower ? Uplo::Lower : Uplo::Upper;
  // A^-1 = L^-H L^-1 = U^-1 U^-H
  trsm(tasks, Side::Left, uplo, lower ? Op::NoTrans : Op::ConjTrans, Diag::NonUnit, T(1), factor, b);
  trsm(tasks, Side::Left, uplo, lower ? Op::ConjTrans : Op::NoTrans, Diag::NonUnit, T(1), factor, b);
}

#define GRANARY_INSTANTIATE(T)                                                              \
  template void potrf(TaskEmitter&, detail::TiledMatrix<T> const&, CholeskyOptions const&); \
  template void potrs(TaskEmitter&, detail::TiledMatrix<T> const&, detail::TiledMatrix<T> const&);
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary
