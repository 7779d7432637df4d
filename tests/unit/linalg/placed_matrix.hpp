// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <utility>

#include "unit/linalg/rectangle.hpp"

namespace granary::testing {

/// A matrix in the forms that algorithms accept: column-major in place with padding, or in separate row-major tiles.
template <class T>
class PlacedMatrix {
 public:
  PlacedMatrix(Rectangle<T> const& values, std::uint64_t tile, detail::TileLayout layout)
      : m_tile(tile), m_in_place(values.rows, values.cols, padding) {
    std::fill(m_in_place.elements.begin(), m_in_place.elements.end(), T(-7));
    for (std::uint64_t j = 0; j < values.cols; ++j) {
      for (std::uint64_t i = 0; i < values.rows; ++i) m_in_place(i, j) = values(i, j);
    }
    if (layout == detail::TileLayout::RowMajor) m_tiles.emplace(m_in_place, tile);
  }
  [[nodiscard]] detail::TiledMatrix<T> bind(ImmediateSubmitter& submitter, std::string const& name,
                                            MatrixPart part = MatrixPart::All) {
    return m_tiles ? m_tiles->bind(submitter, part, name) : bind_rectangle(submitter, m_in_place, m_tile, part, name);
  }
  [[nodiscard]] Rectangle<T> values() const {
    return m_tiles ? m_tiles->values() : rectangle_of<T>(m_in_place.rows, m_in_place.cols, m_in_place);
  }
  [[nodiscard]] bool padding_is_untouched() const { return testing::padding_is_untouched(m_in_place); }

 private:
  static constexpr std::uint64_t padding = 3;
  std::uint64_t m_tile;
  Rectangle<T> m_in_place;
  std::optional<RowMajorTiles<T>> m_tiles;
};

inline constexpr detail::TileLayout every_layout[] = {detail::TileLayout::ColumnMajor, detail::TileLayout::RowMajor};
inline constexpr Op every_op[] = {Op::NoTrans, Op::Trans, Op::ConjTrans};
inline constexpr Uplo every_uplo[] = {Uplo::Lower, Uplo::Upper};
inline constexpr Side every_side[] = {Side::Left, Side::Right};
inline constexpr Diag every_diag[] = {Diag::NonUnit, Diag::Unit};

template <class T>
inline constexpr detail::RealOf<T> not_a_number = std::numeric_limits<detail::RealOf<T>>::quiet_NaN();

/// The triangle, and NaN where reading is forbidden: in the other one, and on the diagonal if it is Unit.
template <class T>
[[nodiscard]] Rectangle<T> guarded_triangle(Uplo uplo, Diag diag, Rectangle<T> const& a) {
  return rectangle_of<T>(a.rows, a.cols, [&](std::uint64_t i, std::uint64_t j) {
    bool const readable = i == j ? diag == Diag::NonUnit : in_triangle(uplo, i, j);
    return readable ? a(i, j) : T(not_a_number<T>);
  });
}

/// Flops of all submitted tasks.
[[nodiscard]] inline double total_flops(ImmediateSubmitter const& submitter) {
  double sum = 0;
  for (auto const& task : submitter.tasks) sum += task.flops;
  return sum;
}
[[nodiscard]] inline std::uint64_t count_tasks(ImmediateSubmitter const& submitter, std::string const& codelet) {
  return static_cast<std::uint64_t>(
      std::ranges::count(submitter.tasks, codelet, &ImmediateSubmitter::Recorded::codelet));
}

}  // namespace granary::testing
