// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/algorithms/operands.hpp>
#include <granary/detail/linalg/algorithms/panel_qr.hpp>
#include <granary/detail/linalg/data/scalar.hpp>
#include <granary/detail/linalg/tiles/qr_stack.hpp>

#include <algorithm>

namespace granary::detail {
namespace {

// The tasks of one factorization, on whole tile columns.
template <class T>
class QrPanelTasks {
 public:
  QrPanelTasks(TaskEmitter& tasks, TiledMatrix<T> const& a, OwnedData const& triangles)
      : m_tasks(tasks), m_a(a), m_triangles(triangles) {}

  void factor(std::uint64_t k, TiledMatrix<T> const& tau) {
    auto const& grid = m_a.grid();
    OwnedData workspace(m_tasks.submitter());
    workspace.add({.name = "panel of " + m_a.name(),
                   .bytes = tiles::qr_panel_bytes<T>(grid.rows - grid.first(k), grid.cols_in(k))});
    tiles::qr_panel<T>(m_tasks.at(k, k, k), panel(k), tau(k, 0), triangle(k), workspace[0], priority(k, k));
  }
  void find_triangle(std::uint64_t k, TiledMatrix<T> const& tau) {
    tiles::qr_triangle<T>(m_tasks.at(k, k, k), panel(k), tau(k, 0), triangle(k));
  }
  // Column j of C := op(Q_k) C; in A itself, the panels to come go first.
  void apply(Op op, std::uint64_t k, TiledMatrix<T> const& c, std::uint64_t j, bool in_factorization) {
    auto const column = c.stack(k, j, c.grid().tile_rows());
    tiles::apply_panel<T>(m_tasks.at(k, j, k), op, panel(k), triangle(k), column,
                          in_factorization ? priority(k, j) : 0);
  }

 private:
  [[nodiscard]] std::vector<TileRef> panel(std::uint64_t k) const { return m_a.stack(k, k, m_a.grid().tile_rows()); }
  [[nodiscard]] TileRef triangle(std::uint64_t k) const {
    auto const order = to_int32(m_a.grid().cols_in(k), "a tile with a number of columns");
    return {{order, order, order, TileLayout::ColumnMajor}, m_triangles[k]};
  }
  [[nodiscard]] std::int64_t priority(std::uint64_t k, std::uint64_t j) const {
    return static_cast<std::int64_t>(2 * m_a.grid().tile_cols() - k - j);
  }

  TaskEmitter& m_tasks;
  TiledMatrix<T> const& m_a;
  OwnedData const& m_triangles;
};

template <class T>
void require_panels(char const* algorithm, TiledMatrix<T> const& a, OwnedData const& triangles) {
  require_part(algorithm, {"A", a}, MatrixPart::All);
  if (triangles.size() != a.grid().diagonal())
    throw InvalidArgument(std::string(algorithm) + ": the triangles are those of another matrix");
}

}  // namespace

bool panels_fit(TileGrid const& grid, Bytes element, Bytes memory) {
  return 4 * grid.rows * grid.cols_in(0) * element <= memory;
}

PanelQrOptions fit_columns(TileGrid const& grid, Bytes element, Bytes memory) {
  Bytes const all = grid.rows * grid.cols * element;
  if (all <= memory) return {};
  Bytes const column = grid.rows * grid.tile * element;
  // A panel's copies, of about two columns, or a column of vectors.
  Bytes const beside = 2 * column + 4 * grid.tile * grid.tile * element;
  auto const room = memory / 5 * 4;
  return {.order = FactorOrder::LeftLooking,
          .columns = room > beside ? std::max<std::uint64_t>(1, (room - beside) / column) : 1};
}

template <class T>
OwnedData make_triangles(Submitter& submitter, TileGrid const& grid) {
  OwnedData triangles(submitter);
  for (std::uint64_t k = 0; k < grid.diagonal(); ++k)
    triangles.add({.name = "triangle of a panel", .bytes = grid.cols_in(k) * grid.cols_in(k) * sizeof(T)});
  return triangles;
}

template <class T>
void submit_geqrf(TaskEmitter& tasks, TiledMatrix<T> const& a, TiledMatrix<T> const& tau, OwnedData const& triangles,
                  PanelQrOptions const& options) {
  require_panels("geqrf", a, triangles);
  auto const panels = a.grid().diagonal(), cols = a.grid().tile_cols();
  QrPanelTasks<T> emit(tasks, a, triangles);
  if (options.order == FactorOrder::RightLooking) {
    for (std::uint64_t k = 0; k < panels; ++k) {
      emit.factor(k, tau);
      for (auto j = k + 1; j < cols; ++j) emit.apply(Op::ConjTrans, k, a, j, true);
    }
    return;
  }
  for (std::uint64_t first = 0; first < cols; first += options.columns) {
    auto const end = std::min(first + options.columns, cols);
    for (std::uint64_t k = 0; k < std::min(end, panels); ++k) {
      if (k >= first) emit.factor(k, tau);
      for (auto j = std::max(first, k + 1); j < end; ++j) emit.apply(Op::ConjTrans, k, a, j, true);
    }
  }
}

template <class T>
void submit_triangles(TaskEmitter& tasks, TiledMatrix<T> const& a, TiledMatrix<T> const& tau,
                      OwnedData const& triangles) {
  require_panels("unmqr", a, triangles);
  QrPanelTasks<T> emit(tasks, a, triangles);
  for (std::uint64_t k = 0; k < a.grid().diagonal(); ++k) emit.find_triangle(k, tau);
}

template <class T>
void submit_unmqr(TaskEmitter& tasks, Op op, TiledMatrix<T> const& a, OwnedData const& triangles,
                  TiledMatrix<T> const& c) {
  require_panels("unmqr", a, triangles);
  require_part("unmqr", {"C", c}, MatrixPart::All);
  require_fit("unmqr", a.grid().rows == c.grid().rows, {{"A", a}, {"C", c}});
  require_op_of_q<T>("unmqr", op);
  QrPanelTasks<T> emit(tasks, a, triangles);
  auto const panels = a.grid().diagonal();
  // Q^H = ... Q_2^H Q_1^H begins with the first panel, Q with the last.
  for (std::uint64_t n = 0; n < panels; ++n) {
    auto const k = op == Op::NoTrans ? panels - 1 - n : n;
    for (std::uint64_t j = 0; j < c.grid().tile_cols(); ++j) emit.apply(op, k, c, j, false);
  }
}

#define GRANARY_INSTANTIATE(T)                                                                                     \
  template OwnedData make_triangles<T>(Submitter&, TileGrid const&);                                               \
  template void submit_geqrf<T>(TaskEmitter&, TiledMatrix<T> const&, TiledMatrix<T> const&, OwnedData const&,      \
                                PanelQrOptions const&);                                                            \
  template void submit_triangles<T>(TaskEmitter&, TiledMatrix<T> const&, TiledMatrix<T> const&, OwnedData const&); \
  template void submit_unmqr<T>(TaskEmitter&, Op, TiledMatrix<T> const&, OwnedData const&, TiledMatrix<T> const&);
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary::detail
