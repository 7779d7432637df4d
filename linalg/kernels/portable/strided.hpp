// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/backends/kokkos_core.hpp>
#include <granary/detail/linalg/data/tile_grid.hpp>
#include <granary/detail/linalg/kernels/kernel_choice.hpp>
#include <granary/detail/linalg/kernels/tile_kernels.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

/// Common parts of the portable kernels. These run on any execution space, on memory that it can access, and do not
/// wait or allocate. They are functors, not lambdas: nvcc refuses lambdas in many places.
namespace granary::kernels::portable {

/// A matrix in memory with a stride, in entries, between rows and one between columns: any layout, also transposed.
template <class T>
struct Strided {
  T* data = nullptr;
  int rows = 0, cols = 0;
  std::int64_t row_step = 1, col_step = 1;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION T& operator()(int i, int j) const { return data[i * row_step + j * col_step]; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::size_t extent(int dimension) const {
    return static_cast<std::size_t>(dimension == 0 ? rows : cols);
  }
  [[nodiscard]] Strided transposed() const { return {data, cols, rows, col_step, row_step}; }
  operator Strided<T const>() const requires(!std::is_const_v<T>) { return {data, rows, cols, row_step, col_step}; }
};

template <class T>
[[nodiscard]] Strided<T> strided(detail::TileView<T> const& tile) {
  bool const by_rows = tile.layout == detail::TileLayout::RowMajor;
  return {tile.data, tile.rows, tile.cols, by_rows ? tile.ld : 1, by_rows ? 1 : tile.ld};
}
template <class T>
[[nodiscard]] Strided<T> strided(Block<T> const& block) {
  return {block.data, block.rows, block.cols, 1, block.ld};
}

template <class T>
[[nodiscard]] std::int64_t count_of(Strided<T> const& a) {
  return static_cast<std::int64_t>(a.rows) * a.cols;
}

/// Entries of a matrix, numbered in memory order as far as it is known: neighbours have consecutive numbers.
struct Entries {
  int minors = 0;
  bool by_rows = false;  // consecutive numbers are in one row

  template <class T>
  explicit Entries(Strided<T> const& a)
      : minors(a.col_step < a.row_step ? a.cols : a.rows), by_rows(a.col_step < a.row_step) {}

  [[nodiscard]] KOKKOS_INLINE_FUNCTION int row(std::int64_t number) const {
    return static_cast<int>(by_rows ? number / minors : number % minors);
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION int col(std::int64_t number) const {
    return static_cast<int>(by_rows ? number % minors : number / minors);
  }
};

/// True if entry (i, j) belongs to a part.
[[nodiscard]] KOKKOS_INLINE_FUNCTION bool in_part(MatrixPart part, int i, int j) {
  return part == MatrixPart::All || (part == MatrixPart::Lower ? i >= j : i <= j);
}

// Kokkos passes larger functors through one buffer per process, and waits until that is free.
inline constexpr std::size_t largest_functor = 480;

/// Enqueues function(0), ..., function(count - 1).
template <class Space, class Function>
void for_each(char const* name, Space const& space, std::int64_t count, Function const& function) {
  static_assert(sizeof(Function) <= largest_functor);
  if (count <= 0) return;
  Kokkos::parallel_for(name, Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(space, 0, count), function);
}

template <class Space>
using TeamMember = typename Kokkos::TeamPolicy<Space>::member_type;

/// Enqueues function(team) for `teams` teams with `scratch` bytes of scratch memory each.
template <class Space, class Function>
void for_each_team(char const* name, Space const& space, int count, std::size_t scratch, Function const& function) {
  static_assert(sizeof(Function) <= largest_functor);
  if (count <= 0) return;
  auto policy = Kokkos::TeamPolicy<Space>(space, count, Kokkos::AUTO);
  if (scratch > 0) policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(scratch)));
  Kokkos::parallel_for(name, policy, function);
}

}  // namespace granary::kernels::portable
