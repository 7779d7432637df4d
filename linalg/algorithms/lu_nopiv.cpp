// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/algorithms/lu.hpp>
#include <granary/detail/linalg/algorithms/lu_growth.hpp>
#include <granary/detail/linalg/algorithms/operands.hpp>
#include <granary/detail/linalg/tiles/blas3.hpp>
#include <granary/detail/linalg/tiles/lu.hpp>
#include <granary/detail/linalg/tiles/measured.hpp>
#include <granary/detail/linalg/tiles/singular.hpp>
#include <granary/detail/linalg/tiles/trsm.hpp>

#include <algorithm>

namespace granary {
namespace {

// The finer graph of a task on a diagonal tile.
template <class T>
void getrf_of_sub_tiles(TaskEmitter& tasks, detail::TiledMatrix<T> const& a, double tiny, std::uint64_t first) {
  getrf_nopiv(tasks, a, {.tiny = tiny, .first = first});
}

// One task per call, and the measurement of the growth.
template <class T>
class NopivTasks {
 public:
  NopivTasks(TaskEmitter& tasks, detail::TiledMatrix<T> const& a, LuOptions const& options)
      : m_a(a),
        m_options(options),
        m_levels(a.grid(), options.times),
        m_measuring(tasks.submitter()),
        m_measuring_tasks(m_measuring, tasks.source_line()),
        m_measures(options.growth && tasks.inner_tile() == 0),
        m_tasks(m_measures ? m_measuring_tasks : tasks),
        m_growth(tasks, a, options.growth && !m_measures ? &*options.growth : nullptr) {}

  // A(k,k) := L(k,k) U(k,k)
  void getrf(std::uint64_t k) {
    change(k, k, k, m_levels.getrf(k), [&](TaskEmitter& tasks, std::int64_t level) {
      tiles::getrf_nopiv<T>(tasks, m_a(k, k), m_options.first + m_a.grid().first(k), m_options.tiny,
                            getrf_of_sub_tiles<T>, level);
    });
  }
  // A(k,j) := L(k,k)^-1 A(k,j)
  void trsm_ll(std::uint64_t k, std::uint64_t j) {
    change(k, j, k, m_levels.trsm_ll(k, j), [&](TaskEmitter& tasks, std::int64_t level) {
      tiles::trsm(tasks, Side::Left, Uplo::Lower, Op::NoTrans, Diag::Unit, T(1), leading_square(m_a(k, k)), m_a(k, j),
                  level);
    });
  }
  // A(i,k) := A(i,k) U(k,k)^-1
  void trsm_ru(std::uint64_t i, std::uint64_t k) {
    change(i, k, k, m_levels.trsm_ru(i, k), [&](TaskEmitter& tasks, std::int64_t level) {
      tiles::trsm(tasks, Side::Right, Uplo::Upper, Op::NoTrans, Diag::NonUnit, T(1), leading_square(m_a(k, k)),
                  m_a(i, k), level);
    });
  }
  // A(i,j) := A(i,j) - A(i,k) A(k,j)
  void gemm(std::uint64_t i, std::uint64_t j, std::uint64_t k) {
    change(i, j, k, m_levels.gemm(i, j, k), [&](TaskEmitter& tasks, std::int64_t level) {
      // The one that measures the tile before its first change stays the first.
      tasks.commuting(m_options.commuting && !(m_options.growth && k == 0));
      tiles::gemm(tasks, Op::NoTrans, Op::NoTrans, T(-1), m_a(i, k), m_a(k, j), T(1), m_a(i, j), level);
    });
  }

  // No task that follows reads A(i,j).
  void last_use(std::uint64_t i, std::uint64_t j) { m_tasks.last_use(m_a(i, j).data); }

 private:
  // Emits the task of step k that changes tile (i,j).
  template <class Emit>
  void change(std::uint64_t i, std::uint64_t j, std::uint64_t k, std::int64_t bottom_level, Emit&& emit) {
    auto const level = m_options.priorities ? bottom_level : 0;
    bool const ends_in_factor = i == k;  // the tile becomes a tile of U
    if (m_measures) {
      measure(i, j, k == 0, ends_in_factor);
    } else {
      m_growth.before(i, j, k, level);
    }
    emit(m_tasks.at(i, j, k), level);
    if (ends_in_factor) m_growth.after(k, j, level);
  }
  // Lets the next task measure tile (i,j), which it changes.
  void measure(std::uint64_t i, std::uint64_t j, bool before, bool after) {
    if (!before && !after) return;
    auto const slot = m_a.grid().slot(i, j);
    m_measuring.measure({.tile = m_a(i, j),
                         .before = before ? m_options.growth->matrix[slot] : DataId{},
                         .after = after ? m_options.growth->factor[slot] : DataId{},
                         .after_part = detail::part_in_factor(i, j)});
  }

  detail::TiledMatrix<T> const& m_a;
  LuOptions const& m_options;
  detail::LuPriorities m_levels;
  tiles::MeasuringSubmitter<T> m_measuring;
  TaskEmitter m_measuring_tasks;
  bool m_measures;  // the tasks themselves measure
  TaskEmitter& m_tasks;
  detail::GrowthTasks<T> m_growth;
};

template <class T>
void right_looking(NopivTasks<T>& emit, detail::TileGrid const& grid) {
  auto const rows = grid.tile_rows(), cols = grid.tile_cols();
  for (std::uint64_t k = 0; k < grid.diagonal(); ++k) {
    emit.getrf(k);
    for (std::uint64_t j = k + 1; j < cols; ++j) emit.trsm_ll(k, j);
    for (std::uint64_t i = k + 1; i < rows; ++i) emit.trsm_ru(i, k);
    emit.last_use(k, k);
    for (std::uint64_t i = k + 1; i < rows; ++i) {
      for (std::uint64_t j = k + 1; j < cols; ++j) emit.gemm(i, j, k);
      emit.last_use(i, k);
    }
    for (std::uint64_t j = k + 1; j < cols; ++j) emit.last_use(k, j);
  }
}

template <class T>
void left_looking(NopivTasks<T>& emit, detail::TileGrid const& grid) {
  for (std::uint64_t j = 0; j < grid.tile_cols(); ++j) {
    for (std::uint64_t i = 0; i < grid.tile_rows(); ++i) {
      for (std::uint64_t k = 0; k < std::min(i, j); ++k) emit.gemm(i, j, k);
      if (i < j) emit.trsm_ll(i, j);
      if (i == j) emit.getrf(j);
      if (i > j) emit.trsm_ru(i, j);
    }
  }
}

}  // namespace

template <class T>
void getrf_nopiv(TaskEmitter& tasks, detail::TiledMatrix<T> const& a, LuOptions const& options) {
  detail::require_part("getrf_nopiv", {"A", a}, MatrixPart::All);
  detail::require_growth("getrf_nopiv", a.grid(), options.growth);
  detail::InnerTileScope const scope(tasks, options.inner_tile);
  NopivTasks<T> emit(tasks, a, options);
  if (options.order == detail::FactorOrder::RightLooking) {
    right_looking(emit, a.grid());
  } else {
    left_looking(emit, a.grid());
  }
}

#define GRANARY_INSTANTIATE(T) template void getrf_nopiv(TaskEmitter&, detail::TiledMatrix<T> const&, LuOptions const&);
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary
