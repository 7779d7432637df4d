// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/units.hpp>
#include <granary/detail/linalg/data/scalar.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>
#include <granary/detail/linalg/tiles/task_emitter.hpp>

#include <cstdint>
#include <span>

/// The tasks of QR factorizations by panels, for CPU workers; each function emits one. T is one of the four scalars,
/// `priority` as in TaskSubmission, a panel is a column of tiles from the top. kernels/qr_stack.hpp has the details.
namespace granary::tiles {

/// A := Q R of a whole panel, as LAPACK's geqrf, with its tau, a column, and the triangle `t`, a square tile of as many
/// columns as the panel. `workspace` is a temporary datum of qr_panel_bytes.
template <class T>
void qr_panel(TaskEmitter& tasks, std::span<detail::TileRef const> panel, detail::TileRef const& tau,
              detail::TileRef const& t, DataId workspace, std::int64_t priority = 0);
template <class T>
[[nodiscard]] Bytes qr_panel_bytes(std::uint64_t rows, std::uint64_t cols);

/// The triangle `t` of a factored panel from its vectors and tau.
template <class T>
void qr_triangle(TaskEmitter& tasks, std::span<detail::TileRef const> panel, detail::TileRef const& tau,
                 detail::TileRef const& t, std::int64_t priority = 0);

/// C := op(Q) C for a column of as many tiles.
template <class T>
void apply_panel(TaskEmitter& tasks, Op op, std::span<detail::TileRef const> panel, detail::TileRef const& t,
                 std::span<detail::TileRef const> c, std::int64_t priority = 0);

}  // namespace granary::tiles
