// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/units.hpp>
#include <granary/detail/linalg/data/scalar.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>
#include <granary/detail/linalg/tiles/task_emitter.hpp>

#include <cstdint>
#include <span>

/// The tasks of LU factorizations that are not in blas3.hpp; each function emits one. `pivots` is a panel's datum, see
/// pivots.hpp; T is one of the four scalars, `priority` as in TaskSubmission.
namespace granary::tiles {

/// The factorization without pivoting of a matrix of several tiles; `tiny` as in LuOptions, `first` is its first row in
/// a larger matrix.
template <class T>
using TiledGetrf = void (*)(TaskEmitter& tasks, detail::TiledMatrix<T> const& a, double tiny, std::uint64_t first);

/// A := L U without pivoting. The task throws Singular if the modulus of a pivot is below tiny * max |a_ij| or the
/// smallest normal number, or not finite. `first` is the tile's first row in the matrix, for its message. `tiled`
/// emits the task's finer graph, on the sub-tiles. m n² - n³/3 flops for m >= n (four times that if T is complex).
template <class T>
void getrf_nopiv(TaskEmitter& tasks, detail::TileRef const& a, std::uint64_t first, double tiny, TiledGetrf<T> tiled,
                 std::int64_t priority = 0);

/// A := L U for a panel's top tile whose rows are in pivot order; it continues after a zero pivot, and stores the first
/// one in `pivots`. `workspace` is a temporary datum with room for A's elements. See kernels::getrf_bounded.
template <class T>
void getrf_ordered(TaskEmitter& tasks, detail::TileRef const& a, DataId workspace, DataId pivots, std::uint64_t first,
                   std::int64_t priority = 0);

/// B := B U^-1 with the upper triangle of A, which may have zero pivots: their columns of B are not divided.
template <class T>
void trsm_ru_ordered(TaskEmitter& tasks, detail::TileRef const& a, detail::TileRef const& b, std::int64_t priority = 0);

/// Tile rows of a panel: its tiles from the top, the first row of the top tile in the matrix, and the tile size.
struct PanelPart {
  std::span<detail::TileRef const> tiles;
  std::uint64_t first = 0;
  std::uint64_t tile = 0;
};

/// Factors a whole panel with partial pivoting: L, U and `pivots`. On the host in place, with a `workspace` for a few
/// of its columns (see kernels::getrf_panel); on devices, tiles that are not adjacent in memory are gathered in the
/// workspace. `on_host`: not on devices. `workspace` is a temporary datum of panel_workspace bytes.
template <class T>
void getrf_panel(TaskEmitter& tasks, PanelPart const& panel, bool on_host, DataId workspace, DataId pivots,
                 std::int64_t priority = 0);
[[nodiscard]] Bytes panel_workspace(std::uint64_t rows, std::uint64_t cols, Bytes element, bool on_host);

/// The first round of the tournament: `winners` := the rows that partial pivoting selects in a part of a panel, as many
/// as its smaller extent. `workspace` is a temporary datum with room for the part's elements.
template <class T>
void select_rows(TaskEmitter& tasks, PanelPart const& part, DataId workspace, DataId winners,
                 std::int64_t priority = 0);

/// A later round: selects among winners with partial pivoting. Its workspace has room for all of them.
struct Match {
  std::span<DataId const> candidates;
  std::uint64_t cols = 0;       ///< of the panel
  std::uint64_t last_rows = 0;  ///< rows of the last candidate; the others have `cols`

  /// Number of competing rows.
  [[nodiscard]] std::uint64_t rows() const { return (candidates.size() - 1) * cols + last_rows; }
};
template <class T>
void merge_rows(TaskEmitter& tasks, Match const& match, DataId workspace, DataId winners, std::int64_t priority = 0);

/// The last round: its winners, in order, become the first rows of the panel whose top tile is `top`; `pivots` := the
/// exchanges that move them there.
template <class T>
void final_rows(TaskEmitter& tasks, Match const& match, detail::TileRef const& top, std::uint64_t first,
                DataId workspace, DataId pivots, std::int64_t priority = 0);

/// Bytes of a datum of `rows` winners of a panel with `cols` columns.
template <class T>
[[nodiscard]] Bytes winners_bytes(std::uint64_t rows, std::uint64_t cols);

/// The rows of the top tile are permuted before or after the exchange with lower ones, or not.
enum class Permute { None, Before, After };

/// Exchanges rows in a tile column, of the top tile with some lower tiles, as in `pivots`, and then permutes rows of
/// the top tile (or undoes this in reverse order). `first_lower` is the first row of the lower tiles, which are
/// consecutive.
struct RowExchange {
  detail::TileRef top;
  std::span<detail::TileRef const> lower;
  std::uint64_t first_lower = 0;
  std::uint64_t tile = 0;
  Permute permute = Permute::None;
  std::span<detail::Access const> turns = {};  ///< further accesses, which only order tasks
};
template <class T>
void swap_rows(TaskEmitter& tasks, RowExchange const& exchange, DataId pivots, std::int64_t priority = 0);

/// All exchanges of several panels, one after the other, in a part of a tile column that begins with the top tile of
/// the first panel.
template <class T>
void swap_all_rows(TaskEmitter& tasks, PanelPart const& column, std::span<DataId const> pivots,
                   std::int64_t priority = 0);

/// largest := max |a_ij| of a part of A; a datum of one double.
template <class T>
void max_modulus(TaskEmitter& tasks, detail::TileRef const& a, MatrixPart part, DataId largest,
                 std::int64_t priority = 0, std::span<detail::Access const> turns = {});

}  // namespace granary::tiles
