// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/backends/kokkos_compat.hpp>
#include <granary/detail/core/backends/kokkos_core.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/access.hpp>
#include <granary/detail/core/model/data.hpp>
#include <granary/detail/core/model/parameters.hpp>
#include <granary/detail/runtime/api/data.hpp>
#include <granary/detail/runtime/api/host_task.hpp>
#include <granary/detail/runtime/api/reduce.hpp>
#include <granary/detail/runtime/session/division.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace granary {

namespace detail {

template <class View>
inline constexpr std::size_t rank_of = static_cast<std::size_t>(View::rank);

using AllElements = std::remove_cv_t<decltype(Kokkos::ALL)>;
/// A range of a dimension with `extent` elements of the View called `name`. Throws InvalidArgument if it is empty or
/// ends beyond.
[[nodiscard]] GRANARY_EXPORT PartRange checked_range(std::string const& name, std::size_t dimension, std::size_t extent,
                                                     std::int64_t first, std::int64_t last);
/// `[0:4, 2:9]`.
[[nodiscard]] GRANARY_EXPORT std::string describe(std::span<PartRange const> ranges);
/// A tile size for that dimension. Throws InvalidArgument if it is less than 1.
[[nodiscard]] GRANARY_EXPORT std::size_t checked_tile(std::string const& name, std::size_t dimension,
                                                      std::int64_t tile);
/// Throw InvalidArgument: the datum is in no fixed place.
[[noreturn]] GRANARY_EXPORT void refuse_part_of_temporary();
[[noreturn]] GRANARY_EXPORT void refuse_parts_of_part();

template <std::integral T>
constexpr std::int64_t saturated(T number) {
  if constexpr (std::unsigned_integral<T>) return static_cast<std::int64_t>(std::min<std::uint64_t>(number, INT64_MAX));
  return static_cast<std::int64_t>(number);
}

template <class Range>
PartRange range_of(std::string const& name, std::size_t dimension, std::size_t extent, Range const& range) {
  if constexpr (std::is_same_v<Range, AllElements>) {
    return {0, extent};
  } else {
    return checked_range(name, dimension, extent, saturated(range.first), saturated(range.second));
  }
}

template <class Tile>
std::size_t tile_of(std::string const& name, std::size_t dimension, std::size_t extent, Tile tile) {
  if constexpr (std::is_same_v<Tile, AllElements>) {
    return extent;
  } else {
    static_assert(std::integral<Tile>, "a tile size is an integer or Kokkos::ALL");
    return checked_tile(name, dimension, saturated(tile));
  }
}

/// A part of a View: the same elements, with the strides of the whole.
template <class View>
using PartView = Kokkos::View<typename detail::PointerTo<typename View::value_type, detail::rank_of<View>>::type,
                              Kokkos::LayoutStride, typename View::device_type>;

template <class View>
auto subview_of(View const& whole, std::array<PartRange, rank_of<View>> const& ranges) {
  if constexpr (rank_of<View> == 0) {
    return whole;
  } else {
    return [&]<std::size_t... D>(std::index_sequence<D...>) { return Kokkos::subview(whole, ranges[D]...); }
    (std::make_index_sequence<rank_of<View>>{});
  }
}

template <class View>
PartView<View> part_of(View const& whole, std::array<PartRange, rank_of<View>> const& ranges) {
  return PartView<View>(subview_of(whole, ranges));
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
  // Of a part of a matrix; none in other ranks.
  [[nodiscard]] MatrixPosition position(std::size_t part) const {
    if constexpr (Rank == 2) {
      return {static_cast<std::int32_t>(part / parts(1)), static_cast<std::int32_t>(part % parts(1))};
    } else {
      return {};
    }
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
  [[nodiscard]] Data<detail::PartView<View>> const& operator()(Indices... indices) const {
    static_assert(sizeof...(Indices) == rank, "one index per dimension");
    std::size_t number = 0;
    std::size_t dimension = 0;
    ((number = number * m_extents[dimension++] + static_cast<std::size_t>(indices)), ...);
    return m_parts[number];
  }
  [[nodiscard]] auto begin() const { return m_parts.begin(); }
  [[nodiscard]] auto end() const { return m_parts.end(); }

 private:
  friend struct detail::Handles;
  explicit Parts(detail::Tiling<rank> const& tiling) {
    for (std::size_t d = 0; d < rank; ++d) m_extents[d] = tiling.parts(d);
  }

  std::array<std::size_t, rank> m_extents{};
  std::vector<Data<detail::PartView<View>>> m_parts;
};

// Temporaries that are cut into parts. A temporary has no fixed place, so its parts are temporaries of their own, and
// tasks copy between them and the whole.
namespace detail {

template <class View>
inline constexpr bool may_be_temporary =
    tasks_may_write<View>&& std::is_trivially_copyable_v<typename View::value_type> &&
    (std::is_same_v<typename View::array_layout, Kokkos::LayoutRight> ||
     std::is_same_v<typename View::array_layout, Kokkos::LayoutLeft>);

// Two Views of the same extents. Elements are counted along the dimension that changes fastest in memory: the last one,
// or the first.
template <class To, class From, bool LastIsFastest>
struct GRANARY_EXPORT CopyElements {
  static constexpr auto rank = static_cast<std::size_t>(To::rank);
  To to;
  From from;

  struct Offsets {
    std::size_t to = 0;
    std::size_t from = 0;
  };
  [[nodiscard]] KOKKOS_INLINE_FUNCTION static constexpr std::size_t dimension(std::size_t n) {
    return LastIsFastest ? rank - 1 - n : n;
  }
  // Of the element with that number, if the fastest dimensions before `first` have one element only.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Offsets offsets(std::size_t number, std::size_t first) const {
    Offsets offsets;
    for (std::size_t n = first; n < rank; ++n) {
      auto const d = dimension(n);
      auto const extent = static_cast<std::size_t>(to.extent(d));
      offsets.to += number % extent * static_cast<std::size_t>(to.stride(d));
      offsets.from += number % extent * static_cast<std::size_t>(from.stride(d));
      number /= extent;
    }
    return offsets;
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::size_t number) const {
    auto const at = offsets(number, 0);
    // Elements that cannot be assigned are copied as bytes.
    if constexpr (std::is_copy_assignable_v<typename To::value_type>) {
      to.data()[at.to] = from.data()[at.from];
    } else {
      memcpy(static_cast<void*>(to.data() + at.to), from.data() + at.from, sizeof(typename To::value_type));
    }
  }
  // On the host: one line along the fastest dimension.
  void copy_line(std::size_t number) const {
    if constexpr (rank == 0) {
      (*this)(0);
    } else {
      auto const at = offsets(number, 1);
      constexpr auto d = dimension(0);
      auto const count = static_cast<std::size_t>(to.extent(d));
      auto const to_next = static_cast<std::size_t>(to.stride(d)), from_next = static_cast<std::size_t>(from.stride(d));
      auto* const begin = to.data() + at.to;
      auto const* const source = from.data() + at.from;
      constexpr auto size = sizeof(typename To::value_type);
      if (to_next == 1 && from_next == 1) {
        memcpy(static_cast<void*>(begin), source, count * size);
      } else {
        for (std::size_t i = 0; i < count; ++i)
          memcpy(static_cast<void*>(begin + i * to_next), source + i * from_next, size);
      }
    }
  }
};

template <bool LastIsFastest, class Exec, class To, class From>
void copy_elements(Exec const& exec, char const* name, To const& to, From const& from) {
  CopyElements<To, From, LastIsFastest> const copy{to, from};
  if constexpr (std::is_same_v<Exec, HostExecutionSpace>) {
    std::size_t lines = 1;
    for (std::size_t n = 1; n < copy.rank; ++n) lines *= to.extent(copy.dimension(n));
    for (std::size_t line = 0; line < lines; ++line) copy.copy_line(line);
  } else {
    Kokkos::parallel_for(name, Kokkos::RangePolicy<Exec>(exec, 0, to.size()), copy);
  }
}

// Copies a part to the whole, or from it.
template <std::size_t Rank, bool LastIsFastest>
struct GRANARY_EXPORT Gather : OnAnyWorker {
  std::array<PartRange, Rank> ranges;
  template <class Exec, class Part, class Whole>
  void operator()(Exec const& exec, Part const& part, Whole const& whole) const {
    copy_elements<LastIsFastest>(exec, "gather", subview_of(whole, ranges), part);
  }
};
template <std::size_t Rank, bool LastIsFastest>
struct GRANARY_EXPORT Scatter : OnAnyWorker {
  std::array<PartRange, Rank> ranges;
  template <class Exec, class Whole, class Part>
  void operator()(Exec const& exec, Whole const& whole, Part const& part) const {
    copy_elements<LastIsFastest>(exec, "scatter", part, subview_of(whole, ranges));
  }
};

template <class View>
class GRANARY_EXPORT DivisionOf final : public Division {
 public:
  static constexpr auto rank = rank_of<View>;
  static constexpr bool last_is_fastest = std::is_same_v<typename View::array_layout, Kokkos::LayoutRight>;

  DivisionOf(DataId whole, std::shared_ptr<View const> shape, Tiling<rank> const& tiling)
      : Division(whole, {tiling.tile.begin(), tiling.tile.end()}), m_shape(std::move(shape)), m_tiling(tiling) {}

  [[nodiscard]] std::shared_ptr<PartView<View> const> const& shape(std::size_t part) const { return m_shapes[part]; }

  [[nodiscard]] std::vector<PartRange> ranges(std::size_t part) const override {
    auto const of = m_tiling.ranges(part);
    return {of.begin(), of.end()};
  }
  void add_parts(Session& session, std::string const& name) override;
  void gather(Session& session, std::size_t part) const override {
    if (part == 0) {
      copy<Gather<rank, last_is_fastest>, PartAccess<AccessMode::Read>, WholeAccess<AccessMode::Write>>(session,
                                                                                                        "gather", part);
    } else {
      copy<Gather<rank, last_is_fastest>, PartAccess<AccessMode::Read>, WholeAccess<AccessMode::ReadWrite>>(
          session, "gather", part);
    }
  }
  void scatter(Session& session, std::size_t part) const override {
    copy<Scatter<rank, last_is_fastest>, WholeAccess<AccessMode::Read>, PartAccess<AccessMode::Write>>(session,
                                                                                                       "scatter", part);
  }

 private:
  template <AccessMode Mode>
  using PartAccess = TypedAccess<PartView<View>, Mode>;
  template <AccessMode Mode>
  using WholeAccess = TypedAccess<View, Mode>;

  template <class Body, class From, class To>
  void copy(Session& session, char const* name, std::size_t part) const;
  template <class A>
  [[nodiscard]] std::pair<Access, decltype(A::shape)> access(std::size_t part) const {
    if constexpr (std::is_same_v<typename A::ViewType, View>) {
      return {{whole(), A::mode}, m_shape.get()};
    } else {
      return {{data()[part], A::mode}, m_shapes[part].get()};
    }
  }

  std::shared_ptr<View const> m_shape;
  Tiling<rank> m_tiling;
  std::vector<std::shared_ptr<PartView<View> const>> m_shapes;
};

// The packed shape of a part, without memory.
template <class View>
std::shared_ptr<PartView<View> const> part_shape(View const& whole,
                                                 std::array<PartRange, rank_of<View>> const& ranges) {
  // The strides have the whole's order.
  auto shape = shape_of(whole);
  for (std::size_t d = 0; d < shape.rank; ++d) shape.extents[d] = ranges[d].second - ranges[d].first;
  auto const strides = packed_strides(shape);
  Kokkos::LayoutStride layout;
  for (std::size_t d = 0; d < shape.rank; ++d) {
    layout.dimension[d] = shape.extents[d];
    layout.stride[d] = strides[d];
  }
  return std::make_shared<PartView<View> const>(static_cast<typename View::pointer_type>(nullptr), layout);
}

}  // namespace detail
}  // namespace granary
