// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/data/scalar.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>
#include <granary/detail/linalg/tiles/task_emitter.hpp>

#include <cstdint>

/// The tasks of tile QR factorizations; each function emits one, for CPU workers. T is one of the four scalars,
/// `priority` as in TaskSubmission. `t` is a tile of ib rows, whose content kernels/qr_kernels.hpp describes; sizes as
/// there. A task needs workspace for ib lines of its tiles, which the worker's thread holds while the task runs.
namespace granary::tiles {

/// A := Q R; `t` is written.
template <class T>
void geqrt(TaskEmitter& tasks, detail::TileRef const& a, detail::TileRef const& t, std::int64_t priority = 0);

/// C := op(Q) C with Q of geqrt, whose vectors V are in the lower triangle of a tile; the rest of it is not read.
template <class T>
void unmqr(TaskEmitter& tasks, Op op, detail::TileRef const& v, detail::TileRef const& t, detail::TileRef const& c,
           std::int64_t priority = 0);

/// The content of the lower tile: all elements count, or its upper triangle or trapezoid.
enum class Lower { Full, Triangle };

/// [R; A] := Q [R'; 0], where R is in the upper triangle of its tile: TSQRT, or TTQRT if A is a triangle. The vectors
/// overwrite A.
template <class T>
void stack_qrt(TaskEmitter& tasks, Lower lower, detail::TileRef const& r, detail::TileRef const& a,
               detail::TileRef const& t, std::int64_t priority = 0);

/// [C_1; C_2] := op(Q) [C_1; C_2] with Q of stack_qrt, whose vectors are V: TSMQR or TTMQR.
template <class T>
void stack_mqr(TaskEmitter& tasks, Lower lower, Op op, detail::TileRef const& v, detail::TileRef const& t,
               detail::TileRef const& c1, detail::TileRef const& c2, std::int64_t priority = 0);

}  // namespace granary::tiles
