// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/export.hpp>
#include <granary/runtime/data.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace granary {

namespace detail {

template <class View>
inline constexpr std::size_t rank_of = static_cast<std::size_t>(View::rank);

using AllElements = std::remove_cv_t<decltype(Kokkos::ALL)>;
/// The elements [first, second) of a dimension.
using PartRange = std::pair<std::size_t, std::size_t>;

/// A range of a dimension with `extent` elements of the View called `name`. Throws InvalidArgument if it is empty or
/// ends beyond.
[[nodiscard]] GRANARY_EXPORT PartRange checked_range(std::string const& name, std::size_t dimension, std::size_t extent,
                                                     std::int64_t first, std::int64_t last);
/// A tile size for that dimension. Throws InvalidArgument if it is less than 1.
[[nodiscard]] GRANARY_EXPORT std::size_t checked_tile(std::string const& name, std::size_t dimension,
                                                      std::int64_t tile);
/// Throws InvalidArgument: the datum has no bytes of its own.
[[noreturn]] GRANARY_EXPORT void refuse_parts_of_temporary();

template <class Range>
PartRange range_of(std::string const& name, std::size_t dimension, std::size_t extent, Range const& range) {
  if constexpr (std::is_same_v<Range, AllElements>) {
    return {0, extent};
  } else {
    return checked_range(name, dimension, extent, static_cast<std::int64_t>(range.first),
                         static_cast<std::int64_t>(range.second));
  }
}

template <class Tile>
std::size_t tile_of(std::string const& name, std::size_t dimension, std::size_t extent, Tile tile) {
  if constexpr (std::is_same_v<Tile, AllElements>) {
    return extent;
  } else {
    static_assert(std::integral<Tile>, "a tile size is an integer or Kokkos::ALL");
    return checked_tile(name, dimension, static_cast<std::int64_t>(tile));
  }
}

}  // namespace detail

/// A part of a View: the same elements, with the strides of the whole.
template <class View>
using PartView = Kokkos::View<typename detail::PointerTo<typename View::value_type, detail::rank_of<View>>::type,
                              Kokkos::LayoutStride, typename View::device_type>;

namespace detail {

template <class View>
PartView<View> part_of(View const& whole, std::array<PartRange, rank_of<View>> const& ranges) {
  return [&]<std::size_t... D>(std::index_sequence<D...>) {
    return PartView<View>(Kokkos::subview(whole, ranges[D]...));
  }
  (std::make_index_sequence<rank_of<View>>{});
}

// The tiles of a View with these tile sizes, one range per dimension; the last index changes fastest.
template <std::size_t Rank>
struct GRANARY_EXPORT Tiling {
  std::array<std::size_t, Rank> extents{};
  std::array<std::size_t, Rank> tile{};

  [[nodiscard]] std::size_t parts(std::size_t d) const { return (extents[d] - 1) / tile[d] + 1; }
  [[nodiscard]] std::size_t size() const {
    std::size_t count = 1;
    for (std::size_t d = 0; d < Rank; ++d) count *= parts(d);
    return count;
  }
  [[nodiscard]] std::array<PartRange, Rank> ranges(std::size_t part) const {
    std::array<PartRange, Rank> of;
    for (std::size_t d = Rank; d-- > 0; part /= parts(d)) {
      auto const first = part % parts(d) * tile[d];
      of[d] = {first, std::min(extents[d], first + tile[d])};
    }
    return of;
  }
  // "(1, 0)"
  [[nodiscard]] std::string indices(std::size_t part) const {
    std::string text;
    for (std::size_t d = Rank; d-- > 0; part /= parts(d))
      text = std::to_string(part % parts(d)) + (text.empty() ? "" : ", ") + text;
    return "(" + text + ")";
  }
};

}  // namespace detail

/// The parts of a View that was cut into tiles, see Runtime::partition. Iteration visits them with the last index
/// fastest. The parts are data like others; they exist as long as a handle or this object does.
///
/// ```cpp
/// struct Fill {
///   static constexpr bool launches_kokkos_kernels = false;
///   double value;
///   template <class Exec, class X>
///   void operator()(Exec const&, X x) const {
///     for (std::size_t i = 0; i < x.extent(0); ++i) {
///       for (std::size_t j = 0; j < x.extent(1); ++j) x(i, j) = value;
///     }
///   }
/// };
/// Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> grid("grid", 1000, 1000);
/// granary::Runtime runtime;
/// auto const parts = runtime.partition(runtime.data(grid), 256, Kokkos::ALL);  // blocks of rows, the last of 232
/// assert(parts.extent(0) == 4 && parts.extent(1) == 1);
/// for (auto const& part : parts) runtime.submit("fill", Fill{1.0}, write(part));
/// runtime.wait();
/// assert(grid(999, 999) == 1.0);
/// ```
template <class View>
class GRANARY_EXPORT Parts {
 public:
  static constexpr std::size_t rank = detail::rank_of<View>;

  /// The number of parts in a dimension.
  [[nodiscard]] std::size_t extent(std::size_t dimension) const { return m_extents[dimension]; }
  [[nodiscard]] std::size_t size() const { return m_parts.size(); }
  /// The part with these indices, one per dimension, each less than `extent`.
  template <std::integral... Indices>
  [[nodiscard]] Data<PartView<View>> const& operator()(Indices... indices) const {
    static_assert(sizeof...(Indices) == rank, "one index per dimension");
    std::size_t number = 0;
    std::size_t dimension = 0;
    ((number = number * m_extents[dimension++] + static_cast<std::size_t>(indices)), ...);
    return m_parts[number];
  }
  [[nodiscard]] auto begin() const { return m_parts.begin(); }
  [[nodiscard]] auto end() const { return m_parts.end(); }

 private:
  friend class Runtime;
  explicit Parts(detail::Tiling<rank> const& tiling) {
    for (std::size_t d = 0; d < rank; ++d) m_extents[d] = tiling.parts(d);
  }

  std::array<std::size_t, rank> m_extents{};
  std::vector<Data<PartView<View>>> m_parts;
};

}  // namespace granary
