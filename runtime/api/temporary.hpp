// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/runtime/api/data.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace granary {
namespace detail {

// The number of stars of a View's data type: the dimensions whose extents it leaves open.
template <class T>
inline constexpr std::size_t stars = 0;
template <class T>
inline constexpr std::size_t stars<T*> = 1 + stars<T>;
template <class T, std::size_t N>
inline constexpr std::size_t stars<T[N]> = stars<T>;

// The View that temporary<T> describes with Given extents: of type T, or a LayoutRight View of elements of type T.
template <class T, std::size_t Given>
struct GRANARY_EXPORT TemporaryForm {
  using Element = T;
  using DataType = typename PointerTo<T, std::min(Given, most_dimensions)>::type;
  using Layout = Kokkos::LayoutRight;
};
template <class T, std::size_t Given>
requires Kokkos::is_view<T>::value struct GRANARY_EXPORT TemporaryForm<T, Given> {
  using Element = typename T::value_type;
  using DataType = typename T::data_type;
  using Layout = typename T::array_layout;
};

template <class T, std::size_t Given>
using TemporaryView = Kokkos::View<typename TemporaryForm<T, Given>::DataType, typename TemporaryForm<T, Given>::Layout,
                                   Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

// The compiler's errors for a temporary that cannot be: one each, so what follows compiles with any arguments.
template <class T, class... Extents>
constexpr void check_temporary() {
  using Form = TemporaryForm<T, sizeof...(Extents)>;
  using Layout = typename Form::Layout;
  static_assert(!std::is_pointer_v<T>,
                "name the type of the elements, temporary<double>(n, m), or of a View, "
                "temporary<Kokkos::View<double**>>(n, m)");
  static_assert((std::integral<Extents> && ...),
                "the extents of a temporary are integers: convert others, static_cast<std::size_t>(n)");
  static_assert(sizeof...(Extents) <= most_dimensions, "a temporary has at most 8 dimensions");
  static_assert(!Kokkos::is_view<T>::value || sizeof...(Extents) == stars<typename Form::DataType>,
                "pass one extent for each * of the View's data type: (n) for Kokkos::View<double*[3]>");
  static_assert(std::is_same_v<Layout, Kokkos::LayoutRight> || std::is_same_v<Layout, Kokkos::LayoutLeft>,
                "a temporary is contiguous: use a View in LayoutRight or LayoutLeft");
  static_assert(!std::is_const_v<typename Form::Element>,
                "tasks write a temporary: use a type whose elements are not const");
  static_assert(std::is_trivially_copyable_v<typename Form::Element>,
                "granary moves the elements of a temporary byte by byte: use a trivially copyable type");
}

template <class T>
concept NotText = !std::convertible_to<T, std::string_view>;

// A number of elements, of any integer type.
struct GRANARY_EXPORT Extent {
  std::uint64_t value = 0;  // modulo 2^64
  bool negative = false;

  Extent() = default;
  template <class T>
  Extent(T extent) {  // NOLINT(google-explicit-constructor)
    if constexpr (std::integral<T>) value = static_cast<std::uint64_t>(extent);
    if constexpr (std::signed_integral<T>) negative = extent < 0;
  }
};

// Throws InvalidArgument for a negative extent, and for more than `largest_size` bytes.
[[nodiscard]] GRANARY_EXPORT Bytes temporary_bytes(std::span<Extent const> extents, Bytes element);

// The extents of a View: those that its data type leaves open are given.
template <class View, class... Extents>
auto view_extents(Extents... given) {
  constexpr auto rank = static_cast<std::size_t>(View::rank);
  constexpr std::size_t open = std::min(rank, sizeof...(Extents));
  std::array<Extent, sizeof...(Extents)> const first{Extent(given)...};
  std::array<Extent, rank> extents{};
  std::copy_n(first.begin(), open, extents.begin());
  [&]<std::size_t... D>(std::index_sequence<D...>) {
    ((extents[open + D] = std::extent_v<typename View::data_type, D>), ...);
  }
  (std::make_index_sequence<rank - open>{});
  return extents;
}

// A View of these extents without memory: the shape of a temporary.
template <class View>
std::shared_ptr<View const> shape_only(std::span<Extent const> extents) {
  typename View::array_layout layout;
  for (std::size_t d = 0; d < extents.size(); ++d) layout.dimension[d] = extents[d].value;
  return std::make_shared<View const>(static_cast<typename View::pointer_type>(nullptr), layout);
}

/// Room of a task's own; `scratch` makes it.
template <class T, std::size_t Rank>
struct GRANARY_EXPORT ScratchAccess {
  std::array<std::int64_t, Rank> extents;
};

}  // namespace detail

/// Room of the task's own on the node where it runs, under that memory's limit and only while the task has its places:
/// the body gets a View of an array like a temporary, `scratch<double>(n, m)` or `scratch<Kokkos::View<float*[3]>>(n)`,
/// with undefined contents. Costs a microsecond more at the submission. Submission throws as Runtime::temporary.
template <class T, std::integral... Extents>
[[nodiscard]] detail::ScratchAccess<T, sizeof...(Extents)> scratch(Extents... extents) {
  return {{static_cast<std::int64_t>(extents)...}};
}

namespace detail {

template <class A>
inline constexpr bool is_scratch = false;
template <class T, std::size_t Rank>
inline constexpr bool is_scratch<ScratchAccess<T, Rank>> = true;

// A temporary that is released when the task has been submitted.
template <class View>
struct GRANARY_EXPORT MadeScratch : TypedAccess<View, AccessMode::Write> {
  static constexpr bool is_scratch = true;
  Data<View> kept;
  explicit MadeScratch(Data<View> const& made) : TypedAccess<View, AccessMode::Write>(made), kept(made) {}
};

}  // namespace detail

/// The handle that `Runtime::temporary<View>` returns, for members and containers:
/// `std::vector<Temporary<Kokkos::View<double**>>>`. A handle on a host View of the same data type and layout converts
/// to it: `Temporary<Matrix> x = fits ? runtime.data(view) : runtime.temporary<Matrix>("x", n, n)`.
///
/// ```cpp
/// struct Fill {
///   static constexpr bool launches_kokkos_kernels = false;
///   template <class Exec, class Block, class Row>
///   void operator()(Exec const&, Block block, Row row) const {  // row: the task's own, undefined before
///     for (std::size_t j = 0; j < row.extent(0); ++j) row(j) = std::sqrt(static_cast<double>(j));
///     for (std::size_t i = 0; i < block.extent(0); ++i) {
///       for (std::size_t j = 0; j < row.extent(0); ++j) block(i, j) = row(j);
///     }
///   }
/// };
/// using Block = Kokkos::View<double**>;
/// granary::Runtime runtime;
/// std::vector<granary::Temporary<Block>> blocks;  // in memory while they are in use; on disk if it is full
/// for (int b = 0; b < 4; ++b) blocks.push_back(runtime.temporary<Block>("block", 1000, 10));
/// for (auto const& block : blocks) runtime.submit("fill", Fill{}, write(block), granary::scratch<double>(10));
/// runtime.wait();
/// ```
template <class View>
using Temporary = Data<detail::TemporaryView<View, 0>>;

}  // namespace granary
