// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/files/copy_matrix.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/files/scalar_dispatch.hpp>
#include <granary/detail/linalg/files/tile_memory.hpp>

namespace granary::detail {
namespace {

// Narrows from the first element on and widens from the last one on, so that unread elements are not overwritten.
template <class From, class To>
void convert_in_place(std::byte* values, std::uint64_t count) {
  auto const convert = [values](std::uint64_t k) {
    From from;
    std::memcpy(&from, values + k * sizeof(From), sizeof(From));
    To const to = convert_scalar<To>(from);
    std::memcpy(values + k * sizeof(To), &to, sizeof(To));
  };
  if constexpr (sizeof(To) <= sizeof(From)) {
    for (std::uint64_t k = 0; k < count; ++k) convert(k);
  } else {
    for (auto k = count; k-- > 0;) convert(k);
  }
}

void convert_in_place(std::byte* values, std::uint64_t count, ScalarType from, ScalarType to) {
  if (from == to) return;
  with_scalar(from, [&](auto from_zero) {
    with_scalar(to, [&](auto to_zero) { convert_in_place<decltype(from_zero), decltype(to_zero)>(values, count); });
  });
}

// More tiles do not make it faster.
constexpr std::uint64_t most_tiles_under_way = 8;

// All slots, row by row; in blocks if the source reads these faster.
std::vector<std::uint64_t> order_of(MatrixSource const& source) {
  auto const& grid = source.tiling();
  auto const [rows, cols] = source.read_together();
  std::vector<std::uint64_t> slots;
  slots.reserve(grid.tile_rows() * grid.tile_cols());
  for (std::uint64_t top = 0; top < grid.tile_rows(); top += rows) {
    for (std::uint64_t left = 0; left < grid.tile_cols(); left += cols) {
      for (auto i = top; i < std::min(top + rows, grid.tile_rows()); ++i) {
        for (auto j = left; j < std::min(left + cols, grid.tile_cols()); ++j) slots.push_back(grid.slot(i, j));
      }
    }
  }
  return slots;
}

// Bytes of the largest tile.
Bytes bytes_of_tile(TileGrid const& grid, ScalarType from, ScalarType to) {
  return round_up(grid.largest_tile() * std::max(size_of(from), size_of(to)), io_alignment);
}

void check(MatrixSource const& source, MatrixOutput const& output) {
  if (source.tiling() != output.tiling())
    throw InvalidArgument("a matrix can only be copied tile by tile into one of the same extents and tile size");
  if (is_complex_type(source.scalar_type()) && !is_complex_type(output.scalar_type()))
    throw InvalidArgument("a complex matrix cannot be written as a real one");
}

}  // namespace

void check_copy_memory(TileGrid const& grid, ScalarType from, ScalarType to, Bytes memory) {
  auto const needed = bytes_of_tile(grid, from, to);
  if (needed <= memory) return;
  throw InvalidArgument("a tile of " + std::to_string(grid.rows_in(0)) + " x " + std::to_string(grid.cols_in(0)) +
                        " elements needs " + format_bytes(needed) + ", more than the memory limit of " +
                        format_bytes(memory));
}

void copy_matrix(MatrixSource& source, MatrixOutput& output, Bytes memory, Between const& between) {
  check(source, output);
  check_copy_memory(source.tiling(), source.scalar_type(), output.scalar_type(), memory);
  auto const bytes = bytes_of_tile(source.tiling(), source.scalar_type(), output.scalar_type());
  auto const slots = order_of(source);
  auto const count = std::min<std::uint64_t>({memory / bytes, most_tiles_under_way, slots.size()});
  std::mutex mutex;
  std::vector<TileMemory> idle;
  for (std::uint64_t k = 0; k < count; ++k) idle.push_back(allocate_tiles(bytes));

  PendingIo pending;
  for (auto const slot : slots) {
    pending.require(count - 1);
    if (between) between();
    std::shared_ptr<TileMemory> tile;  // a std::function must be copyable
    {
      std::lock_guard lock(mutex);
      tile = std::make_shared<TileMemory>(std::move(idle.back()));
      idle.pop_back();
    }
    auto const finish = [&, tile](std::exception_ptr error) {
      {
        std::lock_guard lock(mutex);
        idle.push_back(std::move(*tile));
      }
      pending.end(std::move(error));
    };
    pending.begin();
    source.read_async(slot, tile->get(), source.tile_bytes(slot), [&, slot, tile, finish](std::exception_ptr error) {
      if (error) return finish(std::move(error));
      auto const elements = source.tile_bytes(slot) / size_of(source.scalar_type());
      convert_in_place(tile->get(), elements, source.scalar_type(), output.scalar_type());
      output.write_async(slot, tile->get(), output.tile_bytes(slot), finish);
    });
  }
  pending.require(0);
}

}  // namespace granary::detail
