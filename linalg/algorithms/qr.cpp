// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/model/owned_data.hpp>
#include <granary/detail/linalg/algorithms/operands.hpp>
#include <granary/detail/linalg/algorithms/qr.hpp>
#include <granary/detail/linalg/data/scalar.hpp>
#include <granary/detail/linalg/tiles/elementwise.hpp>
#include <granary/detail/linalg/tiles/qr.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace granary {
namespace {

// The factor T of tile column k as a tile of ib rows.
template <class T>
detail::TileRef factor_tile(detail::TiledMatrix<T> const& a, detail::ReflectorData const& reflectors,
                            std::vector<DataId> const& data, std::uint64_t i, std::uint64_t k) {
  auto const cols = static_cast<std::int32_t>(a.grid().cols_in(k));
  detail::TileRef tile;
  static_cast<detail::TileShape&>(tile) = {reflectors.inner_block, cols, reflectors.inner_block,
                                           detail::TileLayout::ColumnMajor};
  tile.data = data[a.grid().slot(i, k)];
  return tile;
}

// The tasks of panel k of A, and what they do to the columns of a matrix with as many rows.
template <class T>
class PanelTasks {
 public:
  PanelTasks(TaskEmitter& tasks, detail::TiledMatrix<T> const& a, detail::ReflectorData const& reflectors)
      : m_tasks(tasks), m_a(a), m_reflectors(reflectors) {}

  void factor_alone(std::uint64_t i, std::uint64_t k, std::int64_t level) {
    tiles::geqrt<T>(m_tasks.at(i, k, k), m_a(i, k), of_tile(i, k), level);
  }
  void eliminate(detail::Elimination const& step, std::uint64_t k, std::int64_t level) {
    auto const i = k + step.row;
    tiles::stack_qrt<T>(m_tasks.at(i, k, k), kind(step), m_a(k + step.pivot, k), m_a(i, k), of_stack(i, k), level);
  }
  // With the vectors in `v`, the tile itself or a copy of it.
  void apply_alone(Op op, detail::TileRef const& v, std::uint64_t i, std::uint64_t k, detail::TiledMatrix<T> const& c,
                   std::uint64_t j, std::int64_t level) {
    tiles::unmqr<T>(m_tasks.at(i, j, k), op, v, of_tile(i, k), c(i, j), level);
  }
  void apply(Op op, detail::Elimination const& step, std::uint64_t k, detail::TiledMatrix<T> const& c, std::uint64_t j,
             std::int64_t level) {
    auto const i = k + step.row;
    tiles::stack_mqr<T>(m_tasks.at(i, j, k), kind(step), op, m_a(i, k), of_stack(i, k), c(k + step.pivot, j), c(i, j),
                        level);
  }

 private:
  static tiles::Lower kind(detail::Elimination const& step) {
    return step.triangle ? tiles::Lower::Triangle : tiles::Lower::Full;
  }
  detail::TileRef of_tile(std::uint64_t i, std::uint64_t k) const {
    return factor_tile(m_a, m_reflectors, m_reflectors.of_tile, i, k);
  }
  detail::TileRef of_stack(std::uint64_t i, std::uint64_t k) const {
    return factor_tile(m_a, m_reflectors, m_reflectors.of_stack, i, k);
  }

  TaskEmitter& m_tasks;
  detail::TiledMatrix<T> const& m_a;
  detail::ReflectorData const& m_reflectors;
};

// The tasks that lie on the way to the next panels come first.
std::int64_t priority(QrOptions const& options, std::uint64_t columns, std::uint64_t k, std::uint64_t j) {
  return options.priorities ? static_cast<std::int64_t>(2 * columns - k - j) : 0;
}

template <class T>
void require_reflectors(char const* algorithm, detail::TiledMatrix<T> const& a, detail::ReflectorData const& reflectors,
                        QrTree const& tree) {
  auto const& grid = a.grid();
  auto const slots = grid.tile_rows() * grid.tile_cols();
  bool fits = reflectors.of_tile.size() == slots && reflectors.of_stack.size() == slots;
  for (std::uint64_t k = 0; fits && k < grid.diagonal(); ++k) {
    for (auto i = k; fits && i < grid.tile_rows(); ++i) {
      fits = (!detail::on_top(tree, i - k) || reflectors.of_tile[grid.slot(i, k)].valid()) &&
             (i == k || reflectors.of_stack[grid.slot(i, k)].valid());
    }
  }
  if (fits) return;
  throw InvalidArgument(std::string(algorithm) + ": the triangular factors are not those of a " +
                        std::to_string(grid.rows) + " x " + std::to_string(grid.cols) + " matrix with tile size " +
                        std::to_string(grid.tile) + " and this tree");
}

// A copy of a tile below its diagonal, which lives until its last reader.
template <class T>
detail::TileRef copy_vectors(TaskEmitter& tasks, detail::OwnedData& copies, detail::TileRef const& tile,
                             std::int64_t level) {
  auto copy = tile;
  copy.ld = copy.layout == detail::TileLayout::ColumnMajor ? copy.rows : copy.cols;
  auto const elements = static_cast<Bytes>(copy.rows) * static_cast<Bytes>(copy.cols);
  copy.data = copies.add({.name = "vectors", .bytes = elements * sizeof(T)});
  tiles::copy<T, T>(tasks, MatrixPart::Lower, false, tile, copy, detail::OtherTriangle::Zeroed, level);
  return copy;
}

}  // namespace

template <class T>
Bytes detail::reflector_bytes(TileGrid const& grid, std::int32_t inner_block, std::uint64_t k) {
  return static_cast<Bytes>(inner_block) * grid.cols_in(k) * sizeof(T);
}

template <class T>
detail::ReflectorData detail::make_temporary_reflectors(Submitter& submitter, TileGrid const& grid, QrTree const& tree,
                                                        std::int32_t inner_block) {
  if (inner_block < 1)
    throw InvalidArgument("the inner block of a QR factorization is " + std::to_string(inner_block) +
                          ", not 1 or more");
  auto const slots = grid.tile_rows() * grid.tile_cols();
  ReflectorData data{inner_block, std::vector<DataId>(slots), std::vector<DataId>(slots)};
  for (std::uint64_t k = 0; k < grid.diagonal(); ++k) {
    auto const add = [&] {
      return submitter.add_data({.name = "T", .bytes = reflector_bytes<T>(grid, inner_block, k)});
    };
    for (auto i = k; i < grid.tile_rows(); ++i) {
      if (on_top(tree, i - k)) data.of_tile[grid.slot(i, k)] = add();
      if (i > k) data.of_stack[grid.slot(i, k)] = add();
    }
  }
  return data;
}

template <class T>
void geqrf(TaskEmitter& tasks, detail::TiledMatrix<T> const& a, detail::ReflectorData const& reflectors,
           QrOptions const& options) {
  detail::require_part("geqrf", {"A", a}, MatrixPart::All);
  require_reflectors("geqrf", a, reflectors, options.tree);
  auto const& grid = a.grid();
  auto const cols = grid.tile_cols();
  PanelTasks<T> emit(tasks, a, reflectors);
  for (std::uint64_t k = 0; k < grid.diagonal(); ++k) {
    auto const panel = priority(options, cols, k, k);
    detail::OwnedData copies(tasks.submitter());
    for (auto i = k; i < grid.tile_rows(); ++i) {
      if (!detail::on_top(options.tree, i - k)) continue;
      emit.factor_alone(i, k, panel);
      if (k + 1 == cols) continue;
      auto const vectors = copy_vectors<T>(tasks, copies, a(i, k), panel);
      for (auto j = k + 1; j < cols; ++j)
        emit.apply_alone(Op::ConjTrans, vectors, i, k, a, j, priority(options, cols, k, j));
    }
    for (auto const& step : detail::eliminations(options.tree, grid.tile_rows() - k)) {
      emit.eliminate(step, k, panel);
      for (auto j = k + 1; j < cols; ++j) emit.apply(Op::ConjTrans, step, k, a, j, priority(options, cols, k, j));
    }
  }
}

template <class T>
void unmqr(TaskEmitter& tasks, Op op, detail::TiledMatrix<T> const& a, detail::ReflectorData const& reflectors,
           detail::TiledMatrix<T> const& c, QrOptions const& options) {
  auto const& grid = a.grid();
  detail::require_part("unmqr", {"A", a}, MatrixPart::All);
  detail::require_part("unmqr", {"C", c}, MatrixPart::All);
  detail::require_fit("unmqr", grid.rows == c.grid().rows, {{"A", a}, {"C", c}});
  require_reflectors("unmqr", a, reflectors, options.tree);
  detail::require_op_of_q<T>("unmqr", op);
  PanelTasks<T> emit(tasks, a, reflectors);
  auto const columns = c.grid().tile_cols();
  auto const panel = [&](std::uint64_t k, bool forward) {
    auto steps = detail::eliminations(options.tree, grid.tile_rows() - k);
    if (!forward) std::ranges::reverse(steps);
    auto const alone = [&] {
      for (auto i = k; i < grid.tile_rows(); ++i) {
        if (!detail::on_top(options.tree, i - k)) continue;
        for (std::uint64_t j = 0; j < columns; ++j) emit.apply_alone(op, a(i, k), i, k, c, j, 0);
      }
    };
    if (forward) alone();
    for (auto const& step : steps) {
      for (std::uint64_t j = 0; j < columns; ++j) emit.apply(op, step, k, c, j, 0);
    }
    if (!forward) alone();
  };
  // Q^H = ... Q_2^H Q_1^H begins with the first panel, Q with the last.
  auto const panels = grid.diagonal();
  for (std::uint64_t n = 0; n < panels; ++n) op == Op::NoTrans ? panel(panels - 1 - n, false) : panel(n, true);
}

#define GRANARY_INSTANTIATE(T)                                                                                      \
  template Bytes detail::reflector_bytes<T>(detail::TileGrid const&, std::int32_t, std::uint64_t);                  \
  template detail::ReflectorData detail::make_temporary_reflectors<T>(Submitter&, detail::TileGrid const&,          \
                                                                      QrTree const&, std::int32_t);                 \
  template void geqrf(TaskEmitter&, detail::TiledMatrix<T> const&, detail::ReflectorData const&, QrOptions const&); \
  template void unmqr(TaskEmitter&, Op, detail::TiledMatrix<T> const&, detail::ReflectorData const&,                \
                      detail::TiledMatrix<T> const&, QrOptions const&);
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary
