// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/submitter.hpp>
#include <granary/detail/linalg/data/tile_grid.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace granary {

namespace detail {

/// The row exchanges of an LU factorization as data: one datum for each tile on the diagonal.
struct GRANARY_EXPORT PivotData {
  std::vector<DataId> panels;
};

/// The direction of row exchanges: as in the factorization, or back.
enum class GRANARY_EXPORT SwapDirection { Forward, Backward };

}  // namespace detail

/// Bytes of the datum of panel k of a matrix with that grid: 24 for each row of its top tile, plus 8.
[[nodiscard]] GRANARY_EXPORT Bytes pivot_bytes(detail::TileGrid const& grid, std::uint64_t k);

/// Row exchanges without origin and home.
[[nodiscard]] GRANARY_EXPORT detail::PivotData make_temporary_pivots(Submitter& submitter,
                                                                     detail::TileGrid const& grid);

/// The row exchanges of an LU factorization in host memory, which tasks write: row k was exchanged with row [k], for k
/// = 0, 1, ... in order, as in LAPACK. The bytes of each panel are bound to a datum in place. Copies refer to the same
/// memory.
class GRANARY_EXPORT Pivots {
 public:
  /// Starts without exchanges.
  explicit Pivots(detail::TileGrid const& grid);

  [[nodiscard]] detail::TileGrid const& grid() const { return m_grid; }
  /// Number of pivots: the smaller extent of the matrix.
  [[nodiscard]] std::uint64_t size() const { return std::min(m_grid.rows, m_grid.cols); }
  /// The pivot_bytes(grid(), k) bytes of the panel of tile column k. Their address does not change.
  [[nodiscard]] std::byte* panel(std::uint64_t k) { return reinterpret_cast<std::byte*>(&(*m_words)[k * m_stride]); }
  /// Owns the memory of all panels.
  [[nodiscard]] std::shared_ptr<void const> memory() const { return m_words; }
  /// The row that row i was exchanged with, at least i; rows are counted from 0.
  [[nodiscard]] std::uint64_t operator[](std::uint64_t i) const;
  /// The first pivot that is exactly zero, counted from 1 like LAPACK's INFO.
  [[nodiscard]] std::optional<std::uint64_t> zero_pivot() const;

 private:
  detail::TileGrid m_grid;
  std::uint64_t m_stride;
  std::shared_ptr<std::vector<std::int64_t>> m_words;
};

namespace detail {

/// The content of a panel's datum, about the rows of its top tile, called slots, and of the tiles below. All rows are
/// counted from the first row of the matrix.
///
/// The exchanges of a panel move rows of lower tiles to the top tile and rows of the top tile to the free places, but
/// never a row from one lower tile to another. So their product is a set of disjoint exchanges of a slot with a lower
/// row, in any order, followed by a permutation of the slots.
struct GRANARY_EXPORT PanelExchanges {
  std::int64_t& zero_pivot;          ///< the first pivot that is exactly zero, from 1; 0 if there is none
  std::span<std::int64_t> pivots;    ///< the row that row s of the panel was exchanged with, in LAPACK's sense
  std::span<std::int64_t> partners;  ///< the lower row that slot s is exchanged with first, or none
  std::span<std::int64_t> sources;   ///< the slot from which slot s takes its row then

  static constexpr std::int64_t none = -1;

  /// The panel's datum at `bytes`; its top tile has `slots` rows.
  static PanelExchanges at(std::byte* bytes, std::uint64_t slots);
  /// Derives partners and sources from the first `count` pivots; `first` is the first row of the top tile, which has
  /// `slots` rows.
  void derive(std::int64_t first, std::int64_t slots, std::int64_t count) const;
  /// Sets the pivots to exchanges that move the rows of `order`, all different and at least `first`, to the rows from
  /// `first` on, in that order.
  void set_order(std::int64_t first, std::span<std::int64_t const> order) const;
};

}  // namespace detail
}  // namespace granary
